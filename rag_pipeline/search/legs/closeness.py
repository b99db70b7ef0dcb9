"""How close together a chunk has the query's words: in one sentence, or here one and there one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.store.named_queries import queries, records

_WINDOW = 30
"""Positions within which words of the query are close: about one long sentence."""


@dataclass(frozen=True)
class LexemePositions:
    """Where a chunk has a lexeme: a row of the statement `positions_within`."""

    chunk_id: int
    lexeme: str
    positions: list[int]


def closeness(
    connection: Connection[TupleRow],
    words: Mapping[frozenset[str], float],
    unknown: float,
    chunk_ids: Sequence[int],
    language: str | None,
) -> dict[int, float]:
    """Return, by chunk, the share of the query that stands close together, by rarity, 0..1.

    `words` has the inverse document frequency of each word, by its forms, and `unknown` that of
    all that no chunk has. Only chunks in the question's `language` are looked at, if that is known:
    what others share with it are names and numbers.
    """
    numbers = {form: str(i) for i, word in enumerate(words) for form in word}
    if not chunk_ids or sum(rarity > 0 for rarity in words.values()) < 2:
        return {}
    rows = records(
        connection,
        LexemePositions,
        queries.positions_within,
        chunk_ids=list(chunk_ids),
        lexemes=list(numbers),
        language=language,
    )
    places: dict[int, list[tuple[int, str]]] = {}
    for row in rows:
        number = numbers[row.lexeme]
        places.setdefault(row.chunk_id, []).extend((one, number) for one in row.positions)
    factors = {str(i): rarity for i, rarity in enumerate(words.values())}
    whole = sum(factors.values()) + unknown
    return {
        chunk_id: closest_together(sorted(one), factors) / whole for chunk_id, one in places.items()
    }


def closest_together(found: Sequence[tuple[int, str]], factors: Mapping[str, float]) -> float:
    """Return the greatest sum of factors, each lexeme once, within a window of positions."""
    best = total = 0.0
    inside: Counter[str] = Counter()
    first = 0
    for position, lexeme in found:
        while found[first][0] < position - _WINDOW:
            gone = found[first][1]
            inside[gone] -= 1
            total -= 0.0 if inside[gone] else factors[gone]
            first += 1
        total += 0.0 if inside[lexeme] else factors[lexeme]
        inside[lexeme] += 1
        best = max(best, total)
    return best
