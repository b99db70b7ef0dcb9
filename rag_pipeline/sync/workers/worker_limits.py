"""What a task may use, and the watch that compares a process with these limits."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass

import psutil


class WorkerCrashedError(Exception):
    """The process working on a task died: it crashed in native code or ran out of memory."""


class WorkerLimitError(WorkerCrashedError):
    """The task exceeded a limit; `limit` is its field name in `Limits`."""

    def __init__(self, message: str, limit: str) -> None:
        super().__init__(message)
        self.limit = limit


@dataclass(frozen=True)
class Limits:
    """What one task may use; None means no limit."""

    seconds: float | None = None
    """Processor seconds; waiting and the machine's other work do not count."""
    idle_seconds: float | None = None
    """Seconds without processor use by the process or its children; it is then hanging."""
    memory: int | None = None
    """Bytes of resident memory."""


class ProcessWatch:
    """Compares a process's resource use during one task with the limits."""

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
        """Return the resident bytes; 0 if the process is gone."""
        try:
            return int(self._process.memory_info().rss)
        except psutil.Error:
            return 0

    def exceeded(self) -> WorkerLimitError | None:
        """Return the exceeded limit as an error, or None. Raises `psutil.NoSuchProcess`."""
        limits = self._limits
        if limits.memory is not None and self.memory() > limits.memory:
            return too_much_memory(limits)
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


def too_much_memory(limits: Limits) -> WorkerLimitError:
    """Return the error for a task that exceeded `limits.memory`."""
    megabytes = (limits.memory or 0) / 2**20
    return WorkerLimitError(f"reading it took more than {megabytes:,.0f} MB of memory", "memory")
