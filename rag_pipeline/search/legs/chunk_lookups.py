"""What is looked up in a few chunks themselves: phrases, and the counts of frequent words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.analysis import count_positions
from rag_pipeline.search.legs.bm25_postings import K1, B, Corpus, occurrences
from rag_pipeline.search.legs.phrases import Phrase, quoted
from rag_pipeline.store.named_queries import queries, records


@dataclass(frozen=True)
class PhrasePlace:
    """Where a chunk has the phrase."""

    in_trail: bool = False
    in_text: bool = False


@dataclass(frozen=True)
class PhraseChunk:
    """A chunk with the phrase: a row of the statement `with_phrase`."""

    chunk_id: int
    breadcrumb_trail: str
    language: str


@dataclass(frozen=True)
class PhrasePositions:
    """A row of the statement `positions_within`."""

    chunk_id: int
    positions: dict[str, list[int]] | None
    """By lexeme."""


def phrase_places(
    connection: Connection[TupleRow], phrase: Phrase | None, chunk_ids: Sequence[int]
) -> dict[int, PhrasePlace]:
    """Return where each of the chunks has the phrase; those without it are left out."""
    if phrase is None or not chunk_ids:
        return {}
    found: dict[int, PhrasePlace] = {}
    borders: dict[int, int] = {}
    chunks = records(
        connection, PhraseChunk, queries.with_phrase, chunk_ids=chunk_ids, phrase=phrase.tsquery
    )
    for chunk in chunks:
        trail = chunk.breadcrumb_trail
        in_trail = bool(trail) and phrase.is_in(trail, chunk.language)
        found[chunk.chunk_id] = PhrasePlace(in_trail, not in_trail)
        # A single word missing from the trail must be in the text; a longer phrase is checked.
        if trail and (in_trail or len(phrase.lexemes) > 1):
            # The trail has the first positions of a chunk.
            borders[chunk.chunk_id] = count_positions(trail, chunk.language)
    if borders:
        rows = records(
            connection,
            PhrasePositions,
            queries.positions_within,
            chunk_ids=sorted(borders),
            lexemes=sorted(set(phrase.lexemes)),
        )
        for row in rows:
            starts = phrase.starts(row.positions or {})
            in_text = bool(starts) and starts[-1] > borders[row.chunk_id]
            found[row.chunk_id] = PhrasePlace(found[row.chunk_id].in_trail, in_text)
    return found


@dataclass(frozen=True)
class RankWithin:
    """How a chunk ranks for one word: a row of the statement `ranks_within`."""

    chunk_id: int
    number: int
    """Of the word, from 1."""
    rank: float
    lexeme_count: int


def recounted(
    connection: Connection[TupleRow],
    corpus: Corpus,
    factors: Mapping[str, float],
    chunk_ids: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return BM25 of lexemes in these chunks, for lexemes whose postings are too many to read."""
    lexemes = list(factors)
    added = dict.fromkeys(chunk_ids.tolist(), 0.0)
    rows = records(
        connection,
        RankWithin,
        queries.ranks_within,
        chunk_ids=list(added),
        words=[quoted(lexeme) for lexeme in lexemes],
    )
    for row in rows:
        frequency = occurrences(row.rank)
        norm = frequency + K1 * (1 - B + B * row.lexeme_count / corpus.average_length)
        factor = factors[lexemes[row.number - 1]]
        added[row.chunk_id] += factor * (K1 + 1) * frequency / norm
    return np.asarray(list(added.values()))
