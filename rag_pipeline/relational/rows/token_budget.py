"""Texts of rows above the token budget, in parts that each say what they belong to. Pure."""

from __future__ import annotations

from rag_pipeline.chunking import CountTokens

_PART = {"en": "{head} (part {number} of {count})", "ko": "{head} ({count}개 중 {number}번째 부분)"}
_LEAST_ROOM = 16
"""Tokens of a part besides its head, whatever the budget says."""
_SPARE = 24
"""Tokens kept free for the words that number a part, and for what joining lines may add."""


def parts_of(text: str, budget: int, count_tokens: CountTokens, language: str) -> list[str]:
    """Return a text in parts of at most `budget` tokens; the first line heads each of them.

    Lines stay whole unless one is too long by itself, which is cut between words.

    >>> count = lambda texts: [len(text.split()) for text in texts]
    >>> text = "Ann Lee\\n" + "\\n".join(f"- order {number} of this year" for number in range(9))
    >>> [part.split("\\n")[0] for part in parts_of(text, 50, count, "en")]
    ['Ann Lee (part 1 of 3)', 'Ann Lee (part 2 of 3)', 'Ann Lee (part 3 of 3)']
    """
    if count_tokens([text])[0] <= budget:
        return [text]
    head, *lines = text.split("\n")
    room = max(_LEAST_ROOM, budget - count_tokens([head])[0] - _SPARE)
    pieces = [piece for line in lines for piece in _pieces(line, room, count_tokens)]
    parts: list[list[str]] = []
    used = room
    for piece, count in zip(pieces, count_tokens(pieces), strict=True):
        # A line break may be a token.
        if used + count + 1 > room:
            parts.append([])
            used = 0
        parts[-1].append(piece)
        used += count + 1
    return [
        "\n".join((_PART[language].format(head=head, number=number, count=len(parts)), *part))
        for number, part in enumerate(parts, start=1)
    ]


def _pieces(line: str, room: int, count_tokens: CountTokens) -> list[str]:
    """Return a line in pieces that fit, cut between words where it has any."""
    if len(line) < 2 or count_tokens([line])[0] < room:
        return [line]
    middle = len(line) // 2
    at = line.rfind(" ", 1, middle)
    first, second = (line[:at], line[at + 1 :]) if at > 0 else (line[:middle], line[middle:])
    return [
        *_pieces(first, room, count_tokens),
        *_pieces(second, room, count_tokens),
    ]
