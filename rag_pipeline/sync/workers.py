"""A pool of worker processes in which a crash costs one document, not the sync."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext, ForkServerProcess
from types import ModuleType
from typing import Any, Generic, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


class WorkerCrashedError(Exception):
    """The process that worked on a task died: a crash in native code, or out of memory."""


class WorkerPool(Generic[Task, Result]):
    """Runs `function` over tasks in forkserver processes, results as they come.

    Fork is not safe here (the database driver and onnxruntime have threads); forkserver is, and
    starts faster than spawn. At most `window` tasks wait in the pool, so that memory stays flat.
    """

    def __init__(self, function: Callable[[Task], Result], workers: int) -> None:
        self._function = function
        self._workers = workers
        self._window = workers * 2

    def run(
        self, tasks: Iterable[Task], count: int | None = None
    ) -> Iterator[tuple[Task, Result | WorkerCrashedError]]:
        """Yield (task, result) in the order of completion.

        `tasks` are taken as processes become free; `count` is how many there will be, where that
        is known: no more processes are started than there are tasks. When a process dies, every
        unfinished task is done again alone, to find the one at fault.
        """
        source = iter(tasks)
        workers = self._workers if count is None else max(1, min(self._workers, count))
        task = next(source, None)
        while task is not None:
            unfinished: list[Task] = []
            with self._executor(workers) as executor:
                pending: dict[Future[Result], Task] = {}
                while (task is not None and not unfinished) or pending:
                    while task is not None and not unfinished and len(pending) < self._window:
                        try:
                            pending[executor.submit(self._function, task)] = task
                        except BrokenProcessPool:
                            unfinished.append(task)
                        task = next(source, None)
                    done, _ = wait(pending, return_when=FIRST_COMPLETED)
                    for future in done:
                        ended = pending.pop(future)
                        try:
                            result = future.result()
                        except BrokenProcessPool:
                            unfinished.append(ended)
                        else:
                            yield ended, result
            for lost in unfinished:
                yield lost, self._run_alone(lost)

    def _run_alone(self, task: Task) -> Result | WorkerCrashedError:
        with self._executor(1) as executor:
            try:
                return executor.submit(self._function, task).result()
            except BrokenProcessPool:
                return WorkerCrashedError("the worker process died")

    def _executor(self, workers: int) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            workers, mp_context=_worker_context(), initializer=die_with_parent
        )


def start_forkserver() -> None:
    """Start the process that forks the workers, and do not wait for it.

    Its imports take seconds: whoever knows early that there will be work lets them run beside its
    own. Without this call the first pool starts it.
    """
    _worker_context()
    with _main_hidden():
        forkserver.ensure_running()


def _worker_context() -> _WorkerContext:
    context = _WorkerContext()
    context.set_forkserver_preload(["rag_pipeline.sync.stages"])
    return context


_hiding = threading.Lock()


@contextmanager
def _main_hidden() -> Iterator[None]:
    """Show `multiprocessing` an empty main script."""
    with _hiding:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


class _WorkerProcess(ForkServerProcess):
    """A process that does not run the user's script again.

    `multiprocessing` imports the main script in every child, so that a script without
    `if __name__ == "__main__"` would start a sync within its own workers. What the workers run is
    in this package: they need nothing of the script, and are started without a word of it.
    """

    @staticmethod
    def _Popen(process_obj: Any) -> Any:  # noqa: N802 - the name is multiprocessing's
        with _main_hidden():
            return ForkServerProcess._Popen(process_obj)


class _WorkerContext(ForkServerContext):
    Process = _WorkerProcess


def default_workers() -> int:
    """Return one worker per core that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def die_with_parent() -> None:
    """End this worker when its parent is killed: children of a forkserver outlive it otherwise."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()
