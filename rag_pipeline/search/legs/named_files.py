"""Prefers chunks of files that the query names: `the FY2022 10-K` is `CORNING_2022_10K.pdf`.

A name counts as if each chunk of the file contained it once: each word by its weight × inverse
document frequency. It ranks chunks that have a word of the query; it finds none by itself. Words
that most texts have ("the") say little in a name too, and so do two together ("howto").
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
from rag_pipeline.search.legs.bm25_postings import Corpus, inverse_frequency
from rag_pipeline.search.visibility import BUCKET_BITS
from rag_pipeline.store.named_queries import queries, records

MAX_FILES = 200
"""A word in more file names than this identifies none."""
MAX_CHUNKS = 20_000
"""Maximum number of chunks considered, those of the best matching files first; of files that match
equally well, all or none."""
MOST_OF_TEXT = 2.0
"""Upper bound of a word's inverse document frequency in names, as a multiple of that in texts."""


@dataclass(frozen=True)
class NamedChunks:
    """At least one chunk, each with the score of its file's name."""

    chunk_ids: NDArray[np.int64]
    """Ascending; excludes buckets missing from the corpus snapshot."""
    scores: NDArray[np.float32]

    def at(self, chunk_ids: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the scores that the file names give these chunks, mostly 0."""
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

    `frequencies` are the numbers of chunks with each word in their text.
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
    if not rows:  # deleted in the meantime
        return None
    chunk_ids = np.concatenate([np.asarray(row.chunk_ids, dtype=np.int64) for row in rows])
    given = np.asarray([scores[row.source_hash] for row in rows], dtype=np.float32)
    by_chunk = np.repeat(given, [len(row.chunk_ids) for row in rows])
    # Chunks may have been added to a new bucket since the corpus was counted.
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
    """Return the score of the file names and the number of chunks, by source hash."""
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
