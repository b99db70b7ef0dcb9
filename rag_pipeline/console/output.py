"""What the command line prints: tables, summaries, errors. Text of documents is always escaped."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from rag_pipeline.sync.progress import Progress as Step
from rag_pipeline.sync.progress import listening
from rag_pipeline.text import one_line

if TYPE_CHECKING:
    from rag_pipeline.assets.launch import SyncSummary
    from rag_pipeline.relational.rows.row_report import RelationalReport
    from rag_pipeline.search import ScoreDetail, SearchResponse, SearchResult
    from rag_pipeline.search.sql_statements import Statement
    from rag_pipeline.sync.planning.plan import SyncPlan


class Terminal(Console):
    """A console whose text cannot hold escape sequences, wherever it comes from.

    Escapes of the console's own (colours, progress bars) are segments of control, or styles. Text
    is never turned into emoji, so that `E:42:` stays what a manual says.
    """

    def __init__(self, **options: Any) -> None:
        # No wrapping of our own: terminals wrap, and a program must get a path in one piece.
        super().__init__(highlight=False, soft_wrap=True, emoji=False, **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the segments of what is printed, with visible text only."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield segment._replace(text=visible(segment.text))


out = Terminal()
err = Terminal(stderr=True)

SNIPPET_CHARACTERS = 280
_STEERING = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_LONG_VALUE = re.compile(r"('[^']{80})[^']{80,}(')")
_TABLE_RULE = re.compile(r"\|[-:| ]{3,}\|")
STAGE_TITLES = {
    "document_blocks": "parse",
    "document_structure": "structure",
    "contextual_chunks": "chunk",
    "chunk_embeddings": "embed",
}


def print_json(value: Any) -> None:
    """Print a value as one JSON document: dataclasses as objects, paths and times as text."""
    sys.stdout.write(to_json(value))


def to_json(value: Any) -> str:
    """Return what `print_json` prints: letters as they are, what steers a terminal as `\\uXXXX`."""
    text = json.dumps(value, default=_plain, ensure_ascii=False, indent=2) + "\n"
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (Path, set, frozenset)):
        return str(value) if isinstance(value, Path) else sorted(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def visible(text: str) -> str:
    r"""Drop what is no letter, sign or space: controls, escapes, marks of direction, surrogates.

    >>> visible("a\x1b[31m\u202eb\u3000c")
    'a[31mb c'
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in "\n\t" else " " if c.isspace() else "" for c in text
    )


def safe(text: object) -> str:
    """Escape mark-up and drop control characters: a document must not steer the terminal."""
    return escape(visible(str(text)))


def safe_line(text: object) -> str:
    """The same on one line: a file's name must not look like a message of ours."""
    return safe(one_line(str(text)))


def print_error(message: str) -> None:
    """Print an error to standard error."""
    err.print(f"[bold red]error[/] {safe(message)}")


