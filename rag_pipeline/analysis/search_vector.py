"""Lexemes to Postgres' `tsvector`, in its text form, within its limits.

Limits (PostgreSQL documentation, "Text Search: Limitations"): a lexeme under 2,048 bytes, positions
up to 16,383, at most 255 positions a lexeme, all lexemes and positions together under 1 MB.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rag_pipeline.analysis.analyzer import analyze

MAX_POSITION = 16_383
MAX_POSITIONS = 255
MAX_BYTES = 1_000_000


class SearchVector(NamedTuple):
    """A `tsvector` literal, and what went into it."""

    literal: str
    """`'lexeme':1,5 'other':2`"""
    length: int
    """Words (distinct positions) of the text: the document's length for BM25."""
    dropped: int
    """Occurrences left out because of Postgres' limits; 0 unless the text is enormous."""


def to_search_vector(lexemes: Iterable[tuple[str, int]]) -> SearchVector:
    """Return the `tsvector` of lexemes with positions.

    Positions past 16,383 count as 16,383 (words are still found, phrases there are not). Of a
    lexeme the first 255 positions are kept, and of the lexemes the first that fit into 1 MB.
    """
    positions: dict[str, list[int]] = {}
    words: set[int] = set()
    total = kept = 0
    for lexeme, position in lexemes:
        total += 1
        words.add(position)
        known = positions.setdefault(lexeme, [])
        place = min(position, MAX_POSITION)
        if len(known) < MAX_POSITIONS and (not known or known[-1] != place):
            known.append(place)
    room = MAX_BYTES
    entries: list[str] = []
    for lexeme, places in positions.items():
        # Text, a byte of alignment, a count of two bytes, and two bytes a position.
        room -= len(lexeme.encode()) + 3 + 2 * len(places)
        if room < 0:
            break
        kept += len(places)
        quoted = lexeme.replace("\\", "\\\\").replace("'", "''")
        entries.append(f"'{quoted}':{','.join(map(str, places))}")
    return SearchVector(" ".join(entries), len(words), total - kept)


def to_search_vectors(texts: Sequence[str], language: str) -> tuple[list[str], list[int]]:
    """Analyse `texts`; return their `tsvector` literals and lengths in words."""
    vectors = [to_search_vector(analyze(text, language)) for text in texts]
    return [vector.literal for vector in vectors], [vector.length for vector in vectors]
