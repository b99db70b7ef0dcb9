"""Lexemes to Postgres' `tsvector` in text form, within its limits.

Limits (PostgreSQL documentation, "Text Search: Limitations"): a lexeme under 2,048 bytes, positions
up to 16,383, at most 255 positions per lexeme, all lexemes and positions together under 1 MB.
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

    Positions past 16,383 become 16,383 (words are still found, phrases there are not). The first
    255 positions of a lexeme are kept, and the first lexemes that fit into 1 MB.
    """
    positions: dict[str, list[int]] = {}
    words: set[int] = set()
    total = 0
    for lexeme, position in lexemes:
        total += 1
        words.add(position)
        known = positions.get(lexeme)
        if known is None:
            positions[lexeme] = [position]
        elif known[-1] != position:
            known.append(position)
    if total > MAX_POSITIONS or max(words, default=0) > MAX_POSITION:
        positions = _within_limits(positions)
    letters = "".join(positions)
    if "'" in letters or "\\" in letters:
        positions = {
            lexeme.replace("\\", "\\\\").replace("'", "''"): places
            for lexeme, places in positions.items()
        }
    literal = " ".join(
        [
            f"'{lexeme}':{places[0]}"
            if len(places) == 1
            else f"'{lexeme}':{','.join(map(str, places))}"
            for lexeme, places in positions.items()
        ]
    )
    return SearchVector(literal, len(words), total - sum(map(len, positions.values())))


def _within_limits(positions: dict[str, list[int]]) -> dict[str, list[int]]:
    """Drop what exceeds Postgres' limits."""
    kept: dict[str, list[int]] = {}
    room = MAX_BYTES
    for lexeme, found in positions.items():
        places = found
        if found[-1] > MAX_POSITION or len(found) > MAX_POSITIONS:
            places = list(dict.fromkeys(min(place, MAX_POSITION) for place in found))
            places = places[:MAX_POSITIONS]
        # Text, an alignment byte, a count of two bytes, and two bytes per position.
        room -= len(lexeme.encode()) + 3 + 2 * len(places)
        if room < 0:
            break
        kept[lexeme] = places
    return kept


def to_search_vectors(texts: Sequence[str], language: str) -> tuple[list[str], list[int]]:
    """Analyse `texts`; return their `tsvector` literals and lengths in words."""
    vectors = [to_search_vector(analyze(text, language)) for text in texts]
    return [vector.literal for vector in vectors], [vector.length for vector in vectors]
