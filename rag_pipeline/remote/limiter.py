"""How fast requests may be sent: tokens and requests per minute, and how many at once."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

BURST_SECONDS = 6.0
"""A bucket holds what flows in during this time, so no minute sees more than 110 %."""


class Stopped(Exception):  # noqa: N818 - ends a thread, not an error
    """Another request failed for good, so this one need not be sent."""


class Pace(Protocol):
    """One limit per minute. Not thread-safe by itself."""

    def wait(self, now: float) -> float:
        """Return the seconds until the next request may pass; `now` never goes back."""
        ...

    def take(self, amount: float) -> None:
        """Let `amount` pass."""
        ...


class Bucket:
    """A token bucket that may go into debt, so that a request larger than the bucket passes too.

    0 per minute means no limit.
    """

    def __init__(self, per_minute: float) -> None:
        self._rate = per_minute / 60
        self._level = self._rate * BURST_SECONDS
        self._time = 0.0

    def wait(self, now: float) -> float:
        """See `Pace`."""
        if not self._rate:
            return 0.0
        full = self._rate * BURST_SECONDS
        self._level = min(full, self._level + (now - self._time) * self._rate)
        self._time = now
        return max(0.0, -self._level / self._rate)

    def take(self, amount: float) -> None:
        """See `Pace`."""
        self._level -= amount


class Window:
    """At most so many requests in any 60 seconds, which is how Google counts quotas."""

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._passed: deque[float] = deque()
        self._time = 0.0

    def wait(self, now: float) -> float:
        """See `Pace`."""
        self._time = now
        while self._passed and self._passed[0] <= now - 60:
            self._passed.popleft()
        return self._passed[0] + 60 - now if len(self._passed) >= self._per_minute else 0.0

    def take(self, amount: float) -> None:
        """See `Pace`."""
        del amount
        self._passed.append(self._time)


class Limiter:
    """Shared by all threads that send to one service."""

    def __init__(
        self,
        concurrency: int,
        *,
        requests: Pace,
        tokens: Pace | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._slots = threading.Semaphore(concurrency)
        self._requests = requests
        self._tokens = tokens or Bucket(0)
        self._paused_until = 0.0

    def pause(self, seconds: float) -> None:
        """Hold back every request, because the service asked for it."""
        with self._lock:
            self._paused_until = max(self._paused_until, self._clock() + seconds)

    @contextmanager
    def slot(self, tokens: int = 1, stop: threading.Event | None = None) -> Iterator[None]:
        """Wait for the turn of a request of so many tokens, and hold one of the slots.

        Raises `Stopped` as soon as `stop` is set.
        """
        stop = stop or threading.Event()
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
