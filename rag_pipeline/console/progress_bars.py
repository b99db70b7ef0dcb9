"""Progress bars of the command line, on standard error."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)

from rag_pipeline.console.embedding_pace import EmbeddingPace
from rag_pipeline.console.terminal import err
from rag_pipeline.sync.progress import Progress as Step
from rag_pipeline.sync.progress import listening
from rag_pipeline.text import counted

if TYPE_CHECKING:
    from rag_pipeline.sync.planning.plan import SyncPlan

STAGE_TITLES = {
    "document_blocks": "parse",
    "document_structure": "structure",
    "contextual_chunks": "chunk",
    "chunk_embeddings": "embed",
}


STAGES = tuple(STAGE_TITLES)
EMBEDDINGS = STAGES[-1]


@contextmanager
def sync_progress(enabled: bool) -> Iterator[Callable[[SyncPlan], None]]:
    """Show a bar per stage while a sync runs, or plain lines without a terminal.

    Call the yielded function with the plan as soon as there is one.
    """
    if not enabled:
        yield lambda _: None
        return
    with _bars() if err.is_terminal else _lines() as expect:
        yield expect


@contextmanager
def _lines() -> Iterator[Callable[[SyncPlan], None]]:
    pace = EmbeddingPace()
    done = 0

    def log(step: Step) -> None:
        nonlocal done
        pace.note(step)
        if step.stage == EMBEDDINGS and step.documents:
            done += step.documents
            told = pace.describe()
            err.print(f"{counted(done, 'document')} embedded{f', {told}' if told else ''}")

    with listening(log):
        yield lambda plan: pace.expect(_size(plan))


@contextmanager
def _bars() -> Iterator[Callable[[SyncPlan], None]]:
    progress = Progress(
        TextColumn("{task.description:10}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[detail]}"),
        TimeElapsedColumn(),
        console=err,
        transient=True,
    )
    tasks = {
        stage: progress.add_task(title, total=None, detail="")
        for stage, title in STAGE_TITLES.items()
    }
    counts = dict.fromkeys(STAGE_TITLES, 0)
    begun: dict[str, float] = {}
    pace = EmbeddingPace()

    def show(step: Step) -> None:
        if step.stage not in tasks:
            # Rows of databases follow the documents.
            tasks[step.stage] = progress.add_task("rows", total=None, detail="")
            counts[step.stage] = 0
        pace.note(step)
        counts[step.stage] += step.pages or step.texts
        seconds = time.monotonic() - begun.setdefault(step.stage, time.monotonic())
        count = counts[step.stage]
        if step.stage == EMBEDDINGS:
            told = pace.describe()
            detail = f"{count} texts{f', {told}' if told else ''}" if count else ""
        else:
            detail = f"{count} pages" if count else ""
            if count and seconds > 1:
                detail += f", {count / seconds:.0f}/s"
        progress.update(tasks[step.stage], advance=step.documents, detail=detail)

    def expect(plan: SyncPlan) -> None:
        pace.expect(_size(plan))
        for position, stage in enumerate(STAGES):
            total = sum(STAGES.index(first) <= position for first in plan.stale.values())
            progress.update(tasks[stage], total=total)

    with progress, listening(show):
        yield expect


def _size(plan: SyncPlan) -> int:
    return sum(state.size for state in plan.states.values())


@contextmanager
def counting(title: str, total: int, enabled: bool) -> Iterator[Callable[[], None]]:
    """Show a bar of `total` steps on a terminal; call the yielded function after each step."""
    if not (enabled and err.is_terminal):
        yield lambda: None
        return
    columns = (TextColumn("{task.description:10}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=err, transient=True) as progress:
        task = progress.add_task(title, total=total)
        yield lambda: progress.advance(task)
