"""Chunks of files that the query names: `the FY2022 10-K` is `CORNING_2022_10K.pdf` before others.

The name is looked at as if it were written once in each of the file's chunks: a word counts by its
weight × inverse document frequency. It ranks chunks that have a word of the query, and finds none.
A word that most texts have ("the") says little in a name, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.analysis import name_query_weights
from rag_pipeline.search.postings import Corpus, inverse_frequency
from rag_pipeline.store.queries import queries

MAX_FILES = 200
"""A word in more names than this names no file."""
MAX_CHUNKS = 20_000
"""Chunks of named files that are looked at, those of the files named best first."""
MOST_OF_TEXT = 2.0
"""Inverse document frequency of a word in names, at most so many times that in texts."""

__all__ = ["NamedChunks", "named_chunks"]


@dataclass(frozen=True)
class NamedChunks:
    """Chunks, in no order, each with what the name of its file gives."""

    chunk_ids: NDArray[np.int64]
    scores: NDArray[np.float32]


def named_chunks(
    connection: Connection[TupleRow],
    query: str,
    languages: Sequence[str],
    corpus: Corpus,
    frequencies: Mapping[str, int],
) -> NamedChunks | None:
    """Return the chunks of files that the query names; None if it names none.

    `frequencies` says how many chunks have each word in their text.
    """
    weights = name_query_weights(query, languages)
    files: dict[str, dict[str, int]] = {}
    for lexeme, source_hash, chunk_count in queries.named_documents(
        connection, lexemes=list(weights), most=MAX_FILES + 1
    ):
        files.setdefault(lexeme, {})[source_hash] = chunk_count
    scores: dict[str, float] = {}
    counts: dict[str, int] = {}
    for lexeme, found in files.items():
        if len(found) > MAX_FILES:
            continue
        in_text = inverse_frequency(corpus.chunk_count, frequencies.get(lexeme, 0))
        in_names = inverse_frequency(corpus.chunk_count, sum(found.values()))
        factor = weights[lexeme] * min(in_names, MOST_OF_TEXT * in_text)
        for source_hash, chunk_count in found.items():
            scores[source_hash] = scores.get(source_hash, 0.0) + factor
            counts[source_hash] = chunk_count
    chosen = []
    total = 0
    for source_hash in sorted(scores, key=lambda one: (-scores[one], one)):
        total += counts[source_hash]
        if total > MAX_CHUNKS:
            break
        chosen.append(source_hash)
    if not chosen:
        return None
    rows = queries.chunks_of(connection, source_hashes=chosen)
    pairs = [(chunk_id, scores[source_hash]) for source_hash, chunk_id in rows]
    return NamedChunks(
        np.asarray([chunk_id for chunk_id, _ in pairs], dtype=np.int64),
        np.asarray([score for _, score in pairs], dtype=np.float32),
    )
