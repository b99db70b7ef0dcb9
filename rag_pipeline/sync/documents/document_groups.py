"""Small documents share a worker's round trip; what goes wrong over a group is found one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rag_pipeline.sync.documents.stage_tasks import StageResult, StageTask, limits_of
from rag_pipeline.sync.workers.worker_limits import Limits, WorkerCrashedError
from rag_pipeline.sync.workers.worker_pool import WorkerPool

SMALL_BYTES = 50_000
"""Of a document that shares a worker's round trip with others."""
GROUP = 12
"""Documents that share one at most."""

Group = tuple[StageTask, ...]
Result = StageResult | WorkerCrashedError


def run_group(tasks: Group) -> list[StageResult]:
    """Run the stages of several documents, one after the other, in a worker process."""
    # The process that hands out tasks has no use for the stages.
    from rag_pipeline.sync.documents.stages import run_stages

    return [run_stages(task) for task in tasks]


class GroupPool:
    """Runs documents' stages in worker processes."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._pool = WorkerPool[Group, list[StageResult]](run_group, workers, _limits)

    @property
    def is_ahead(self) -> bool:
        """Whether results wait to be taken."""
        return self._pool.is_ahead

    def run(
        self, tasks: Iterable[StageTask], sizes: Mapping[str, int]
    ) -> Iterator[list[tuple[StageTask, Result]]]:
        """Yield what became of tasks, several at once where they shared a round trip.

        `sizes`: bytes of all tasks' documents, by source_hash; those of which the bytes are on
        this machine may share.
        """
        yield from self._run(grouped(tasks, sizes, self._workers), len(sizes))

    def run_one(self, task: StageTask) -> Result:
        """Return what became of one task."""
        (((_, result),),) = self._run([(task,)], 1)
        return result

    def _run(self, groups: Iterable[Group], count: int) -> Iterator[list[tuple[StageTask, Result]]]:
        alone: list[StageTask] = []
        for group, results in self._pool.run(groups, count):
            if not isinstance(results, WorkerCrashedError):
                yield list(zip(group, results, strict=True))
            elif len(group) == 1:
                yield [(group[0], results)]
            else:
                alone += group
        if alone:
            yield from self._run([(task,) for task in alone], len(alone))


def grouped(tasks: Iterable[StageTask], sizes: Mapping[str, int], workers: int) -> Iterator[Group]:
    """Put small documents together; others stay alone.

    Groups get smaller towards the end, so that the workers end together.
    """
    left = sum(size <= SMALL_BYTES for size in sizes.values())
    group: list[StageTask] = []
    for task in tasks:
        if sizes[task.source_hash] > SMALL_BYTES or task.error is not None:
            yield (task,)
            continue
        group.append(task)
        if len(group) >= min(GROUP, left // (2 * workers)):
            left -= len(group)
            yield tuple(group)
            group = []
    if group:
        yield tuple(group)


def _limits(group: Group) -> Limits:
    """Return the limits of one of them: where together they exceed it, each is tried alone."""
    return limits_of(group[0])
