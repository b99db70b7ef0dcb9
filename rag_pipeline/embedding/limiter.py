"""How fast requests may leave: tokens and requests per minute, and how many at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

BURST_SECONDS = 6.0
"""A bucket holds what flows in during so many seconds: a minute never sees more than 110 %."""


class Stopped(Exception):  # noqa: N818 - ends a thread, is no error
    """Another request failed for good; this one need not be sent any more."""


class Bucket:
    """A token bucket that may run into debt, so that what is larger than it passes too.

    Not safe for threads by itself. A `rate` (per second) of 0 lets everything pass.
    """

    def __init__(self, rate: float, now: float) -> None:
        self._rate = rate
        self._level = rate * BURST_SECONDS
        self._time = now

    def wait(self, now: float) -> float:
        """Return the seconds until the next may pass."""
        if not self._rate:
            return 0.0
        full = self._rate * BURST_SECONDS
        self._level = min(full, self._level + (now - self._time) * self._rate)
        self._time = now
        return max(0.0, -self._level / self._rate)

    def take(self, amount: float) -> None:
        """Let `amount` pass."""
        self._level -= amount


class Limiter:
    """Shared by all threads that send to one provider."""

    def __init__(
        self,
        *,
        tokens_per_minute: int,
        requests_per_minute: int,
        concurrency: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        now = clock()
        self._clock = clock
        self._lock = threading.Lock()
        self._slots = threading.Semaphore(concurrency)
        self._tokens = Bucket(tokens_per_minute / 60, now)
        self._requests = Bucket(requests_per_minute / 60, now)
        self._paused_until = now

    def pause(self, seconds: float) -> None:
        """Hold every request back: the provider asked for a rest."""
        with self._lock:
            self._paused_until = max(self._paused_until, self._clock() + seconds)

    @contextmanager
    def slot(self, tokens: int, stop: threading.Event) -> Iterator[None]:
        """Wait for the turn of a request of so many tokens; hold one of the slots meanwhile.

        Raises `Stopped` as soon as `stop` is set.
        """
        with self._slots:
            while (seconds := self._admit(tokens)) > 0:
                if stop.wait(seconds):
                    break
            if stop.is_set():
                raise Stopped
            yield

    def _admit(self, tokens: int) -> float:
        """Take what the request needs and return 0, or return the seconds to wait."""
        with self._lock:
            now = self._clock()
            seconds = max(
                self._paused_until - now, self._tokens.wait(now), self._requests.wait(now)
            )
            if seconds <= 0:
                self._tokens.take(tokens)
                self._requests.take(1)
            return seconds
