"""Pace of requests, by a clock that only moves when somebody sleeps."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from rag_pipeline.parsing.document_ai import DocumentAiParser
from rag_pipeline.parsing.document_ai.limiter import RequestLimiter
from tests.document_ai.conftest import SettingsMaker
from tests.document_ai.replies import make_manual, reply_of
from tests.document_ai.server import DocumentAiServer, Fault


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.now += seconds


def test_as_many_as_allowed_within_any_minute() -> None:
    clock = Clock()
    limiter = RequestLimiter(3, 1, clock=clock, sleep=clock.sleep)
    started = []
    for _ in range(7):
        with limiter.slot():
            started.append(clock.now - 1000)
            clock.now += 1  # each request takes a second
    assert started == [0, 1, 2, 60, 61, 62, 120]


def test_a_used_up_quota_holds_all() -> None:
    clock = Clock()
    limiter = RequestLimiter(100, 4, clock=clock, sleep=clock.sleep)
    limiter.hold(30)
    limiter.hold(5)
    with limiter.slot():
        assert clock.now == 1030


def test_not_more_at_once_than_allowed() -> None:
    limiter = RequestLimiter(1000, 2)
    running, most, lock = 0, 0, threading.Lock()

    def work() -> None:
        nonlocal running, most
        with limiter.slot():
            with lock:
                running += 1
                most = max(most, running)
            time.sleep(0.02)
            with lock:
                running -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 2


def test_ranges_are_asked_for_side_by_side(tmp_path: Path, settings_for: SettingsMaker) -> None:
    """Three requests that are all answered only when all three have come."""
    manual = make_manual(tmp_path / "manual.pdf", 9)
    together = threading.Event()
    with DocumentAiServer(reply_of(manual), [Fault(until=together)] * 3) as server:

        def watch() -> None:
            while len(server.calls) < 3:
                time.sleep(0.01)
            together.set()

        watcher = threading.Thread(target=watch)
        watcher.start()
        parsed = DocumentAiParser(settings_for(server, pages_per_request=3)).parse(manual)
        watcher.join()
    assert len(server.calls) == 3
    assert parsed.blocks["page_number"].drop_duplicates().tolist() == list(range(1, 10))
