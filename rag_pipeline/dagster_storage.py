"""Dagster's SQLite storage with its connections kept open: a quarter of the time for each event.

Dagster opens and closes a connection, with an engine of its own, for every event; closing the last
one copies the write-ahead log back each time. A sync writes five events a document. Files and
tables are Dagster's own: either storage reads what the other wrote. Imports nothing of the
pipeline, since the web server loads it too.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import sqlalchemy as db
from dagster import EventLogEntry
from dagster._core.events import ASSET_CHECK_EVENTS, ASSET_EVENTS
from dagster._core.storage.event_log.sqlite.sqlite_event_log import (
    INDEX_SHARD_NAME,
    SqliteEventLogStorage,
)
from dagster._core.storage.sql import create_engine
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from dagster._serdes import ConfigurableClassData
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.pool import NullPool, StaticPool

OPEN_SHARDS = 4
"""Event files of runs that are kept open, besides the index of all runs."""
BATCH_SIZE = "1000"


class SqliteStorage(DagsterSqliteStorage):
    """Runs, events and schedules in SQLite files below `base_dir`."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        super().__init__(base_dir, inst_data)
        self._event_log_storage: PooledEventLog = PooledEventLog(
            os.path.join(base_dir, "history", "runs", "")  # noqa: PTH118 - as Dagster has it
        )
        # Dagster writes what a run plans, a row for each document and stage, in batches if told so.
        os.environ.setdefault("DAGSTER_EVENT_BATCH_SIZE", BATCH_SIZE)

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> SqliteStorage:
        """Make the storage that an instance's configuration names."""
        return cls.from_local(inst_data=inst_data, **config_value)


class PooledEventLog(SqliteEventLogStorage):
    """Dagster's event log in SQLite, one open connection for each file in use.

    Safe without more locks: `_connect` holds one for as long as a connection is lent.
    """

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._engines: dict[str, Engine] = {}
        self._tables: set[str] = set()
        super().__init__(base_dir, inst_data)

    def store_event(self, event: EventLogEntry) -> None:
        """Store one event, and tell those who watch the run's file."""
        super().store_event(event)
        self._touch(event.run_id)

    def store_event_batch(self, events: Sequence[EventLogEntry]) -> None:
        """Store the events of one run: one transaction in its file, one in the index of all."""
        batch = [event for event in events if event.dagster_event_type not in ASSET_CHECK_EVENTS]
        if batch:
            statements = [self.prepare_insert_event(event) for event in batch]
            with self.run_connection(batch[0].run_id) as connection:
                for statement in statements:
                    connection.execute(statement)
            self._mirror(
                [
                    (event, statement)
                    for event, statement in zip(batch, statements, strict=True)
                    if event.dagster_event_type in ASSET_EVENTS
                ]
            )
            self._touch(batch[0].run_id)
        for event in events:
            if event.dagster_event_type in ASSET_CHECK_EVENTS:
                self.store_event(event)

    def wipe(self) -> None:
        """Delete everything."""
        self._close()
        super().wipe()

    def dispose(self) -> None:
        """Close every file."""
        self._close()
        super().dispose()

    def _mirror(self, events: Sequence[tuple[EventLogEntry, Any]]) -> None:
        """Write events of assets into the index of all runs; an asset's entry is its last."""
        if not events:
            return
        last: dict[str, tuple[EventLogEntry, int]] = {}
        with self.index_connection() as connection:
            stored: list[EventLogEntry] = []
            ids: list[int] = []
            for event, statement in events:
                stored.append(event)
                key_of_row = connection.execute(statement).inserted_primary_key
                assert key_of_row is not None  # an INSERT of one row has one
                ids.append(key_of_row[0])
                key = event.get_dagster_event().asset_key
                if key is not None:
                    last[key.to_string()] = (event, ids[-1])
            self._store_asset_event_tags(connection, stored, ids)
            for event, event_id in last.values():
                self._store_asset_event(connection, event, event_id)

    def has_table(self, table_name: str) -> bool:
        """Tell whether the index of all runs has a table; asked for each event, so remembered."""
        if table_name not in self._tables:
            if not super().has_table(table_name):
                return False
            self._tables.add(table_name)
        return True

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        with self._db_lock, self._engine(shard).connect() as connection, connection.begin():
            yield connection

    def _engine(self, shard: str) -> Engine:
        engine = self._engines.pop(shard, None) or self._open(shard)
        self._engines[shard] = engine  # the last one is the one used last
        runs = [name for name in self._engines if name != INDEX_SHARD_NAME]
        for name in runs[:-OPEN_SHARDS]:
            self._engines.pop(name).dispose()
        return engine

    def _open(self, shard: str) -> Engine:
        url = self.conn_string_for_shard(shard)
        if shard not in self._initialized_dbs:
            plain = create_engine(
                url, poolclass=NullPool, connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS}
            )
            self._initdb(plain)
            self._initialized_dbs.add(shard)
        engine = create_engine(
            url,
            poolclass=StaticPool,
            connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS, "check_same_thread": False},
        )
        db.event.listen(engine, "connect", _configure)
        return engine

    def _close(self) -> None:
        with self._db_lock:
            for engine in self._engines.values():
                engine.dispose()
            self._engines.clear()

    def _touch(self, run_id: str) -> None:
        """Mark the run's file as modified: the page of a run waits for that to show new events.

        With a connection open, what is written goes to a file beside it.
        """
        with contextlib.suppress(OSError):
            os.utime(self.path_for_shard(run_id))


def _configure(connection: Any, _record: Any) -> None:
    # Safe in WAL mode but for the last events before a power cut, and documents do not depend on
    # them.
    connection.execute("PRAGMA synchronous = NORMAL")
