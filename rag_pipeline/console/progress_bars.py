"""Progress bars of the command line, on standard error."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from rag_pipeline.console.terminal import counted, err
from rag_pipeline.sync.progress import Progress as Step
from rag_pipeline.sync.progress import listening

STAGE_TITLES = {
    "document_blocks": "parse",
    "document_structure": "structure",
    "contextual_chunks": "chunk",
    "chunk_embeddings": "embed",
}


@contextmanager
def sync_progress(enabled: bool) -> Iterator[Progress | None]:
    """Show a bar per stage while a sync runs, or plain lines without a terminal."""
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
            # Rows of databases follow the documents.
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
    """Show a bar of `total` steps on a terminal; call the yielded function after each step."""
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
