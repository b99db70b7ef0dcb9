"""The text leg: BM25 over the chunks that hold one of the query's rarer words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.search.fusion import LegHit
from rag_pipeline.store.queries import queries

CANDIDATES = 3_000
"""Chunks that are ranked at most, about: words are taken by rarity until they bring so many."""


def text_leg(
    connection: Connection[TupleRow], lexemes: Mapping[str, float], limit: int
) -> list[LegHit]:
    """Return the best chunks by BM25, best first; `lexemes` are the query's, with their weights."""
    corpus = queries.corpus(connection)
    if corpus is None or not corpus[0] or not lexemes:
        return []
    chunk_count, lexeme_total = corpus
    frequencies = dict(queries.document_frequencies(connection, lexemes=sorted(lexemes)))
    if not frequencies:
        return []
    known = sorted(frequencies, key=lambda lexeme: (frequencies[lexeme], lexeme))
    rows = queries.text_candidates(
        connection,
        query=_any_of(_rarest(known, frequencies)),
        lexemes=known,
        inverse_frequencies=[
            lexemes[word] * inverse_frequency(chunk_count, frequencies[word]) for word in known
        ],
        average_length=max(1.0, float(lexeme_total) / chunk_count),
        candidates=CANDIDATES,
        limit=limit,
    )
    return [LegHit(chunk_id, float(score)) for chunk_id, score in rows]


def inverse_frequency(chunk_count: int, document_frequency: int) -> float:
    """Return BM25's idf in Lucene's form, which is never negative.

    >>> round(inverse_frequency(100, 1), 3)
    4.212
    """
    return math.log(1 + (chunk_count - document_frequency + 0.5) / (document_frequency + 0.5))


def _rarest(by_rarity: Sequence[str], frequencies: dict[str, int]) -> list[str]:
    """Take words from the rarest on, as long as they bring at most `CANDIDATES` chunks."""
    taken: list[str] = []
    total = 0
    for word in by_rarity:
        total += frequencies[word]
        if taken and total > CANDIDATES:
            break
        taken.append(word)
    return taken


def _any_of(lexemes: Sequence[str]) -> str:
    """Return a tsquery of all lexemes joined by OR, each quoted: no operator of it is heard."""
    quoted = ["'" + word.replace("\\", "\\\\").replace("'", "''") + "'" for word in lexemes]
    return " | ".join(quoted)
