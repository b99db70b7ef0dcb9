import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from rag_pipeline.embedding.limiter import BURST_SECONDS, Bucket, Limiter, Stopped


def test_a_bucket_lets_a_burst_pass_and_then_its_rate() -> None:
    bucket = Bucket(rate=10, now=0)
    assert bucket.wait(0) == 0
    bucket.take(10 * BURST_SECONDS + 30)  # larger than the bucket: 30 in debt
    assert bucket.wait(0) == pytest.approx(3)
    assert bucket.wait(1) == pytest.approx(2)
    assert bucket.wait(3) == 0


def test_a_minute_sees_a_tenth_more_than_the_rate_at_most() -> None:
    bucket = Bucket(rate=10, now=0)
    now = sent = 0.0
    while (now := now + bucket.wait(now)) < 60:
        bucket.take(25)
        sent += 25
    assert 600 <= sent <= 1.1 * 600 + 25


def test_no_rate_lets_everything_pass() -> None:
    bucket = Bucket(rate=0, now=0)
    bucket.take(10**9)
    assert bucket.wait(0) == 0


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


def limiter(clock: Clock, **changes: int) -> Limiter:
    limits = {"tokens_per_minute": 0, "requests_per_minute": 0, "concurrency": 4} | changes
    return Limiter(clock=clock, **limits)


def test_tokens_and_requests_are_both_limits() -> None:
    for limits, tokens in (
        ({"requests_per_minute": 60}, 1),
        ({"tokens_per_minute": 60_000}, 1_000),
    ):
        clock = Clock()
        stop = Waiting(clock)
        both = limiter(clock, **limits)
        for _ in range(66):
            with both.slot(tokens, stop):
                pass
        assert clock.now == pytest.approx(60, abs=1.1)


def test_a_pause_holds_everything_back() -> None:
    clock = Clock()
    paused = limiter(clock)
    paused.pause(5)
    paused.pause(2)
    with paused.slot(1, Waiting(clock)):
        assert clock.now == 5


def test_a_stop_ends_the_waiting() -> None:
    clock = Clock()
    stop = Waiting(clock)
    stop.set()
    with pytest.raises(Stopped), limiter(clock).slot(1, stop):
        pass


def test_slots_are_shared_between_threads() -> None:
    shared = Limiter(tokens_per_minute=0, requests_per_minute=0, concurrency=2)
    stop = threading.Event()
    lock = threading.Lock()
    running = most = 0

    def work(_: int) -> None:
        nonlocal running, most
        with shared.slot(1, stop):
            with lock:
                running += 1
                most = max(most, running)
            time.sleep(0.01)
            with lock:
                running -= 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(16)))
    assert most == 2
