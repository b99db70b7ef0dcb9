"""How fast a sync embeds and how long it will take, by tokens."""

from __future__ import annotations

import time
from collections.abc import Callable

from rag_pipeline.sync.progress import Progress


class EmbeddingPace:
    """Tokens a second, and the time that is left: embedding is what most of a sync waits for.

    Documents that were not read yet are assumed to have as many tokens to a byte as those read.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun: float | None = None
        self._total_bytes = 0
        self._read_bytes = 0
        self._embedded = 0
        self._found = 0
        self._settled = 0

    def expect(self, total_bytes: int) -> None:
        """Note the size of all documents that will be read."""
        self._total_bytes = total_bytes

    def note(self, step: Progress) -> None:
        """Take one step into account."""
        if self._begun is None and step.found_tokens:
            self._begun = self._clock()
        self._read_bytes += step.read_bytes
        self._embedded += step.tokens
        self._found += step.found_tokens
        self._settled += step.settled_tokens

    def describe(self) -> str:
        """Return both in words; empty until there is something to go by."""
        seconds = self._clock() - self._begun if self._begun is not None else 0.0
        if seconds < 1 or not self._embedded:
            return ""
        rate = self._embedded / seconds
        per_byte = self._found / max(1, self._read_bytes)
        unread = per_byte * max(0, self._total_bytes - self._read_bytes)
        left = self._found - self._settled + unread
        shown = f"{rate:,.0f} tokens/s"
        return f"{shown}, {_duration(left / rate)} left" if left > 0 else shown


def _duration(seconds: float) -> str:
    """Return a rough duration.

    >>> _duration(44), _duration(600), _duration(9000)
    ('about 44 s', 'about 10 min', 'about 2.5 h')
    """
    if seconds < 90:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"
