"""Dagster's SQLite event log with pooled connections, which writes documents' events in batches.

Dagster creates an engine and a connection for every event, and closing the last connection
checkpoints the write-ahead log each time. A sync writes six events per document. Here those wait
for each other: until there are `BATCHED_EVENTS`, for `BATCHED_SECONDS` at most, and until anything
else is written or read through the same storage, a run's end and its failure among it. Files and
tables are unchanged, so either storage reads what the other wrote.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import sqlalchemy as db
from dagster import EventLogEntry
from dagster._core.events import ASSET_CHECK_EVENTS, ASSET_EVENTS, DagsterEventType
from dagster._core.storage.event_log.schema import SqlEventLogStorageTable
from dagster._core.storage.event_log.sqlite.sqlite_event_log import (
    INDEX_SHARD_NAME,
    SqliteEventLogStorage,
)
from dagster._core.storage.sql import create_engine
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._serdes import ConfigurableClassData
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.pool import NullPool, StaticPool

OPEN_SHARDS = 4
"""Per-run event files kept open, in addition to the index of all runs."""
BATCHED_EVENTS = 300
BATCHED_SECONDS = 2.0
BATCHED = frozenset(
    {
        DagsterEventType.ASSET_MATERIALIZATION,
        DagsterEventType.ASSET_OBSERVATION,
        DagsterEventType.ASSET_CHECK_EVALUATION,
    }
)
MIRRORED = frozenset({*ASSET_EVENTS, *ASSET_CHECK_EVENTS})
"""Stand in the index of all runs as well."""


class PooledEventLog(SqliteEventLogStorage):
    """Dagster's SQLite event log with one open connection per file in use.

    `_connect` holds a lock while a connection is in use, so no further locking is needed.
    """

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._engines: dict[str, Engine] = {}
        self._tables: set[str] = set()
        self._waiting: list[EventLogEntry] = []
        self._waiting_lock = threading.RLock()
        self._timer: threading.Timer | None = None
        self._late_error: BaseException | None = None
        """What kept a batch from being written when its time was up; raised at the next call."""
        self._index_in_use = threading.local()
        super().__init__(base_dir, inst_data)

    def store_event(self, event: EventLogEntry) -> None:
        """Store one event and notify watchers of the run's file; a document's event may wait."""
        if event.dagster_event_type in BATCHED and event.run_id:
            with self._waiting_lock:
                self._waiting.append(event)
                is_full = len(self._waiting) >= BATCHED_EVENTS
                if self._timer is None and not is_full:
                    self._timer = threading.Timer(BATCHED_SECONDS, self._write_late)
                    self._timer.daemon = True
                    self._timer.start()
            if is_full or self._late_error is not None:
                self.write_waiting()
            return
        super().store_event(event)  # writes what waits first, as every connection does
        self._touch(event.run_id)

    def write_waiting(self) -> None:
        """Write the events that wait for each other. Raises what SQLite raises."""
        with self._waiting_lock:
            waiting, self._waiting = self._waiting, []
            timer, self._timer = self._timer, None
            error, self._late_error = self._late_error, None
            if timer is not None:
                timer.cancel()
            for run_id in dict.fromkeys(event.run_id for event in waiting):
                self._write(run_id, [event for event in waiting if event.run_id == run_id])
        if error is not None:
            raise error

    def _write_late(self) -> None:
        """Write what waits when its time is up, in a thread of its own."""
        try:
            self.write_waiting()
        except BaseException as error:
            self._late_error = error

    def _write(self, run_id: str, events: Sequence[EventLogEntry]) -> None:
        """Write events of one run: one transaction in its file, one in the index of all runs."""
        rows = [self._event_to_row(event) for event in events]
        with self._open_connection(run_id) as connection:
            connection.execute(SqlEventLogStorageTable.insert(), rows)
        shared = [
            (event, row)
            for event, row in zip(events, rows, strict=True)
            if event.dagster_event_type in MIRRORED
        ]
        if shared:
            self._mirror([event for event, _ in shared], [row for _, row in shared])
        self._touch(run_id)

    def _mirror(self, events: Sequence[EventLogEntry], rows: Sequence[dict[str, Any]]) -> None:
        """Write events that are read over all runs to the index, and what it says of assets."""
        mirrored = SqlEventLogStorageTable.insert().returning(
            SqlEventLogStorageTable.c.id, sort_by_parameter_order=True
        )
        with self._open_connection(INDEX_SHARD_NAME) as connection:
            ids = list(connection.execute(mirrored, rows).scalars())
            self._index_in_use.connection = connection
            try:
                self._note_assets(connection, events, ids)
                for event, event_id in zip(events, ids, strict=True):
                    if event.dagster_event_type in ASSET_CHECK_EVENTS:
                        self.store_asset_check_event(event, event_id)
            finally:
                self._index_in_use.connection = None

    def store_event_batch(self, events: Sequence[EventLogEntry]) -> None:
        """Store events of one run: one transaction in its file, one in the index of all runs."""
        self.write_waiting()
        if events:
            self._write(events[0].run_id, events)

    def wipe(self) -> None:
        """Delete everything."""
        self._close()
        super().wipe()

    def dispose(self) -> None:
        """Write what waits, and close every file."""
        try:
            self.write_waiting()
        finally:
            self._close()
        super().dispose()

    def _note_assets(
        self, connection: Connection, events: Sequence[EventLogEntry], ids: Sequence[int]
    ) -> None:
        """Write tags of asset events, and the last of each asset as the asset's entry."""
        found = [
            (event, event_id)
            for event, event_id in zip(events, ids, strict=True)
            if event.dagster_event_type in ASSET_EVENTS
        ]
        if not found:
            return
        self._store_asset_event_tags(connection, [e for e, _ in found], [i for _, i in found])
        last: dict[str, tuple[EventLogEntry, int]] = {}
        for event, event_id in found:
            key = event.get_dagster_event().asset_key
            if key is not None:
                last[key.to_string()] = (event, event_id)
        for event, event_id in last.values():
            self._store_asset_event(connection, event, event_id)

    def has_table(self, table_name: str) -> bool:
        """Return whether the index of all runs has a table; cached, since every event asks."""
        if table_name not in self._tables:
            if not super().has_table(table_name):
                return False
            self._tables.add(table_name)
        return True

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        """Yield a connection; what waits is written first, so that it is read and kept in order."""
        in_use = getattr(self._index_in_use, "connection", None)
        if in_use is not None and shard == INDEX_SHARD_NAME:
            yield in_use  # a call of Dagster's own while a batch is written
            return
        if self._waiting or self._late_error is not None:
            self.write_waiting()
        with self._open_connection(shard) as connection:
            yield connection

    @contextmanager
    def _open_connection(self, shard: str) -> Iterator[Connection]:
        with self._db_lock, self._engine(shard).connect() as connection, connection.begin():
            yield connection

    def _engine(self, shard: str) -> Engine:
        engine = self._engines.pop(shard, None) or self._open(shard)
        self._engines[shard] = engine  # keeps the most recently used last
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
        """Update the run file's modification time, which the UI watches for new events.

        While a connection is open, SQLite writes to the log file next to it instead.
        """
        with contextlib.suppress(OSError):
            os.utime(self.path_for_shard(run_id))


def _configure(connection: Any, _record: Any) -> None:
    # In WAL mode only the last events before a power cut can be lost, and documents do not depend
    # on them.
    connection.execute("PRAGMA synchronous = NORMAL")
