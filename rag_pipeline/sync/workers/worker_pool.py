"""A pool of watched worker processes."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from rag_pipeline.sync.workers.worker_limits import Limits, WorkerCrashedError
from rag_pipeline.sync.workers.worker_process import Raised, Worker

Task = TypeVar("Task")
Result = TypeVar("Result")


class WorkerPool(Generic[Task, Result]):
    """Runs `function` over tasks in forkserver processes and yields results as they complete.

    Fork is not safe here, because the database driver and onnxruntime have threads; forkserver is,
    and starts faster than spawn. At most two tasks per worker are queued, so memory stays flat.

    A thread watches each process, so the task at fault is known and the others continue.
    `concurrent.futures` gives up all processes when one dies, and has no limits.
    """

    def __init__(
        self,
        function: Callable[[Task], Result],
        workers: int,
        limits: Callable[[Task], Limits] = lambda _: Limits(),
    ) -> None:
        self._function = function
        self._workers = workers
        self._limits = limits
        self._done: queue.SimpleQueue[tuple[Task, Any]] = queue.SimpleQueue()

    @property
    def is_ahead(self) -> bool:
        """Whether results wait to be taken: whoever takes them is slower than the processes."""
        return not self._done.empty()

    def run(
        self, tasks: Iterable[Task], count: int | None = None
    ) -> Iterator[tuple[Task, Result | WorkerCrashedError]]:
        """Yield (task, result) in order of completion.

        `tasks` are consumed as processes become free. `count`, if known, is their number, and caps
        the number of processes. A task whose process died is retried once in a fresh one, since an
        earlier task may be at fault. Raises what `function` raises.
        """
        source = iter(tasks)
        workers = self._workers if count is None else max(1, min(self._workers, count))
        waiting: queue.SimpleQueue[tuple[Task] | None] = queue.SimpleQueue()
        done: queue.SimpleQueue[tuple[Task, Any]] = queue.SimpleQueue()
        self._done = done
        stopped = threading.Event()
        threads = [
            threading.Thread(target=self._serve, args=(waiting, done, stopped), daemon=True)
            for _ in range(workers)
        ]
        unfinished = 0
        try:
            task = next(source, None)
            if task is not None:
                for thread in threads:
                    thread.start()
            while task is not None or unfinished:
                while task is not None and unfinished < workers * 2:
                    waiting.put((task,))
                    unfinished += 1
                    task = next(source, None)
                ended, result = done.get()
                unfinished -= 1
                if isinstance(result, Raised):
                    raise result.error
                yield ended, result
        finally:
            stopped.set()
            for _ in threads:
                waiting.put(None)
            for thread in threads:
                if thread.ident is not None:
                    thread.join()

    def _serve(
        self,
        waiting: queue.SimpleQueue[tuple[Task] | None],
        done: queue.SimpleQueue[tuple[Task, Any]],
        stopped: threading.Event,
    ) -> None:
        """Run tasks in one process at a time; each call has its own thread."""
        worker: Worker | None = None
        try:
            while (item := waiting.get()) is not None and not stopped.is_set():
                (task,) = item
                try:
                    worker = worker or Worker(self._function)
                    result = worker.do(task, self._limits(task))
                    if worker.died_of_itself and not stopped.is_set():
                        worker = Worker(self._function)
                        result = worker.do(task, self._limits(task))
                except Exception as error:  # the consumer waits for every task
                    result = Raised(error)
                if worker is not None and not worker.is_fit:
                    worker.close()
                    worker = None
                done.put((task, result))
        finally:
            if worker is not None:
                worker.close()


def default_workers() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
