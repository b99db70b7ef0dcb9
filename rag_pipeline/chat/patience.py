"""How long one answer is waited for: when to try again, and when to give up."""

from __future__ import annotations

import random
import time

from rag_pipeline.chat.endpoint import Endpoint
from rag_pipeline.chat.faults import Fault
from rag_pipeline.errors import ChatError

BACKOFF_SECONDS, LONGEST_BACKOFF_SECONDS = 0.5, 20.0
SHORTEST_WAIT_SECONDS = 0.1
BAD_REPLIES = 2
"""A reply of the wrong shape that comes again is no accident."""
UNREACHABLE_TRIES = 4
"""Some four seconds, enough for a restart: a server that was never started is told at once."""


class Patience:
    """Counts the failures of one question; its deadline, in seconds, begins when it is made."""

    def __init__(self, endpoint: Endpoint, deadline: float) -> None:
        self._endpoint = endpoint
        self._deadline = deadline
        self.end = time.monotonic() + deadline
        self._tries = self._bad_replies = self._unreachable = 0

    def wait(self, fault: Fault) -> None:
        """Sleep until the next try; raises `ChatError` where there is none."""
        self._tries += 1
        self._bad_replies += fault.bad_reply
        self._unreachable += fault.unreachable
        if self._bad_replies >= BAD_REPLIES:
            raise ChatError(
                f"{fault} ({self._count()})", hint=self._endpoint.settings_hint
            ) from fault
        if self._unreachable >= UNREACHABLE_TRIES:
            raise ChatError(f"{fault} ({self._count()})", hint=self._endpoint.start_hint) from fault
        delay = self._delay(fault)
        if time.monotonic() + delay >= self.end:
            asked = (
                "" if fault.retry_after is None else f", asked to wait {fault.retry_after:.0f} s"
            )
            raise ChatError(
                f"{fault} ({self._count()}{asked}; deadline {self._deadline:g} s)",
                hint="raise chat.deadline_seconds, or lower chat.max_concurrent_requests",
            ) from fault
        time.sleep(delay)

    def _delay(self, fault: Fault) -> float:
        """Return the wait that is asked for, else one that doubles, with jitter."""
        if fault.retry_after is not None:
            return max(fault.retry_after, SHORTEST_WAIT_SECONDS)
        longest = min(LONGEST_BACKOFF_SECONDS, BACKOFF_SECONDS * 2.0 ** (self._tries - 1))
        return longest * random.uniform(0.5, 1)

    def _count(self) -> str:
        return "tried once" if self._tries == 1 else f"tried {self._tries} times"
