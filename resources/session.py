"""The session of a run: settings and an open database, and what the run did, as objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import dagster as dg

from rag_pipeline.relational.rows.row_report import RelationalReport
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.sync.documents.document_jobs import Outcome
from rag_pipeline.sync.planning.refresh import RefreshResult
from rag_pipeline.sync.sync_context import SyncContext


@dataclass
class SyncRecord:
    """What the runs of one sync did; the assets fill it, and present it as Dagster events."""

    scan: RefreshResult | None = None
    documents: list[Outcome] = field(default_factory=list)
    relational: list[RelationalReport] = field(default_factory=list)
    error: BaseException | None = None
    """What ended a run before all of its documents or rows were tried."""


@dataclass(frozen=True)
class SyncSession:
    """Settings, an open database, and the record of what is done with them."""

    settings: Settings
    database: Database
    record: SyncRecord = field(default_factory=SyncRecord)

    def context(self, run: str, earlier_runs: Sequence[str] = ()) -> SyncContext:
        """Return what a sync needs; `run` and `earlier_runs` are ids of runs of one sync."""
        return SyncContext.of(self.settings, self.database, run, earlier_runs)


class SessionSource(Protocol):
    """Opens the session of a run."""

    def load(self) -> Settings:
        """Return the settings. Raises `SettingsError`."""

    def open(self) -> AbstractContextManager[SyncSession]:
        """Yield the session with its database open and migrated."""


class SessionResource(dg.ConfigurableResource[SyncSession]):
    """Opens a session for each run, from rag.toml and the environment.

    Secrets are never part of a resource's configuration, which Dagster stores and shows.
    """

    project_dir: str | None = None

    def load(self) -> Settings:
        """Return the settings. Raises `SettingsError`."""
        return Settings.load(Path(self.project_dir) if self.project_dir else None)

    @contextmanager
    def open(self) -> Iterator[SyncSession]:
        """Yield a session of its own; its connections are closed at the end."""
        settings = self.load()
        database = Database.open(settings)
        try:
            yield SyncSession(settings, database)
        finally:
            database.close()


@dataclass(frozen=True)
class GivenSession:
    """Lends one session to several runs in this process, and keeps the error that ends one."""

    session: SyncSession

    def load(self) -> Settings:
        """Return the settings."""
        return self.session.settings

    @contextmanager
    def open(self) -> Iterator[SyncSession]:
        """Yield the session; whoever opened the database closes it."""
        try:
            yield self.session
        except BaseException as error:
            self.session.record.error = error
            raise
