"""Which texts go into which request: pure functions, one for all providers.

Texts over the model's limit are split into windows that are embedded each for itself and averaged,
never cut; requests are filled in order, below the provider's limits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

MAX_CHUNKS = 16_000
"""Chunks of all groups in a request of a contextual model (docs.voyageai.com)."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A text to be sent, or a window of it."""

    owner: int
    """Index of the text that it comes from."""
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Group:
    """Pieces of one document that are embedded together, in order."""

    owner: int
    """Index of the document."""
    pieces: tuple[Piece, ...]

    @property
    def tokens(self) -> int:
        """Tokens of all its pieces."""
        return sum(piece.tokens for piece in self.pieces)


def halve(text: str) -> tuple[str, str]:
    """Split near the middle, behind white space where there is some; nothing is lost.

    >>> halve("open the valve slowly")
    ('open the ', 'valve slowly')
    """
    middle = len(text) // 2
    nearest = max(text.rfind(blank, middle // 2, middle) for blank in (" ", "\n"))
    cut = nearest + 1 if nearest >= 0 else middle
    return text[:cut], text[cut:]


def halve_piece(piece: Piece) -> list[Piece]:
    """Split a piece in two; an empty list, if it is too short for that."""
    if len(piece.text) < 2:
        return []
    tokens = max(1, piece.tokens // 2)
    return [Piece(piece.owner, half, tokens) for half in halve(piece.text) if half.strip()]


def halve_group(group: Group) -> list[Group]:
    """Split a group in two between its pieces; an empty list, if it has one only."""
    half = len(group.pieces) // 2
    parts = (group.pieces[:half], group.pieces[half:]) if half else ()
    return [Group(group.owner, pieces) for pieces in parts]


def split_windows(text: str, count: Callable[[str], int], limit: int) -> list[tuple[str, int]]:
    """Halve a text until every window has at most `limit` tokens; they join to it again.

    Returns the windows with their tokens.
    """
    tokens = count(text)
    if tokens <= limit or len(text) < 2:
        return [(text, tokens)]
    left, right = halve(text)
    return [*split_windows(left, count, limit), *split_windows(right, count, limit)]


def plan_pieces(texts: Sequence[str], count: Callable[[str], int], limit: int) -> list[Piece]:
    """Return what is sent of each text, in order; nothing of a blank one.

    `limit` is in tokens. White space alone is no window: it has no meaning to add.
    """
    return [
        Piece(owner, window, tokens)
        for owner, text in enumerate(texts)
        for window, tokens in split_windows(text, count, limit)
        if window.strip()
    ]


def plan_groups(documents: Sequence[Sequence[Piece]], limit: int) -> list[Group]:
    """Put each document's pieces into groups of at most `limit` tokens, cut between pieces."""
    groups: list[Group] = []
    for owner, pieces in enumerate(documents):
        for run in fill([piece.tokens for piece in pieces], MAX_CHUNKS, limit):
            groups.append(Group(owner, tuple(pieces[i] for i in run)))
    return groups


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
