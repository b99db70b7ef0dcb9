"""Commands that sync and show what is to be done: sync, plan, status, retry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag_pipeline.cli.application import (
    AsOption,
    JsonOption,
    app,
    open_database,
    open_readers,
)
from rag_pipeline.cli.sync_run import run_sync
from rag_pipeline.console.terminal import out, print_json, safe, safe_line
from rag_pipeline.settings import Settings

if TYPE_CHECKING:
    from rag_pipeline.store.database import Database
    from rag_pipeline.store.source_tables import SourceRoot


@app.command()
def sync(
    places: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PLACES", help="Folders, files or URLs (s3://…, https://…); default: all known."
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say why each document is processed.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only show what would be done, sent and spent."),
    ] = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="Read every file again, also where size and time did not change."
        ),
    ] = False,
    wait_vectors: Annotated[
        bool,
        typer.Option(
            "--wait-vectors",
            help="Make each document searchable with its vectors, not by words first.",
        ),
    ] = False,
    through_dagster: Annotated[
        bool,
        typer.Option("--dagster", help="Go through Dagster also where there is nothing to do."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Bring the knowledge base up to date with the folders; only changes are processed.

    Documents can be searched by words first; then their vectors are made. A folder given here is
    remembered: later syncs, including the nightly one, cover it too.
    `--dry-run` writes and sends nothing and estimates the cost. Exit status 2 means that documents
    failed or files could not be read; `rag status` says why.

    Example: rag sync ~/manuals
    """
    from rag_pipeline.sync.sources.places import given_root
    from rag_pipeline.sync.sync_context import waiting_for_vectors

    roots = [given_root(place) for place in places or []]
    with open_database() as (settings, database):
        if dry_run:
            _preview(settings, database, roots, explain, as_json, verify)
        else:
            chosen = waiting_for_vectors(settings) if wait_vectors else settings
            run_sync(
                chosen,
                database,
                roots,
                as_json,
                explain=explain,
                verify=verify,
                through_dagster=through_dagster,
            )


def _preview(
    settings: Settings,
    database: Database,
    roots: list[SourceRoot],
    explain: bool,
    as_json: bool,
    verify: bool,
) -> None:
    """Show what a sync would do and cost; nothing is written."""
    from rag_pipeline.console.cost_output import print_dry_run, print_reason
    from rag_pipeline.console.progress_bars import counting
    from rag_pipeline.sync.planning.dry_run import preview_sync
    from rag_pipeline.sync.planning.estimate import estimate_plan

    preview = preview_sync(settings, database, roots, verify=verify)
    with counting("estimate", len(preview.plan.states), not as_json) as advance:
        estimate = estimate_plan(preview.plan, settings, database, advance)
    if as_json:
        sums = {name: getattr(estimate, name) for name in ("pages", "sent_pages", "tokens", "usd")}
        files, problems = preview.changes.counts(), preview.problems
        print_json({"files": files, "problems": problems, **sums, **vars(estimate)})
        return
    if explain:
        for document in estimate.documents:
            sent_why = document.sent_why if document.sent_pages else ""
            print_reason(document.name, document.stage, document.why, sent_why)
    print_dry_run(preview.changes, estimate, preview.problems)


@app.command()
def plan(as_json: JsonOption = False) -> None:
    """Show what is stale in the store, as ranges of Dagster partitions; folders are not scanned.

    Example: rag plan --json
    """
    from rag_pipeline.assets.automation import stale_ranges
    from rag_pipeline.assets.instances import open_instance
    from rag_pipeline.sync.planning.refresh import current_plan

    with open_database() as (settings, database), open_instance(settings) as instance:
        found = current_plan(settings, database)
        ranges = stale_ranges(instance, settings, found)
    if as_json:
        print_json({"stale": found.stale, "ranges": ranges, "current": found.current})
        return
    for first, last, count, files in ranges:
        out.print(f"{first}...{last}  [dim]{count} documents: {safe_line(files)}[/]")
    out.print(
        f"{len(found.stale)} documents to process, {found.current} up to date, "
        f"{len(found.failed)} failed permanently"
    )


@app.command()
def status(principals: AsOption = None, as_json: JsonOption = False) -> None:
    """Show what the store holds, what is waiting, and what failed and why.

    Example: rag status --json
    """
    from rag_pipeline.console.sync_output import print_status
    from rag_pipeline.store.documents import list_documents
    from rag_pipeline.store.embeddings import active_space, vector_coverage
    from rag_pipeline.store.source_tables import list_roots
    from rag_pipeline.store.statistics import count_everything
    from rag_pipeline.sync.planning.refresh import current_plan
    from rag_pipeline.sync.sources.listing import folder_notes

    with open_readers(principals) as (settings, database):
        plan = current_plan(settings, database)
        with database.connection() as connection:
            counts = count_everything(connection)
            documents = list_documents(connection)
            roots = list_roots(connection)
            space = active_space(connection)
            coverage = vector_coverage(connection, space.space_id) if space else None
    notes = folder_notes(roots, follow_links=settings.sync.follow_links)
    if as_json:
        quarantined = [state.source_hash for state in plan.failed]
        found = {"counts": counts, "stale": len(plan.stale), "quarantined": quarantined}
        found["chunks_without_vector"] = coverage.lacking if coverage else 0
        found["vectors"] = coverage.describe() if coverage else ""
        found |= vars(notes)
        print_json({**found, "documents": documents, "folders": roots})
        return
    print_status(counts, plan, documents, roots)
    for problem in notes.unreadable:
        out.print(f"[red]unreadable[/] {safe_line(problem)}")
    for note in notes.not_taken:
        out.print(f"[yellow]note[/] {safe_line(note)}")
    if space and coverage and coverage.lacking:
        out.print(f"[yellow]{coverage.describe()}[/] (the active space is {safe(space.name)})")


@app.command()
def retry(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="File names or hashes; default: all failed ones."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Retry failed documents now.

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
        run_sync(settings, database, [], as_json)


@app.command(hidden=True)
def demo() -> None:
    """Sync the samples, search in two languages, and answer one question."""
    from rag_pipeline.console.demonstration import run_demo
    from rag_pipeline.sync.sync_context import waiting_for_vectors

    with open_database() as (settings, database):
        run_demo(waiting_for_vectors(settings), database, run_sync)
