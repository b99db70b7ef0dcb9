"""How long one request is tried: waits that grow, and one deadline for all of it."""

from __future__ import annotations

import random
import time


class Patience:
    """Counts the failures of one request.

    The deadline, in seconds, begins with the first attempt: waiting for a turn is no fault of the
    service.
    """

    first_wait, longest_wait = 0.5, 20.0
    """Seconds of the waits that nobody asked for, before jitter takes up to half."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self.failures = 0
        self._wait = self.first_wait
        self._asked: float | None = None
        self._end: float | None = None

    @property
    def end(self) -> float:
        """When the deadline passes (`time.monotonic`); to be asked for as an attempt begins."""
        if self._end is None:
            self._end = time.monotonic() + self.deadline
        return self._end

    @property
    def left(self) -> float:
        """Seconds until then."""
        return self.end - time.monotonic()

    def next_wait(self, asked: float | None) -> float | None:
        """Count a failure, and return the seconds until the next attempt.

        They are those that the service `asked` for, else twice the last ones, with jitter. None:
        the deadline passes before.
        """
        self.failures += 1
        self._asked = asked
        wait = self._wait * random.uniform(0.5, 1) if asked is None else asked
        self._wait = min(self.longest_wait, 2 * self._wait)
        return wait if wait < self.left else None

    @property
    def tried(self) -> str:
        """For messages: `tried 3 times`."""
        return "tried once" if self.failures == 1 else f"tried {self.failures} times"

    def __str__(self) -> str:
        """For messages: `tried once, asked to wait 90 s; deadline 60 s`."""
        asked = "" if self._asked is None else f", asked to wait {self._asked:.0f} s"
        return f"{self.tried}{asked}; deadline {self.deadline:g} s"
