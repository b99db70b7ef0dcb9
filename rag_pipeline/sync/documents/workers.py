"""Worker processes in which a crash, a loop or a bomb costs one document, not the sync."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import forkserver
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext
from types import ModuleType
from typing import Any, Generic, TypeVar

import psutil

Task = TypeVar("Task")
Result = TypeVar("Result")

LOOK_SECONDS = 0.2
"""How often the time and the memory of a busy process are looked at."""
EXIT_INTERRUPTED = 130


class WorkerCrashedError(Exception):
    """The process that worked on a task died: a crash in native code, or out of memory."""


class WorkerLimitError(WorkerCrashedError):
    """The task took more than its limits; `limit` is the name of the one, as in `Limits`."""

    def __init__(self, message: str, limit: str) -> None:
        super().__init__(message)
        self.limit = limit


@dataclass(frozen=True)
class Limits:
    """What one task may take; None is without limit."""

    seconds: float | None = None
    """Processor seconds: those of a busy machine's other work, and waiting, do not count."""
    idle_seconds: float | None = None
    """Seconds in which neither the process nor a child of it works: it hangs."""
    memory: int | None = None
    """Bytes of resident memory."""


class WorkerPool(Generic[Task, Result]):
    """Runs `function` over tasks in forkserver processes, results as they come.

    Fork is not safe here (the database driver and onnxruntime have threads); forkserver is, and
    starts faster than spawn. At most two tasks a worker wait in the pool, so that memory stays
    flat.

    Each process is watched by a thread of its own, so that the task at fault is known and the
    others go on: `concurrent.futures` gives up all processes when one dies, and has no limits.
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

    def run(
        self, tasks: Iterable[Task], count: int | None = None
    ) -> Iterator[tuple[Task, Result | WorkerCrashedError]]:
        """Yield (task, result) in the order of completion.

        `tasks` are taken as processes become free; `count` is how many there will be, where that
        is known: no more processes are started than there are tasks. A task whose process died is
        done again in a fresh one, since the fault may be an earlier task's.
        """
        source = iter(tasks)
        workers = self._workers if count is None else max(1, min(self._workers, count))
        waiting: queue.SimpleQueue[tuple[Task] | None] = queue.SimpleQueue()
        done: queue.SimpleQueue[tuple[Task, Any]] = queue.SimpleQueue()
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
                if isinstance(result, _Raised):
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
        """Have tasks done by one process at a time; a thread of its own."""
        worker: _Worker | None = None
        try:
            while (item := waiting.get()) is not None and not stopped.is_set():
                (task,) = item
                try:
                    worker = worker or _Worker(self._function)
                    result = worker.do(task, self._limits(task))
                    if worker.died_of_itself and not stopped.is_set():
                        worker = _Worker(self._function)
                        result = worker.do(task, self._limits(task))
                except Exception as error:  # the consumer waits for every task
                    result = _Raised(error)
                if worker is not None and not worker.is_fit:
                    worker.close()
                    worker = None
                done.put((task, result))
        finally:
            if worker is not None:
                worker.close()


@dataclass(frozen=True)
class _Raised:
    """An exception of the function, to be raised where the results are taken."""

    error: BaseException


_starting = threading.Lock()
"""`multiprocessing` looks after all its children whenever one is started."""


class _Worker:
    """One process, and the pipe to it."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.died_of_itself = False
        self.is_fit = True
        """Whether it can take another task."""
        self._connection, theirs = multiprocessing.Pipe()
        with _starting:
            self._process = _worker_context().Process(
                target=_work, args=(function, theirs), daemon=True
            )
            with _main_hidden():
                self._process.start()
        theirs.close()
        # It knows the process by its start as well: numbers of dead ones are given again.
        self._running = psutil.Process(self._process.pid)

    def do(self, task: Any, limits: Limits) -> Any:
        """Return the function's result, a `WorkerCrashedError`, or `_Raised`."""
        try:
            self._connection.send((task, limits.memory))
            watch = _Watch(self._running, limits)
            while True:
                ready = wait([self._connection, self._process.sentinel], LOOK_SECONDS)
                if self._connection in ready:
                    return self._judged(self._connection.recv(), limits, watch)
                if ready:
                    break
                if exceeded := watch.exceeded():
                    self.close()
                    return exceeded
        except (EOFError, OSError, psutil.NoSuchProcess):
            pass  # it died
        return self._crashed()

    def _judged(self, reply: tuple[str, Any], limits: Limits, watch: _Watch) -> Any:
        kind, value = reply
        if kind == "memory":
            self.is_fit = False
            return _too_much_memory(limits)
        if limits.memory is not None and watch.memory() > limits.memory / 2:
            self.is_fit = False  # what it keeps would count against the next
        return value if kind == "result" else _Raised(value)

    def _crashed(self) -> WorkerCrashedError:
        self.close()
        code = self._process.exitcode
        self.died_of_itself = code not in (EXIT_INTERRUPTED, -signal.SIGINT)
        return WorkerCrashedError(f"the process that read it died ({_exit_reason(code)})")

    def close(self) -> None:
        """End the process and what it started."""
        self.is_fit = False
        with contextlib.suppress(psutil.Error):
            for child in self._running.children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    child.kill()
        with _starting:
            if self._process.is_alive():
                self._process.kill()
            self._process.join()
        self._connection.close()


