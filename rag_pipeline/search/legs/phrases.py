"""The query as a phrase: its lexemes at consecutive positions of a chunk. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_pipeline.analysis import analyze
from rag_pipeline.analysis.text_tokens import CONNECTORS

MAX_POSITIONS = 32
"""Longer queries are not phrases: nobody types them, and pasted paragraphs are found by words."""
_CONNECTORS = frozenset(CONNECTORS)


@dataclass(frozen=True)
class Phrase:
    """The lexeme at each position of a query."""

    lexemes: tuple[str, ...]

    @classmethod
    def of(cls, query: str) -> Phrase | None:
        """Return the query's phrase; None if it has a single word, or too many.

        Words are used as typed, not stemmed. If a code has several lexemes at a position (`7604ni`,
        `7604`, `ni`; and the whole code at the first), the longest segment represents it: texts
        with the code as typed, or with a longer code that begins with it, contain that segment.
        """
        by_position: dict[int, list[str]] = {}
        for lexeme, position in analyze(query, "und"):
            by_position.setdefault(position, []).append(lexeme)
        positions = sorted(by_position)
        if not 1 < len(positions) <= MAX_POSITIONS:
            return None
        if positions[-1] - positions[0] + 1 != len(positions):
            return None
        return cls(tuple(_segment(by_position[position]) for position in positions))

    @property
    def tsquery(self) -> str:
        """The phrase as a Postgres `tsquery`."""
        return " <-> ".join(quoted(lexeme) for lexeme in self.lexemes)


def quoted(lexeme: str) -> str:
    """Return a lexeme as a `tsquery`.

    >>> print(quoted("driver's"))
    'driver''s'
    """
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def _segment(lexemes: Sequence[str]) -> str:
    """Return the longest lexeme of a position that is not a compound, with or without hyphens."""
    compounds = [lexeme for lexeme in lexemes if _CONNECTORS.intersection(lexeme)]
    joined = {compound.replace("-", "").replace("·", "") for compound in compounds}
    segments = [lexeme for lexeme in lexemes if lexeme not in compounds and lexeme not in joined]
    return max(segments or lexemes, key=len)
