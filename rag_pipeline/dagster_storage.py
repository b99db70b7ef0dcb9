"""Dagster's SQLite storage with pooled connections: a quarter of the time per event.

Dagster creates an engine and a connection for every event, and closing the last connection
checkpoints the write-ahead log each time. A sync writes five events per document. Files and tables
are unchanged, so either storage reads what the other wrote.

The only module that uses Dagster's internals (docs/decisions.md); a test names what a new version
changes. It imports nothing from the pipeline because Dagster's web server loads it too.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as db
from dagster import DagsterInstance, EventLogEntry
from dagster._core.events import ASSET_CHECK_EVENTS, ASSET_EVENTS
from dagster._core.instance.ref import InstanceRef
from dagster._core.storage.event_log.sqlite.sqlite_event_log import (
    INDEX_SHARD_NAME,
    SqliteEventLogStorage,
)
from dagster._core.storage.local_compute_log_manager import LocalComputeLogManager
from dagster._core.storage.noop_compute_log_manager import NoOpComputeLogManager
from dagster._core.storage.root import LocalArtifactStorage
from dagster._core.storage.sql import create_engine
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from dagster._serdes import ConfigurableClassData
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.pool import NullPool, StaticPool

__all__ = [
    "LocalArtifactStorage",
    "LocalComputeLogManager",
    "PooledEventLog",
    "SqliteStorage",
    "open_configured",
    "open_sqlite",
]

OPEN_SHARDS = 4
"""Per-run event files kept open, in addition to the index of all runs."""
BATCH_SIZE = "1000"


def open_sqlite(folder: Path) -> DagsterInstance:
    """Return an instance that keeps everything in SQLite files below `folder`, without telemetry.

    A dagster.yaml in `folder` adds to that configuration.
    """
    folder.mkdir(parents=True, exist_ok=True)
    storage = {"module": __name__, "class": SqliteStorage.__name__}
    return _open(
        folder,
        telemetry={"enabled": False},
        storage={"custom": {**storage, "config": {"base_dir": str(folder)}}},
    )


def open_configured(folder: Path) -> DagsterInstance:
    """Return the instance that the dagster.yaml in `folder` describes."""
    return _open(folder)


def _open(folder: Path, **overrides: Any) -> DagsterInstance:
    # Dagster captures a step's output through four more processes, which print tracebacks of their
    # own on Ctrl-C; the output of a command belongs on the terminal.
    manager = NoOpComputeLogManager
    nothing = {"module": manager.__module__, "class": manager.__name__}
    settings = {"compute_logs": nothing, **overrides}
    return DagsterInstance.from_ref(InstanceRef.from_dir(str(folder), overrides=settings))


class SqliteStorage(DagsterSqliteStorage):
    """Stores runs, events and schedules in SQLite files below `base_dir`."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        super().__init__(base_dir, inst_data)
        self._event_log_storage: PooledEventLog = PooledEventLog(
            os.path.join(base_dir, "history", "runs", "")  # noqa: PTH118 - Dagster's path
        )
        # Makes Dagster batch a run's planned events, one per document and stage.
        os.environ.setdefault("DAGSTER_EVENT_BATCH_SIZE", BATCH_SIZE)

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> SqliteStorage:
        """Return the storage that an instance's configuration describes."""
        return cls.from_local(inst_data=inst_data, **config_value)


class PooledEventLog(SqliteEventLogStorage):
    """Dagster's SQLite event log with one open connection per file in use.

    `_connect` holds a lock while a connection is in use, so no further locking is needed.
    """

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._engines: dict[str, Engine] = {}
        self._tables: set[str] = set()
        super().__init__(base_dir, inst_data)

    def store_event(self, event: EventLogEntry) -> None:
        """Store one event and notify watchers of the run's file."""
        super().store_event(event)
        self._touch(event.run_id)

    def store_event_batch(self, events: Sequence[EventLogEntry]) -> None:
        """Store events of one run: one transaction in its file, one in the index of all runs."""
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
        """Write asset events to the index of all runs; the last event becomes the asset's entry."""
        if not events:
            return
        last: dict[str, tuple[EventLogEntry, int]] = {}
        with self.index_connection() as connection:
            stored: list[EventLogEntry] = []
            ids: list[int] = []
            for event, statement in events:
                stored.append(event)
                key_of_row = connection.execute(statement).inserted_primary_key
                assert key_of_row is not None  # a one-row INSERT returns its key
                ids.append(key_of_row[0])
                key = event.get_dagster_event().asset_key
                if key is not None:
                    last[key.to_string()] = (event, ids[-1])
            self._store_asset_event_tags(connection, stored, ids)
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
