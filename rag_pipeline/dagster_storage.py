"""Dagster's SQLite storage, with an event log of our own (`dagster_event_log`).

The two modules alone use Dagster's internals (docs/decisions.md); a test names what a new version
changes. They import nothing from the rest of the pipeline because Dagster's web server loads them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dagster import DagsterInstance
from dagster._core.instance.ref import InstanceRef
from dagster._core.storage.local_compute_log_manager import LocalComputeLogManager
from dagster._core.storage.noop_compute_log_manager import NoOpComputeLogManager
from dagster._core.storage.root import LocalArtifactStorage
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from dagster._serdes import ConfigurableClassData

from rag_pipeline.dagster_event_log import PooledEventLog

__all__ = [
    "LocalArtifactStorage",
    "LocalComputeLogManager",
    "SqliteStorage",
    "open_configured",
    "open_sqlite",
]

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
