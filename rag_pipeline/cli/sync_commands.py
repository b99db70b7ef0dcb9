"""Commands that bring the store up to date, and say what that takes: sync, plan, status, retry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag_pipeline.cli.application import (
    EXIT_DOCUMENTS_FAILED,
    AsOption,
    JsonOption,
    app,
    open_database,
    open_readers,
)
from rag_pipeline.errors import RagError
from rag_pipeline.settings import Settings

if TYPE_CHECKING:
    from rag_pipeline.store.database import Database
    from rag_pipeline.store.source_tables import SourceRoot
    from rag_pipeline.sync.planning.plan import SyncPlan


@app.command()
def sync(
    places: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PLACES", help="Folders, files or URLs (s3://…, https://…); none = all known."
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say for each document why it will be done.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only say what would be done, sent and spent."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Bring the knowledge base up to date with the folders; only what changed is done again.

    A folder given here is remembered: later syncs, the nightly one too, take it in. `--dry-run`
    looks without writing or sending anything, and estimates the cost. Exit status 2 means that
    documents are failed; `rag status` tells why.

    Example: rag sync ~/manuals
    """
    from rag_pipeline.sync.sources.places import given_root

    roots = [given_root(place) for place in places or []]
    with open_database() as (settings, database):
        if dry_run:
            _preview(settings, database, roots, explain, as_json)
        else:
            run(settings, database, roots, as_json, explain=explain)


def _preview(
    settings: Settings, database: Database, roots: list[SourceRoot], explain: bool, as_json: bool
) -> None:
    """Say what a sync would do and cost; nothing is written."""
    from rag_pipeline.console import output as console
    from rag_pipeline.console.cost_output import print_dry_run, print_reasons
    from rag_pipeline.sync.planning.dry_run import preview_sync
    from rag_pipeline.sync.planning.estimate import estimate_plan

    preview = preview_sync(settings, database, roots)
    with console.counting("estimate", len(preview.plan.states), not as_json) as advance:
        estimate = estimate_plan(preview.plan, settings, database, advance)
    if as_json:
        sums = {name: getattr(estimate, name) for name in ("pages", "sent_pages", "tokens", "usd")}
        files, problems = preview.changes.counts(), preview.problems
        console.print_json({"files": files, "problems": problems, **sums, **vars(estimate)})
        return
    if explain:
        print_reasons(estimate)
    print_dry_run(preview.changes, estimate, preview.problems)


def run(
    settings: Settings,
    database: Database,
    roots: list[SourceRoot],
    as_json: bool,
    *,
    explain: bool = False,
) -> None:
    """Sync these roots (none = all known), show progress and summary, set the exit status."""
    from rag_pipeline.assets.launch import open_instance, run_sync
    from rag_pipeline.console import output as console
    from rag_pipeline.definitions import defs
    from rag_pipeline.errors import SourceError, SyncLockedError
    from rag_pipeline.store.source_tables import list_roots, register_roots
    from rag_pipeline.sync.planning.fingerprints import STAGES

    with database.connection() as connection:
        register_roots(connection, roots)
        known = list_roots(connection)
    if not known and not settings.sources and not settings.relational:
        raise SourceError(
            "there is no folder to sync",
            hint="run `rag sync FOLDER`, or put [[sources]] into rag.toml",
        )
    try:
        with database.sync_lock():
            pass
    except SyncLockedError:
        console.err.print("another sync is running; waiting for it to end (Ctrl-C gives up)")

    def planned(plan: SyncPlan) -> None:
        console.set_totals(progress, plan.stale, STAGES)
        if explain and not as_json:
            for source_hash, why in plan.why.items():
                name = Path(plan.states[source_hash].uris[0]).name
                stage = console.STAGE_TITLES[plan.stale[source_hash]]
                console.out.print(
                    f"{console.safe_line(name)} [dim]from {stage} on: {console.safe(why)}[/]"
                )

    with open_instance(settings) as instance, console.sync_progress(not as_json) as progress:
        summary = run_sync(
            defs,
            instance,
            settings,
            database,
            [root.root for root in roots],
            planned,
        )
    if as_json:
        console.print_json(summary)
    else:
        console.print_sync_summary(summary)
    if summary.aborted:
        raise RagError(summary.aborted, hint="what has landed stays; `rag sync` does the rest")
    if summary.failures or any(report.why for report in summary.relational):
        raise typer.Exit(EXIT_DOCUMENTS_FAILED)


