"""The worker pool: results as they come, and a crash costs just the task at fault."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import time
from pathlib import Path
from typing import cast

import psutil
import pytest

from rag_pipeline.sync.workers.worker_limits import Limits, WorkerCrashedError
from rag_pipeline.sync.workers.worker_pool import WorkerPool
from rag_pipeline.sync.workers.worker_process import start_forkserver


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


def misbehave(name: str) -> str:
    match name:
        case "crash":
            ctypes.string_at(0)
        case "exit":
            os._exit(3)
        case "raise":
            raise ValueError("of the function")
        case "loop":
            while True:
                pass
        case "regex":  # holds the interpreter's lock, and no signal handler of Python's runs
            re.match(r"(a+)+$", "a" * 64 + "b")
        case "hang":
            time.sleep(60)
        case "bomb":
            kept = []
            while True:
                kept.append(bytearray(10_000_000))
        case "native bomb":  # beyond what Python allocates and checks
            calls = ctypes.CDLL(None)
            calls.malloc.restype = ctypes.c_void_p
            for _ in range(1000):
                ctypes.memset(calls.malloc(10_000_000), 1, 10_000_000)
    return name.upper()


def small(name: str) -> Limits:
    """Small for the task that is to meet a limit; good ones may have to wait for a busy machine."""
    seconds = 0.5 if name in ("loop", "regex") else 60.0
    idle_seconds = 0.6 if name == "hang" else 60.0
    return Limits(seconds=seconds, idle_seconds=idle_seconds, memory=400 * 2**20)


def told(name: str) -> str:
    """Do a bad task among good ones, which must not notice; return what is told of the bad one."""
    good = [f"good {number}" for number in range(4)]
    tasks = [*good[:2], name, *good[2:]]
    results = dict(WorkerPool[str, str](misbehave, 2, small).run(tasks, len(tasks)))
    bad = results.pop(name)
    assert isinstance(bad, WorkerCrashedError)
    assert results == {task: task.upper() for task in good}
    return str(bad)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("crash", "the process that read it died (SIGSEGV)"),
        ("exit", "the process that read it died (exit status 3)"),
        ("loop", "reading it took more than 0.5 seconds of processor time"),
        ("regex", "reading it took more than 0.5 seconds of processor time"),
        ("hang", "reading it hangs: nothing was done for 0.6 seconds"),
        ("bomb", "reading it took more than 400 MB of memory"),
    ],
)
def test_what_is_told_of_a_bad_task(name: str, reason: str) -> None:
    assert told(name) == reason


def test_a_bomb_in_native_code_is_stopped() -> None:
    # Where the system refuses the memory it is a crash; where the parent sees it, the limit.
    assert re.search(r"SIGSEGV|400 MB", told("native bomb"))


def test_an_error_of_the_function_is_raised_where_results_are_taken() -> None:
    with pytest.raises(ValueError, match="of the function"):
        list(WorkerPool[str, str](misbehave, 1).run(["raise"]))


def process_id(kept: int) -> int:
    """Keep some memory in use, as a library's cache would; say which process this is."""
    KEPT.append(bytearray(kept))
    return os.getpid()


KEPT: list[bytearray] = []


def test_a_process_that_keeps_much_memory_does_no_further_task() -> None:
    pool = WorkerPool[int, int](process_id, 1, lambda _: Limits(memory=600 * 2**20))
    (_, first), (_, second) = pool.run([1, 2])
    assert first == second
    (_, first), (_, second) = pool.run([400 * 2**20, 1])
    assert first != second


def crash_after_a_fault(number: int) -> int:
    """Task 1 spoils the process; the next task in it crashes."""
    if KEPT:
        os.kill(os.getpid(), signal.SIGSEGV)
    if number == 1:
        KEPT.append(bytearray(1))
    return number


def test_a_task_that_dies_by_an_earlier_ones_fault_is_done_in_a_fresh_process() -> None:
    pool = WorkerPool[int, int](crash_after_a_fault, 1)
    assert sorted(pool.run([1, 2, 3])) == [(1, 1), (2, 2), (3, 3)]


def test_results_left_untaken_leave_no_process() -> None:
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    results = WorkerPool[int, int](process_id, 2).run(range(1, 100))
    pids = {cast(int, next(results)[1]) for _ in range(5)}
    results.close()  # type: ignore[attr-defined]
    assert not any(psutil.pid_exists(pid) for pid in pids - before)


def blocked_signals(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    (line,) = (line for line in status.splitlines() if line.startswith("SigBlk"))
    return int(line.split()[1], 16)


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs /proc")
def test_ctrl_c_reaches_no_worker_and_not_what_forks_them() -> None:
    """Importing their modules takes long enough for one, which would print a traceback."""
    ((_, ids),) = WorkerPool[int, tuple[int, int]](family, workers=1).run([0])
    assert isinstance(ids, tuple)
    assert all(blocked >> (signal.SIGINT - 1) & 1 for blocked in ids)


def family(_: int) -> tuple[int, int]:
    return blocked_signals(os.getpid()), blocked_signals(os.getppid())
