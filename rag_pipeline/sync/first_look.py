"""What every sync begins with: a scan and a plan. Where they find nothing to do, it is all of it.

By the library alone: Dagster, and the stages of documents, are loaded where there is work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_pipeline.settings import Settings
from rag_pipeline.store.database import SYNC_WAIT_SECONDS, Database
from rag_pipeline.store.named_queries import queries
from rag_pipeline.sync.finish import finish
from rag_pipeline.sync.planning.plan import SyncPlan
from rag_pipeline.sync.planning.refresh import RefreshResult, current_plan, refresh_sources
from rag_pipeline.sync.sync_context import SyncContext


@dataclass(frozen=True)
class FirstLook:
    """What a scan found, whose changes are written, and the plan that follows from it."""

    scan: RefreshResult
    plan: SyncPlan
    is_idle: bool
    """Nothing is left to do, and what ends a sync is done as well."""
    is_untold: bool
    """There are changes of files that Dagster does not know of."""


def first_look(
    settings: Settings,
    database: Database,
    only_roots: Sequence[str] = (),
    *,
    verify: bool = False,
    wait_seconds: float = SYNC_WAIT_SECONDS,
) -> FirstLook:
    """Scan the known roots, or only some, and plan; finish the sync where that is all of it.

    Databases as sources always have work: only reading them tells. Raises `SyncLockedError` where
    another sync runs for longer than `wait_seconds`, and what `refresh_sources` raises.
    """
    with database.sync_lock(wait_seconds):
        scan = refresh_sources(settings, database, only_roots, verify=verify)
        plan = current_plan(settings, database, only_roots)
        is_idle = not plan and not _has_databases(settings, database, only_roots)
        if is_idle:
            finish(SyncContext.of(settings, database, "rag sync"))
        with database.connection() as connection:
            is_untold = bool(queries.is_scan_untold(connection))
    return FirstLook(scan, plan, is_idle, is_untold)


def _has_databases(settings: Settings, database: Database, only_roots: Sequence[str]) -> bool:
    """Return whether there are databases to read, or to forget."""
    if settings.relational and not only_roots:
        return True
    names = [source.name for source in settings.relational]
    with database.connection() as connection:
        forgotten = queries.unconfigured_relational_sources(
            connection, project=str(settings.project_dir), names=names
        )
        return any(True for _ in forgotten)
