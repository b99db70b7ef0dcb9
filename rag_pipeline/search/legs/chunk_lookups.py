"""What is looked up in a few chunks themselves: titles, phrases, counts of frequent words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.analysis import analyze
from rag_pipeline.search.legs.bm25_postings import K1, B, Corpus, occurrences
from rag_pipeline.search.legs.phrases import Phrase, quoted
from rag_pipeline.store.named_queries import queries, records
from rag_pipeline.text import TRAIL_SEPARATOR


@dataclass(frozen=True)
class WholeMatch:
    """Where a chunk has the whole query."""

    in_title: bool = False
    """Whether the heading of its section has every content word."""
    as_phrase: bool = False


@dataclass(frozen=True)
class ChunkTrail:
    """A row of the statement `trails_and_phrases`."""

    chunk_id: int
    breadcrumb_trail: str
    language: str
    has_phrase: bool


def whole_matches(
    connection: Connection[TupleRow],
    phrase: Phrase | None,
    asked: Sequence[Set[str]],
    chunk_ids: Sequence[int],
) -> dict[int, WholeMatch]:
    """Return where each of the chunks has the whole query; those without it are left out.

    `asked` are the query's words (`query_words`). A chunk belongs to the last part of its trail.
    """
    if not chunk_ids:
        return {}
    rows = records(
        connection,
        ChunkTrail,
        queries.trails_and_phrases,
        chunk_ids=list(chunk_ids),
        phrase=phrase.tsquery if phrase else None,
    )
    found: dict[int, WholeMatch] = {}
    titles: dict[tuple[str, str], bool] = {}
    for row in rows:
        title = (row.breadcrumb_trail.rpartition(TRAIL_SEPARATOR)[2], row.language)
        if title not in titles:
            lexemes = {lexeme for lexeme, _ in analyze(*title)}
            titles[title] = bool(asked) and all(not lexemes.isdisjoint(word) for word in asked)
        if titles[title] or row.has_phrase:
            found[row.chunk_id] = WholeMatch(titles[title], row.has_phrase)
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
