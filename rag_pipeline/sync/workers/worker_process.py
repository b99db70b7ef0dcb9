"""One worker process: started by the forkserver, given tasks through a pipe, and watched."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext
from types import ModuleType
from typing import Any

import psutil

from rag_pipeline.sync.workers.worker_limits import (
    Limits,
    ProcessWatch,
    WorkerCrashedError,
    too_much_memory,
)

LOOK_SECONDS = 0.2
"""How often the time and memory of a busy process are checked."""
EXIT_INTERRUPTED = 130


@dataclass(frozen=True)
class Raised:
    """An exception raised by the function, to be raised again where results are consumed."""

    error: BaseException


_starting = threading.Lock()
"""Serialises starts: `multiprocessing` polls all its children whenever one is started."""


class Worker:
    """One process and the pipe to it."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.died_of_itself = False
        self.is_fit = True
        """Whether it can take another task."""
        self._connection, theirs = multiprocessing.Pipe()
        with _starting:
            self._process = _worker_context().Process(
                target=_work, args=(function, theirs), daemon=True
            )
            with _main_hidden(), interrupts_held():
                self._process.start()
        theirs.close()
        # psutil also compares the start time, since PIDs are reused.
        self._running = psutil.Process(self._process.pid)

    def do(self, task: Any, limits: Limits) -> Any:
        """Return the function's result, a `WorkerCrashedError`, or `Raised`."""
        try:
            self._connection.send((task, limits.memory))
            watch = ProcessWatch(self._running, limits)
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

    def _judged(self, reply: tuple[str, Any], limits: Limits, watch: ProcessWatch) -> Any:
        kind, value = reply
        if kind == "memory":
            self.is_fit = False
            return too_much_memory(limits)
        if limits.memory is not None and watch.memory() > limits.memory / 2:
            self.is_fit = False  # memory it holds would count against the next task
        return value if kind == "result" else Raised(value)

    def _crashed(self) -> WorkerCrashedError:
        self.close()
        code = self._process.exitcode
        self.died_of_itself = code not in (EXIT_INTERRUPTED, -signal.SIGINT)
        return WorkerCrashedError(f"the process that read it died ({_exit_reason(code)})")

    def close(self) -> None:
        """Kill the process and its children."""
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


def _exit_reason(code: int | None) -> str:
    """Describe how a process ended.

    >>> _exit_reason(-11), _exit_reason(3)
    ('SIGSEGV', 'exit status 3')
    """
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit status {code}"


def _work(function: Callable[[Any], Any], connection: Connection) -> None:
    """Run the tasks that arrive through the pipe until it closes; runs in the child process."""
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
    except (EOFError, BrokenPipeError):
        return
    except KeyboardInterrupt:
        os._exit(EXIT_INTERRUPTED)


def _reserve_at_most(memory: int | None) -> None:
    """Limit how many more bytes this process may allocate; None removes the limit.

    Only Linux enforces it; elsewhere the parent's checks must do. Beyond the limit a Python
    allocation raises `MemoryError`, and one in native code crashes.
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
    """Start the process that forks the workers, without waiting for it.

    Its imports take seconds, so a caller that expects work overlaps them with its own. Otherwise
    the first pool starts it.
    """
    _worker_context()
    with _main_hidden(), interrupts_held():
        forkserver.ensure_running()


def _worker_context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["rag_pipeline.sync.documents.stages", "rag_pipeline.sync.workers.shared_imports"]
    )
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


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach: they end with this one, without tracebacks.

    The forkserver protects itself only once its imports are done. Children inherit the mask.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # starting it would lift the mask again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def die_with_parent() -> None:
    """Exit when the parent process is killed, which a forkserver's children otherwise survive."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()
