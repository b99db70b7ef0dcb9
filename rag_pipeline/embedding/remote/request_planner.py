"""Which texts go into which request: pure functions, the same for all providers.

Texts over the model's limit are split into windows, which are embedded separately and averaged;
nothing is cut off. Requests are filled in order, below the provider's limits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

MAX_CHUNKS = 16_000
"""Chunks of all groups in a request of a contextual model (docs.voyageai.com)."""


@dataclass(frozen=True, slots=True)
class TextWindow:
    """A text to send, or a part of one that is too long to be sent whole."""

    owner: int
    """Index of the text it comes from."""
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class ChunkGroup:
    """Windows of one document that are embedded together, in order."""

    owner: int
    """Index of the document."""
    windows: tuple[TextWindow, ...]

    @property
    def tokens(self) -> int:
        """Tokens of all its windows."""
        return sum(window.tokens for window in self.windows)


def halve(text: str) -> tuple[str, str]:
    """Split near the middle, after white space if there is any; nothing is lost.

    >>> halve("open the valve slowly")
    ('open the ', 'valve slowly')
    """
    middle = len(text) // 2
    nearest = max(text.rfind(blank, middle // 2, middle) for blank in (" ", "\n"))
    cut = nearest + 1 if nearest >= 0 else middle
    return text[:cut], text[cut:]


def halve_window(window: TextWindow) -> list[TextWindow]:
    """Split a window in two; an empty list if it is too short for that."""
    if len(window.text) < 2:
        return []
    tokens = max(1, window.tokens // 2)
    return [TextWindow(window.owner, half, tokens) for half in halve(window.text) if half.strip()]


def halve_group(group: ChunkGroup) -> list[ChunkGroup]:
    """Split a group in two between its windows; an empty list if it has only one."""
    half = len(group.windows) // 2
    parts = (group.windows[:half], group.windows[half:]) if half else ()
    return [ChunkGroup(group.owner, windows) for windows in parts]


def split_windows(text: str, count: Callable[[str], int], limit: int) -> list[tuple[str, int]]:
    """Halve a text until every window has at most `limit` tokens; joined, they are the text again.

    Returns the windows with their tokens.
    """
    tokens = count(text)
    if tokens <= limit or len(text) < 2:
        return [(text, tokens)]
    left, right = halve(text)
    return [*split_windows(left, count, limit), *split_windows(right, count, limit)]


def plan_windows(texts: Sequence[str], count: Callable[[str], int], limit: int) -> list[TextWindow]:
    """Return what is sent of each text, in order; nothing of a blank one.

    `limit` is in tokens. White space alone is no window: it has no meaning to add.
    """
    return [
        TextWindow(owner, window, tokens)
        for owner, text in enumerate(texts)
        for window, tokens in split_windows(text, count, limit)
        if window.strip()
    ]


def plan_groups(documents: Sequence[Sequence[TextWindow]], limit: int) -> list[ChunkGroup]:
    """Put each document's windows into groups of at most `limit` tokens, cut between windows."""
    return [
        ChunkGroup(owner, tuple(windows[run.start : run.stop]))
        for owner, windows in enumerate(documents)
        for run in fill([window.tokens for window in windows], MAX_CHUNKS, limit)
    ]


def fill(
    tokens: Sequence[int],
    max_items: int,
    max_tokens: int,
    chunks: Sequence[int] | None = None,
) -> list[range]:
    """Cut a sequence of items into runs below the limits; an item over them stands alone.

    `tokens` and `chunks` are those of each item. Returns the indices of each run.

    >>> fill([5, 5, 5, 9, 30, 1], max_items=3, max_tokens=16)
    [range(0, 3), range(3, 4), range(4, 5), range(5, 6)]
    """
    runs: list[range] = []
    start = total = total_chunks = 0
    for index, size in enumerate(tokens):
        extra = chunks[index] if chunks else 0
        full = (
            index - start >= max_items
            or total + size > max_tokens
            or total_chunks + extra > MAX_CHUNKS
        )
        if index > start and full:
            runs.append(range(start, index))
            start, total, total_chunks = index, 0, 0
        total += size
        total_chunks += extra
    if tokens:
        runs.append(range(start, len(tokens)))
    return runs
