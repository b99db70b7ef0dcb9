"""The retry loop of every service: waits that grow, and one deadline for all attempts."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import TypeVar

from rag_pipeline.remote.limiter import Limiter, Stopped
from rag_pipeline.remote.service_faults import ReplyFault, ServiceFault, TransientFault

Result = TypeVar("Result")

SHORTEST_WAIT_SECONDS = 0.1
"""The wait after a service asks for none, so that it is not hammered."""
BAD_REPLIES = 2
"""A second reply that fails the checks is no accident."""
UNREACHABLE_TRIES = 4
"""About four seconds, enough for a restart; a server that was never started is reported soon."""


class Patience:
    """Counts the failures of one request.

    The deadline, in seconds, starts with the first attempt: the service is not to blame for the
    time a request waited for its turn.
    """

    first_wait, longest_wait = 0.5, 20.0
    """Seconds of the waits that nobody asked for, before jitter takes off up to half."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self.failures = 0
        self._wait = self.first_wait
        self._asked: float | None = None
        self._end: float | None = None

    @property
    def left(self) -> float:
        """Seconds until the deadline; the first call starts the clock."""
        if self._end is None:
            self._end = time.monotonic() + self.deadline
        return self._end - time.monotonic()

    def next_wait(self, asked: float | None) -> float | None:
        """Count a failure, and return the seconds until the next attempt.

        They are what the service `asked` for, otherwise twice the last wait, with jitter. None if
        the deadline would pass first.
        """
        self.failures += 1
        self._asked = asked
        own = self._wait * random.uniform(0.5, 1)
        self._wait = min(self.longest_wait, 2 * self._wait)
        wait = own if asked is None else max(asked, SHORTEST_WAIT_SECONDS)
        return wait if wait < self.left else None

    @property
    def tried(self) -> str:
        """For messages: `tried 3 times`."""
        return "tried once" if self.failures == 1 else f"tried {self.failures} times"

    def __str__(self) -> str:
        """For messages: `tried once, asked to wait 90 s; deadline 60 s`."""
        asked = "" if self._asked is None else f", asked to wait {self._asked:.0f} s"
        return f"{self.tried}{asked}; deadline {self.deadline:g} s"


class GaveUpFault(ServiceFault):
    """Every retry failed. `last` is the last fault; `is_late` tells whether the deadline passed."""

    def __init__(self, last: TransientFault, patience: Patience, *, is_late: bool) -> None:
        super().__init__(f"{last} ({patience if is_late else patience.tried})")
        self.last = last
        self.failures = patience.failures
        self.is_late = is_late


def send_with_retries(
    send: Callable[[float], Result],
    patience: Patience,
    *,
    limiter: Limiter | None = None,
    tokens: int = 1,
    stop: threading.Event | None = None,
) -> Result:
    """Call `send`, with the seconds left until the deadline, until it returns.

    Each attempt takes its turn at the `limiter`, as a request of so many `tokens`. Raises
    `GaveUpFault` once a `TransientFault` is not worth another attempt, `Stopped` once `stop` is
    set, and whatever else `send` raises.
    """
    stop = stop or threading.Event()
    turn = partial(limiter.slot, tokens, stop) if limiter else nullcontext
    last: TransientFault | None = None
    bad_replies = unreachable = 0
    while True:
        with turn():
            left = patience.left
            if last and left <= 0:  # the turn came too late
                raise GaveUpFault(last, patience, is_late=True) from last
            try:
                return send(left)
            except TransientFault as fault:
                last = fault
        bad_replies += isinstance(last, ReplyFault)
        unreachable += last.is_unreachable
        wait = patience.next_wait(last.retry_after)
        is_hopeless = bad_replies >= BAD_REPLIES or unreachable >= UNREACHABLE_TRIES
        if is_hopeless or wait is None:
            raise GaveUpFault(last, patience, is_late=not is_hopeless) from last
        if limiter and (last.is_busy or last.retry_after is not None):
            limiter.pause(wait)
        if stop.wait(wait):
            raise Stopped
