"""Output of `rag sync` and `rag status`: summaries, rows of databases, failures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from rag_pipeline.console.progress_bars import STAGE_TITLES
from rag_pipeline.console.terminal import out, safe, safe_line
from rag_pipeline.text import counted

if TYPE_CHECKING:
    from rag_pipeline.relational.rows.row_report import RelationalReport
    from rag_pipeline.store.documents import DocumentRow
    from rag_pipeline.store.source_tables import SourceRoot
    from rag_pipeline.store.statistics import Counts
    from rag_pipeline.sync.planning.plan import SyncPlan
    from rag_pipeline.sync_summary import SyncSummary


def print_sync_summary(summary: SyncSummary) -> None:
    """Print what a sync did: files, documents, stages, failures."""
    files = ", ".join(f"{count} {kind}" for kind, count in summary.files.items() if count)
    out.print(f"[bold]files[/]      {files or 'none found'}")
    failed = len(summary.failures)
    out.print(
        f"[bold]documents[/]  {summary.documents_done} processed, "
        f"{summary.documents_current} already up to date"
        + (f", [red]{failed} failed[/]" if failed else "")
        + f"  ({summary.seconds:.1f} s)"
    )
    if summary.stages:
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        for column in ("stage", "documents", "pages", "seconds of work", "pages/s"):
            table.add_column(column, justify="left" if column == "stage" else "right")
        for stage, totals in summary.stages.items():
            rate = totals.pages / totals.seconds if totals.seconds else 0.0
            table.add_row(
                STAGE_TITLES.get(stage, stage),
                str(totals.documents),
                str(totals.pages),
                f"{totals.seconds:.1f}",
                f"{rate:,.0f}" if totals.pages else "–",
            )
        out.print(table)
    for rows in summary.relational:
        print_rows(rows)
    for problem in summary.problems:
        mark = "[red]not read[/]" if problem in summary.unread else "[yellow]note[/]"
        out.print(f"{mark} {safe_line(problem)}")
    for failure in summary.failures:
        again = " [dim](earlier; not retried)[/]" if failure["earlier"] == "yes" else ""
        reason = safe(failure["reason"])
        out.print(f"[red]failed[/] {reason}{again}")
    if failed:
        out.print(
            "[dim]Damaged files are retried when they or the code change, other failures at "
            "the next sync; `rag retry` retries now.[/]"
        )


def print_rows(report: RelationalReport) -> None:
    """Print what a sync did with the rows of one database."""
    counts = report.counts()
    kinds = ("new", "changed", "deleted", "kept though gone", "unchanged", "texts embedded")
    shown = [f"{counts[kind]:,} {kind}" for kind in kinds if counts[kind]]
    name = safe(report.source)
    out.print(f"[bold]rows[/]       {name}: {', '.join(shown) or 'none'}")
    for note in report.notes:
        out.print(f"[yellow]note[/] {name}: {safe(note)}")
    if report.why:
        out.print(f"[red]failed[/] {name}: {safe(report.why)}")


def print_status(
    counts: Counts, plan: SyncPlan, documents: Sequence[DocumentRow], roots: Sequence[SourceRoot]
) -> None:
    """Print the size of the store, the folders, and every document that failed or has warnings."""
    out.print(
        f"[bold]{counts.ready}[/] of {counted(counts.documents, 'document')} ready, "
        f"{counted(counts.pages, 'page')}, {counted(counts.chunks, 'chunk')}, "
        f"{counted(counts.vectors, 'vector')}, "
        f"{counts.database_bytes / 2**20:.0f} MB in Postgres"
    )
    for root in roots:
        out.print(f"source     {safe_line(root.root)} [dim]({root.origin})[/]")
    if plan.stale:
        out.print(f"[yellow]{len(plan.stale)} documents are waiting[/]: run `rag sync`")
    quarantined = {state.source_hash for state in plan.failed}
    for document in documents:
        if document.status != "failed":
            continue
        out.print(f"[red]failed[/]     {safe(document.failure_reason)}")
        waits = ", in quarantine until `rag retry`" if document.source_hash in quarantined else ""
        uris = safe_line(", ".join(document.uris))
        out.print(
            f"           [dim]{uris}; tried {counted(document.failure_count, 'time')} "
            f"at {document.failure_stage}{waits}[/]"
        )
    for document in documents:
        for warning in document.warnings:
            out.print(
                f"[yellow]warning[/]    {safe_line(Path(document.uris[0]).name)}: {safe(warning)}"
            )
