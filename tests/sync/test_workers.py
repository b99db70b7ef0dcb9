"""The worker pool: results as they come, and a crash costs just the task at fault."""

from __future__ import annotations

import os
import signal

from rag_pipeline.sync.workers import WorkerCrashedError, WorkerPool, start_forkserver


def square_or_die(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def test_a_crash_costs_one_task() -> None:
    pool = WorkerPool[int, int](square_or_die, workers=2)
    results = dict(pool.run(list(range(8))))
    assert isinstance(results.pop(3), WorkerCrashedError)
    assert results == {number: number * number for number in (0, 1, 2, 4, 5, 6, 7)}


def test_no_tasks_no_processes() -> None:
    assert list(WorkerPool[int, int](square_or_die, workers=2).run([])) == []


def test_workers_of_a_forkserver_that_was_started_early() -> None:
    start_forkserver()
    assert dict(WorkerPool[int, int](square_or_die, workers=1).run([2])) == {2: 4}