@app.command()
def plan(as_json: JsonOption = False) -> None:
    """Show what is stale in the store, as ranges of Dagster partitions; no folder is looked at.

    Example: rag plan --json
    """
    from rag_pipeline.assets.automation import stale_ranges
    from rag_pipeline.assets.launch import open_instance
    from rag_pipeline.console import output as console
    from rag_pipeline.sync.sources.refresh import current_plan

    with open_database() as (settings, database), open_instance(settings) as instance:
        found = current_plan(settings, database)
        ranges = stale_ranges(instance, settings, found)
    if as_json:
        console.print_json({"stale": found.stale, "ranges": ranges, "current": found.current})
        return
    for first, last, count in ranges:
        console.out.print(f"{first}...{last}  [dim]{count} documents[/]")
    console.out.print(
        f"{len(found.stale)} documents to be done, {found.current} up to date, "
        f"{len(found.failed)} failed for good"
    )


@app.command()
def status(principals: AsOption = None, as_json: JsonOption = False) -> None:
    """Show how much the store holds, what waits, and what failed and why.

    Example: rag status --json
    """
    from rag_pipeline.console import output as console
    from rag_pipeline.store.documents import list_documents
    from rag_pipeline.store.embeddings import active_space, lacking_vectors
    from rag_pipeline.store.source_tables import list_roots
    from rag_pipeline.store.statistics import count_everything
    from rag_pipeline.sync.sources.listing import not_taken
    from rag_pipeline.sync.sources.refresh import current_plan

    with open_readers(principals) as (settings, database):
        plan = current_plan(settings, database)
        with database.connection() as connection:
            counts = count_everything(connection)
            documents = list_documents(connection)
            roots = list_roots(connection)
            space = active_space(connection)
            lacking = lacking_vectors(connection, space.space_id) if space else 0
    if as_json:
        quarantined = [state.source_hash for state in plan.failed]
        found = {"counts": counts, "stale": len(plan.stale), "quarantined": quarantined}
        found["chunks_without_vector"] = lacking
        found["not_taken"] = not_taken(roots)
        console.print_json({**found, "documents": documents, "folders": roots})
        return
    console.print_status(counts, plan, documents, roots)
    for note in not_taken(roots):
        console.out.print(f"[yellow]note[/] {console.safe_line(note)}")
    if space and lacking:
        console.out.print(
            f"[yellow]{lacking} chunks are found by words alone[/]: the space "
            f"{console.safe(space.name)}, which searches use, has no vectors for them"
        )


@app.command()
def retry(
    names: Annotated[
        list[str] | None, typer.Argument(help="File names or hashes; none = all failed ones.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Try failed documents again now.

    Example: rag retry damaged.pdf
    """
    from rag_pipeline.errors import SourceError
    from rag_pipeline.store.documents import forget_failures, list_documents

    with open_database() as (settings, database):
        with database.connection() as connection:
            failed = [d for d in list_documents(connection) if d.status == "failed"]
            wanted = [
                document.source_hash
                for document in failed
                if not names
                or document.source_hash in names
                or any(Path(uri).name in names or uri in names for uri in document.uris)
            ]
            if names and not wanted:
                raise SourceError(
                    f"no failed document is called {', '.join(names)}", hint="see `rag status`"
                )
            forget_failures(connection, wanted)
        run(settings, database, [], as_json)


@app.command(hidden=True)
def demo() -> None:
    """Sync the samples, search in two languages, and answer one question."""
    from rag_pipeline.console.demonstration import run_demo

    with open_database() as (settings, database):
        run_demo(settings, database, run)
