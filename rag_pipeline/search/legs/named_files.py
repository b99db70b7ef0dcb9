"""Chunks of files that the query names: `the FY2022 10-K` is `CORNING_2022_10K.pdf` before others.

The name is looked at as if it were written once in each of the file's chunks: a word counts by its
weight × inverse document frequency. It ranks chunks that have a word of the query, and finds none.
A word that most texts have ("the") says little in a name, too, and so do two ("howto").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.analysis import name_query_words
from rag_pipeline.search.legs.postings import BUCKET_BITS, Corpus, inverse_frequency
from rag_pipeline.store.named_queries import queries, records

MAX_FILES = 200
"""A word in more names than this names no file."""
MAX_CHUNKS = 20_000
"""Chunks of named files that are looked at, those of the files named best first; of files named
equally well, all or none."""
MOST_OF_TEXT = 2.0
"""Inverse document frequency of a word in names, at most so many times that in texts."""


@dataclass(frozen=True)
class NamedChunks:
    """Chunks, at least one, each with what the name of its file gives."""

    chunk_ids: NDArray[np.int64]
    """Ascending; none of a bucket that the corpus has not."""
    scores: NDArray[np.float32]

    def at(self, chunk_ids: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what the names give to these chunks: to most, nothing."""
        found = np.searchsorted(self.chunk_ids, chunk_ids).clip(max=len(self.chunk_ids) - 1)
        given = np.where(self.chunk_ids[found] == chunk_ids, self.scores[found], 0.0)
        return given.astype(np.float64)


@dataclass(frozen=True)
class NamedDocument:
    """A document that has a lexeme in the name of its file: a row of `named_documents`."""

    lexeme: str
    source_hash: str
    chunk_count: int


@dataclass(frozen=True)
class FileChunks:
    """The chunks of a document: a row of the statement `chunks_of`."""

    source_hash: str
    chunk_ids: list[int]


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
    scores, counts = _named_files(connection, query, languages, corpus, frequencies)
    chosen: list[str] = []
    total = 0
    for _, equal in groupby(sorted(scores, key=lambda one: -scores[one]), key=scores.__getitem__):
        hashes = list(equal)
        total += sum(counts[source_hash] for source_hash in hashes)
        if total > MAX_CHUNKS:
            break
        chosen += hashes
    if not chosen:
        return None
    rows = records(connection, FileChunks, queries.chunks_of, source_hashes=chosen)
    if not rows:  # deleted meanwhile
        return None
    chunk_ids = np.concatenate([np.asarray(row.chunk_ids, dtype=np.int64) for row in rows])
    given = np.asarray([scores[row.source_hash] for row in rows], dtype=np.float32)
    by_chunk = np.repeat(given, [len(row.chunk_ids) for row in rows])
    # A chunk may have landed in a new bucket since the corpus was counted.
    known = np.flatnonzero(np.isin(chunk_ids >> BUCKET_BITS, corpus.buckets))
    if not len(known):
        return None
    order = known[np.argsort(chunk_ids[known])]
    return NamedChunks(chunk_ids[order], by_chunk[order])


def _named_files(
    connection: Connection[TupleRow],
    query: str,
    languages: Sequence[str],
    corpus: Corpus,
    frequencies: Mapping[str, int],
) -> tuple[dict[str, float], dict[str, int]]:
    """Return by source hash what the names of its files give, and how many chunks it has."""
    words = name_query_words(query, languages)
    files: dict[str, dict[str, int]] = {}
    rows = records(
        connection, NamedDocument, queries.named_documents, lexemes=list(words), most=MAX_FILES
    )
    for row in rows:
        files.setdefault(row.lexeme, {})[row.source_hash] = row.chunk_count
    scores: dict[str, float] = {}
    counts: dict[str, int] = {}
    for lexeme, found in files.items():
        word = words[lexeme]
        in_text = sum(
            inverse_frequency(corpus.chunk_count, frequencies.get(part, 0)) for part in word.parts
        )
        in_names = inverse_frequency(corpus.chunk_count, sum(found.values()))
        factor = word.weight * min(in_names, MOST_OF_TEXT * in_text)
        for source_hash in found:
            scores[source_hash] = scores.get(source_hash, 0.0) + factor
        counts |= found
    return scores, counts