@contextmanager
def sync_progress(enabled: bool) -> Iterator[Progress | None]:
    """Show a bar per stage while a sync runs; without a terminal, plain lines."""
    if not enabled:
        yield None
        return
    if not err.is_terminal:
        done = {"documents": 0}

        def log(step: Step) -> None:
            if step.stage == "chunk_embeddings" and step.documents:
                done["documents"] += step.documents
                err.print(f"{counted(done['documents'], 'document')} embedded")

        with listening(log):
            yield None
        return
    progress = Progress(
        TextColumn("{task.description:10}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[detail]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=err,
        transient=True,
    )
    tasks = {
        stage: progress.add_task(title, total=None, detail="")
        for stage, title in STAGE_TITLES.items()
    }
    counts = dict.fromkeys(STAGE_TITLES, 0)
    begun: dict[str, float] = {}

    def show(step: Step) -> None:
        if step.stage not in tasks:
            # Rows of databases come after the documents, where there are any.
            tasks[step.stage] = progress.add_task("rows", total=None, detail="")
            counts[step.stage] = 0
        counts[step.stage] += step.pages or step.texts
        unit = "texts" if step.stage == "chunk_embeddings" else "pages"
        seconds = time.monotonic() - begun.setdefault(step.stage, time.monotonic())
        detail = f"{counts[step.stage]} {unit}" if counts[step.stage] else ""
        if detail and seconds > 1:
            detail += f", {counts[step.stage] / seconds:.0f}/s"
        progress.update(tasks[step.stage], advance=step.documents, detail=detail)

    with progress, listening(show):
        yield progress


@contextmanager
def counting(title: str, total: int, enabled: bool) -> Iterator[Callable[[], None]]:
    """Show a bar of `total` steps on a terminal; the value is called at each step."""
    if not (enabled and err.is_terminal):
        yield lambda: None
        return
    columns = (TextColumn("{task.description:10}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=err, transient=True) as progress:
        task = progress.add_task(title, total=total)
        yield lambda: progress.advance(task)


def set_totals(progress: Progress | None, stale: Mapping[str, str], stages: Sequence[str]) -> None:
    """Tell the bars how many documents each stage will see."""
    if progress is None:
        return
    for task, stage in zip(progress.tasks, stages, strict=True):
        first = stages.index(stage)
        total = sum(stages.index(begin) <= first for begin in stale.values())
        progress.update(task.id, total=total)


def print_sync_summary(summary: SyncSummary) -> None:
    """Print what a sync did: files, documents, stages, failures."""
    files = ", ".join(f"{count} {kind}" for kind, count in summary.files.items() if count)
    out.print(f"[bold]files[/]      {files or 'none found'}")
    failed = len(summary.failures)
    out.print(
        f"[bold]documents[/]  {summary.documents_done} brought up to date, "
        f"{summary.documents_current} already were"
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
        out.print(f"[yellow]note[/] {safe_line(problem)}")
    for failure in summary.failures:
        again = " [dim](earlier; not tried again)[/]" if failure["earlier"] == "yes" else ""
        reason = safe(failure["reason"])
        out.print(f"[red]failed[/] {reason}{again}")
    if failed:
        out.print(
            "[dim]A damaged file is tried again when it or the code changes, anything else at the "
            "next sync; `rag retry` tries now.[/]"
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


def print_search(response: SearchResponse, explain: bool) -> None:
    """Print results: trail, page, shares of the clauses, snippet."""
    for note in response.notes:
        out.print(f"[yellow]note[/] {safe(note)}")
    meant: dict[str, list[str]] = {}
    for correction in response.corrections:
        if correction.is_shown:
            meant.setdefault(correction.typed, []).append(correction.found)
    for typed, found in meant.items():
        out.print(f"[yellow]corrected[/] {safe(typed)} → {safe(', '.join(found))}")
    if explain and response.feedback:
        words = safe(", ".join(response.feedback))
        out.print(f"[yellow]little found[/] searched for words of the best results, too: {words}")
    for number, result in enumerate(response.results, start=1):
        trail = safe(result.breadcrumb_trail) or "[dim]no heading[/]"
        out.print(f"[bold]{number}. {trail}[/]")
        reranked = "" if result.rerank_score is None else f", reranked {result.rerank_score:.3f}"
        out.print(
            f"   [cyan]{safe_line(result.document)}[/], {pages(result)} · relevance "
            f"{result.relevance:.2f}{reranked} · score {result.score:.4f} = {_shares(result)}"
        )
        out.print(Text("   " + snippet(result.content), style="dim"), soft_wrap=False)
        if result.context is not None:
            out.print(Text("   " + one_line(result.context), style="dim italic"), soft_wrap=False)
        if explain:
            out.print(_details(result))
    if explain and response.seconds:
        times = ", ".join(f"{name} {1000 * s:.0f} ms" for name, s in response.seconds.items())
        out.print(f"[dim]{times}[/]")


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "page"), counted(2, "page")
    ('1 page', '2 pages')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def print_statements(statements: Sequence[Statement]) -> None:
    """Print SQL that can be pasted into psql; long values are cut, `--json` has them whole."""
    for statement in statements:
        heading = ": ".join(filter(None, (statement.name, statement.comment)))
        out.print(f"-- {heading}".rstrip(), markup=False)
        out.print(_LONG_VALUE.sub(r"\1…\2", statement.sql) + "\n", markup=False)


def pages(place: Any) -> str:
    """Return `page 3`, `pages 3–4`, or `page 4 of 3–4` where one of them is likelier."""
    if place.page_start == place.page_end:
        return f"page {place.page_start}"
    if getattr(place, "pages", None):
        return f"page {place.pages[0]} of {place.page_start}–{place.page_end}"
    return f"pages {place.page_start}–{place.page_end}"


def snippet(content: str) -> str:
    """Return the beginning of a chunk's text on one line."""
    text = visible(content)
    text = " ".join(_TABLE_RULE.sub(" ", text).replace(" | ", " · ").split())
    if len(text) <= SNIPPET_CHARACTERS:
        return text
    return text[:SNIPPET_CHARACTERS].rsplit(" ", 1)[0] + " …"


def _shares(result: SearchResult) -> str:
    whole = result.score or 1.0
    return " + ".join(
        f"{_clause(detail)} {detail.contribution:.4f} ({detail.contribution / whole:.0%})"
        for detail in result.details
    )


def _clause(detail: ScoreDetail) -> str:
    """Return `vector`, or `text.words` where a leg has several clauses."""
    return detail.leg if detail.leg == detail.clause else f"{detail.leg}.{detail.clause}"


def _details(result: SearchResult) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 3), header_style="dim")
    for column in ("leg", "clause", "raw score", "rank", "weight", "contribution"):
        table.add_column(column, justify="left" if column in ("leg", "clause") else "right")
    for detail in result.details:
        table.add_row(
            detail.leg,
            detail.clause,
            f"{detail.raw_score:.4f}",
            str(detail.rank),
            f"{detail.weight:g}",
            f"{detail.contribution:.5f}",
        )
    table.add_row("sum", "", "", "", "", f"{result.score:.5f}", style="bold")
    return table


def print_status(
    counts: Any, plan: SyncPlan, documents: Sequence[Any], roots: Sequence[Any]
) -> None:
    """Print how much the store holds, the folders, and every document that failed."""
    out.print(
        f"[bold]{counts.ready}[/] of {counts.documents} documents ready, {counts.pages} pages, "
        f"{counts.chunks} chunks, {counts.vectors} vectors, "
        f"{counts.database_bytes / 2**20:.0f} MB in Postgres"
    )
    for root in roots:
        out.print(f"source     {safe_line(root.root)} [dim]({root.origin})[/]")
    if plan.stale:
        out.print(f"[yellow]{len(plan.stale)} documents wait for the next sync[/]: run `rag sync`")
    quarantined = {state.source_hash for state in plan.failed}
    for document in documents:
        if document.status != "failed":
            continue
        out.print(f"[red]failed[/]     {safe(document.failure_reason)}")
        waits = ", in quarantine until `rag retry`" if document.source_hash in quarantined else ""
        uris = safe_line(", ".join(document.uris))
        out.print(
            f"           [dim]{uris}; tried {document.failure_count} "
            f"time{'s' if document.failure_count > 1 else ''} at {document.failure_stage}{waits}[/]"
        )
    warned = [document for document in documents if document.warnings]
    for document in warned:
        for warning in document.warnings:
            out.print(
                f"[yellow]warning[/]    {safe_line(Path(document.uris[0]).name)}: {safe(warning)}"
            )
