"""Breadcrumb trails of chunks: common to all sections of a chunk, and within the budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rag_pipeline.chunking.cutting.splitting import ELLIPSIS
from rag_pipeline.chunking.task import TokenCounter
from rag_pipeline.text import TRAIL_SEPARATOR

Trail = tuple[str, ...]
"""Headings from the outermost to the innermost."""
TRAIL_SHARE = 3
"""At most a third of a chunk's budget goes to its trail."""
_LENGTHS = (200, 120, 80, 50, 30, 16, 8)
"""Characters each heading of an overlong trail may keep, tried in turn."""


class Trails:
    """How trails are shown: whole up to `limit` tokens, otherwise with shortened headings.

    `title` replaces an empty trail.
    """

    def __init__(
        self, trails: Iterable[Trail], title: str | None, limit: int, counter: TokenCounter
    ) -> None:
        self._title: Trail = (title,) if title else ()
        unique = list(dict.fromkeys([self._title, *trails]))
        counts = counter.parts([TRAIL_SEPARATOR.join(trail) for trail in unique])
        self._tokens = dict(zip(unique, counts, strict=True))
        self._shown = {trail: trail for trail in unique}
        for trail in unique:
            if self._tokens[trail] > limit:
                self._shorten(trail, limit, counter)

    def _shorten(self, trail: Trail, limit: int, counter: TokenCounter) -> None:
        candidates = [tuple(_cut(part, length) for part in trail) for length in _LENGTHS]
        # If that is still too long, outer headings go: the innermost one says most.
        candidates += [("",) * kept + candidates[-1][kept:] for kept in range(1, len(trail))]
        counts = counter.parts([_join(candidate) for candidate in candidates])
        fitting = [i for i, count in enumerate(counts) if count <= limit]
        best = fitting[0] if fitting else counts.index(min(counts))
        self._shown[trail], self._tokens[trail] = candidates[best], counts[best]

    def tokens(self, trail: Trail) -> int:
        """Return the most tokens the trail of a chunk with text under `trail` can take."""
        return max(self._tokens[trail], self._tokens[self._title])

    def common(self, trails: Sequence[Trail]) -> str:
        """Return the part common to all trails, as shown in a chunk."""
        shared = 0
        for headings in zip(*trails, strict=False):
            if len(set(headings)) > 1:
                break
            shared += 1
        if not shared:
            return _join(self._shown[self._title])
        return _join(self._shown[trails[0]][:shared])


def _cut(part: str, length: int) -> str:
    return part if len(part) <= length else part[: length - 1].rstrip() + ELLIPSIS


def _join(trail: Trail) -> str:
    return TRAIL_SEPARATOR.join(part for part in trail if part)