class _Watch:
    """Compares what a process takes for one task with its limits."""

    def __init__(self, process: psutil.Process, limits: Limits) -> None:
        self._limits = limits
        self._process = process
        self._used_before = self._seconds()
        self._used = self._used_before
        self._children = 0.0
        self._worked_at = time.monotonic()

    def _seconds(self) -> float:
        times = self._process.cpu_times()
        return float(times.user + times.system)

    def memory(self) -> int:
        """Return the resident bytes; 0 where the process is gone."""
        try:
            return int(self._process.memory_info().rss)
        except psutil.Error:
            return 0

    def exceeded(self) -> WorkerLimitError | None:
        """Return which limit is exceeded, if one is. Raises `psutil.NoSuchProcess`."""
        limits = self._limits
        if limits.memory is not None and self.memory() > limits.memory:
            return _too_much_memory(limits)
        used = self._seconds()
        if limits.seconds is not None and used - self._used_before > limits.seconds:
            return WorkerLimitError(
                f"reading it took more than {limits.seconds:g} seconds of processor time",
                "seconds",
            )
        if limits.idle_seconds is None:
            return None
        if used > self._used or self._children_work():
            self._used, self._worked_at = used, time.monotonic()
        elif time.monotonic() - self._worked_at > limits.idle_seconds:
            return WorkerLimitError(
                f"reading it hangs: nothing was done for {limits.idle_seconds:g} seconds",
                "idle_seconds",
            )
        return None

    def _children_work(self) -> bool:
        seconds = 0.0
        for child in self._process.children(recursive=True):
            with contextlib.suppress(psutil.Error):
                times = child.cpu_times()
                seconds += times.user + times.system
        before, self._children = self._children, seconds
        return seconds != before


def _too_much_memory(limits: Limits) -> WorkerLimitError:
    megabytes = (limits.memory or 0) / 2**20
    return WorkerLimitError(f"reading it took more than {megabytes:,.0f} MB of memory", "memory")


def _exit_reason(code: int | None) -> str:
    """Say in words how a process ended.

    >>> _exit_reason(-11), _exit_reason(3)
    ('SIGSEGV', 'exit status 3')
    """
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit status {code}"


def _work(function: Callable[[Any], Any], connection: Connection) -> None:
    """Do the tasks that come through the pipe, until it is closed; a process of its own."""
    die_with_parent()
    try:
        while True:
            task, memory = connection.recv()
            _reserve_at_most(memory)
            try:
                reply = ("result", function(task))
            except MemoryError:
                reply = ("memory", None)
            except Exception as error:
                reply = ("error", error)
            _reserve_at_most(None)
            connection.send(reply)
    except EOFError:
        return
    except KeyboardInterrupt:
        os._exit(EXIT_INTERRUPTED)


def _reserve_at_most(memory: int | None) -> None:
    """Let the process reserve so many bytes more than it has now; None is no limit.

    It is Linux that keeps this limit; elsewhere the parent's look at the memory has to do. A
    Python allocation beyond it is a `MemoryError`, one in native code a crash.
    """
    with contextlib.suppress(ImportError, AttributeError, ValueError, OSError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        soft = hard
        if memory is not None:
            soft = psutil.Process().memory_info().data + memory
            soft = soft if hard == resource.RLIM_INFINITY else min(soft, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def start_forkserver() -> None:
    """Start the process that forks the workers, and do not wait for it.

    Its imports take seconds: whoever knows early that there will be work lets them run beside its
    own. Without this call the first pool starts it.
    """
    _worker_context()
    with _main_hidden():
        forkserver.ensure_running()


def _worker_context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["rag_pipeline.sync.documents.stages"])
    return context


_hiding = threading.Lock()


@contextmanager
def _main_hidden() -> Iterator[None]:
    """Keep `multiprocessing` from running the user's main script again in every child.

    A script without `if __name__ == "__main__"` would start another sync inside its own workers,
    which need nothing from it.
    """
    with _hiding:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


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
