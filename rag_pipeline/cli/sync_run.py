"""One sync, as `rag sync`, `rag retry` and the demonstration run it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from rag_pipeline.cli import interrupts
from rag_pipeline.cli.application import EXIT_DOCUMENTS_FAILED
from rag_pipeline.console.terminal import err, print_json
from rag_pipeline.errors import RagError
from rag_pipeline.settings import Settings

if TYPE_CHECKING:
    from rag_pipeline.store.database import Database
    from rag_pipeline.store.source_tables import SourceRoot
    from rag_pipeline.sync.first_look import FirstLook
    from rag_pipeline.sync.planning.plan import SyncPlan
    from rag_pipeline.sync_summary import SyncSummary


def run_sync(
    settings: Settings,
    database: Database,
    roots: list[SourceRoot],
    as_json: bool,
    *,
    explain: bool = False,
    verify: bool = False,
    through_dagster: bool = False,
) -> None:
    """Sync these roots, or all known ones; show progress and a summary; set the exit status."""
    from rag_pipeline.console.sync_output import print_sync_summary
    from rag_pipeline.errors import SourceError, SyncLockedError
    from rag_pipeline.store.source_tables import has_sources, list_roots, register_roots
    from rag_pipeline.sync.first_look import first_look
    from rag_pipeline.sync_summary import SyncSummary

    interrupts.advise("finished documents stay, `rag sync` does the rest")
    with database.connection() as connection:
        register_roots(connection, roots)
        known = bool(list_roots(connection)) or has_sources(connection)
    if not known and not settings.sources and not settings.relational:
        raise SourceError(
            "there is no folder to sync",
            hint="run `rag sync FOLDER`, or add [[sources]] to rag.toml",
        )
    try:
        with database.sync_lock():
            pass
    except SyncLockedError:
        err.print("another sync is running; waiting for it to end (Ctrl-C stops waiting)")

    start = time.perf_counter()
    names = [root.root for root in roots]
    look = first_look(settings, database, names, verify=verify)
    if look.is_idle and not through_dagster:
        summary = SyncSummary(documents_current=look.plan.current)
        summary.take_scan(look.scan)
        summary.take_failures(database, look.plan)
        if look.is_untold:
            _tell(settings, database, look)
    else:
        summary = _work(
            settings, database, names, look, explain=explain and not as_json, bars=not as_json
        )
    summary.seconds = time.perf_counter() - start
    if as_json:
        print_json(summary)
    else:
        print_sync_summary(summary)
    if summary.aborted:
        raise RagError(summary.aborted, hint="finished documents stay; `rag sync` does the rest")
    if summary.failures or summary.unread or any(report.why for report in summary.relational):
        raise typer.Exit(EXIT_DOCUMENTS_FAILED)


def _tell(settings: Settings, database: Database, look: FirstLook) -> None:
    """Show a scan in Dagster."""
    from rag_pipeline.assets.instances import disk_errors, open_instance
    from rag_pipeline.assets.scan_event import report_scan

    with disk_errors(), open_instance(settings) as instance:
        report_scan(instance, settings, database, look.scan)


def _work(
    settings: Settings,
    database: Database,
    names: list[str],
    look: FirstLook,
    *,
    explain: bool,
    bars: bool,
) -> SyncSummary:
    """Do what a first look found, as runs of Dagster."""
    if look.plan:
        from rag_pipeline.sync.workers.worker_process import start_forkserver

        start_forkserver()  # its imports overlap with those of Dagster
    from rag_pipeline.assets import launch
    from rag_pipeline.assets.instances import open_instance
    from rag_pipeline.console.cost_output import print_edited, print_reason
    from rag_pipeline.console.progress_bars import sync_progress
    from rag_pipeline.definitions import defs

    def planned(plan: SyncPlan) -> None:
        expect(plan)
        if explain:
            for source_hash, why in plan.why.items():
                name = Path(plan.states[source_hash].uris[0]).name
                print_reason(name, plan.stale[source_hash], why)

    with open_instance(settings) as instance, sync_progress(bars) as expect:
        done = launch.run_sync(defs, instance, settings, database, names, planned, scan=look.scan)
    if explain:
        print_edited(done.edited)
    return done
