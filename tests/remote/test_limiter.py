import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from rag_pipeline.remote import Bucket, Limiter, Stopped, Window
from rag_pipeline.remote.limiter import BURST_SECONDS


def test_a_bucket_lets_a_burst_pass_and_then_its_rate() -> None:
    bucket = Bucket(600)
    assert bucket.wait(0) == 0
    bucket.take(10 * BURST_SECONDS + 30)  # larger than the bucket: 30 in debt
    assert bucket.wait(0) == pytest.approx(3)
    assert bucket.wait(1) == pytest.approx(2)
    assert bucket.wait(3) == 0


def test_a_minute_sees_a_tenth_more_than_the_rate_at_most() -> None:
    bucket = Bucket(600)
    now = sent = 0.0
    while (now := now + bucket.wait(now)) < 60:
        bucket.take(25)
        sent += 25
    assert 600 <= sent <= 1.1 * 600 + 25


def test_no_rate_lets_everything_pass() -> None:
    bucket = Bucket(0)
    bucket.take(10**9)
    assert bucket.wait(0) == 0


def test_a_window_lets_no_more_pass_within_any_minute() -> None:
    window = Window(3)
    now = 1000.0
    passed = []
    for _ in range(7):
        now += window.wait(now)
        window.wait(now)
        window.take(1)
        passed.append(now - 1000)
        now += 1  # each request takes a second
    assert passed == [0, 1, 2, 60, 61, 62, 120]


class Clock:
    """A clock that waiting moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Waiting(threading.Event):
    """An event whose waits take no time but the clock's."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock

    def wait(self, timeout: float | None = None) -> bool:
        self.clock.now += timeout or 0
        return self.is_set()


def test_tokens_and_requests_are_both_limits() -> None:
    for requests, per_minute, tokens in ((60, 0, 1), (0, 60_000, 1_000)):
        clock = Clock()
        stop = Waiting(clock)
        both = Limiter(4, requests=Bucket(requests), tokens=Bucket(per_minute), clock=clock)
        for _ in range(66):
            with both.slot(tokens, stop):
                pass
        assert clock.now == pytest.approx(60, abs=1.1)


def test_a_pause_holds_everything_back() -> None:
    clock = Clock()
    paused = Limiter(4, requests=Window(100), clock=clock)
    paused.pause(5)
    paused.pause(2)
    with paused.slot(1, Waiting(clock)):
        assert clock.now == 5


def test_a_stop_ends_the_waiting() -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(Stopped), Limiter(4, requests=Bucket(0)).slot(1, stop):
        pass


def test_slots_are_shared_between_threads() -> None:
    shared = Limiter(2, requests=Bucket(0))
    lock = threading.Lock()
    pair = threading.Barrier(2)
    running = most = 0

    def work(_: int) -> None:
        nonlocal running, most
        with shared.slot():
            with lock:
                running += 1
                most = max(most, running)
            pair.wait(60)
            time.sleep(0.01)  # for a third one to come, were there a slot
            with lock:
                running -= 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(16)))
    assert most == 2
