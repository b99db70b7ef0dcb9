"""Requests a minute and requests at once, shared by all threads of a process."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

WINDOW = 60.0
"""Seconds over which requests are counted, as the service's quotas do."""


class RequestLimiter:
    """Lets a request through when fewer than the limit were started within the last minute.

    `hold` stops all threads for a while, after one of them was told that the quota is used up.
    """

    def __init__(
        self,
        per_minute: int,
        at_once: int,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._per_minute = per_minute
        self._slots = threading.BoundedSemaphore(at_once)
        self._lock = threading.Lock()
        self._started: deque[float] = deque()
        self._held_until = 0.0
        self._clock = clock
        self._sleep = sleep

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Wait for a turn, and hold it while the request runs."""
        with self._slots:
            while (wait := self._wait_or_start()) > 0:
                self._sleep(wait)
            yield

    def hold(self, seconds: float) -> None:
        """Start no request for some seconds."""
        with self._lock:
            self._held_until = max(self._held_until, self._clock() + seconds)

    def _wait_or_start(self) -> float:
        """Seconds until a request may be started; 0 where one was started now."""
        with self._lock:
            now = self._clock()
            while self._started and self._started[0] <= now - WINDOW:
                self._started.popleft()
            if now < self._held_until:
                return self._held_until - now
            if len(self._started) >= self._per_minute:
                return self._started[0] + WINDOW - now
            self._started.append(now)
            return 0.0
