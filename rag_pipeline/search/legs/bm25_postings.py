"""Exact BM25 over postings: every chunk with a word of the query is scored. Pure.

Scores are kept in one array with a place for each chunk id of the buckets in use, so that a
lexeme's scores are added in one step; a million places take four megabytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rag_pipeline.search.visibility import BUCKET_BITS

K1 = 1.2
B = 0.75
"""BM25's constants, as in Lucene."""

BUCKET_SIZE = 1 << BUCKET_BITS
"""Chunk ids in one bucket (sql/migrations/003_search.sql)."""
MAX_OCCURRENCES = 127
_RANKS = np.cumsum(1 / np.arange(1, MAX_OCCURRENCES + 1) ** 2) / 1.64493406685
_GROUP = 64
_SLOT_SHIFT = 19
_FREQUENCY_SHIFT = 12
_LENGTH_MASK = (1 << _FREQUENCY_SHIFT) - 1
_FREQUENCY_AND_LENGTH = (1 << _SLOT_SHIFT) - 1


@dataclass(frozen=True)
class Corpus:
    """A snapshot of the corpus: its buckets, ascending, and what BM25 needs to know about it."""

    buckets: Sequence[int]
    chunk_count: int
    lexeme_total: int

    @property
    def average_length(self) -> float:
        """Average number of words per chunk."""
        return max(1.0, self.lexeme_total / max(1, self.chunk_count))


def inverse_frequency(chunk_count: int, document_frequency: int) -> float:
    """Return BM25's idf in Lucene's form, which is never negative.

    >>> round(inverse_frequency(100, 1), 3)
    4.21
    """
    count = max(chunk_count, document_frequency)
    return math.log(1 + (count - document_frequency + 0.5) / (document_frequency + 0.5))


def occurrences(rank: float) -> int:
    """Return how often a chunk has a word, derived from its `ts_rank` with all weights 1.

    Postgres' rank of one word with n positions is Σ 1/i² up to n, over π²/6 (src/backend/utils/adt/
    tsrank.c, calc_rank_or). Capped at 127, as in postings.

    >>> occurrences(0.6079271), occurrences(0.7599089)
    (1, 2)
    """
    return min(MAX_OCCURRENCES, int(np.searchsorted(_RANKS, rank - 1e-5)) + 1)


class Scores:
    """Scores of all chunks of a corpus, by place; `add` a lexeme at a time."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._offsets = {bucket: i * BUCKET_SIZE for i, bucket in enumerate(corpus.buckets)}
        self._saturation = _saturation(corpus.average_length)
        self.values = np.zeros(len(corpus.buckets) * BUCKET_SIZE, dtype=np.float32)

    def places(
        self, rows: Iterable[tuple[int, bytes]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the places of a lexeme's chunks, and their frequencies and lengths, packed.

        `rows` are (bucket, postings); buckets missing from the corpus are skipped.
        """
        known = [(self._offsets[bucket], p) for bucket, p in rows if bucket in self._offsets]
        if not known:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        # As indices, so that numpy does not convert them at each use.
        packed = np.frombuffer(b"".join(p for _, p in known), dtype=">i4").astype(np.int64)
        offsets = np.asarray([offset + BUCKET_SIZE // 2 for offset, _ in known], dtype=np.int64)
        places = (packed >> _SLOT_SHIFT) + np.repeat(offsets, [len(p) // 4 for _, p in known])
        return places, packed & _FREQUENCY_AND_LENGTH

    def add(self, places: NDArray[np.int64], rest: NDArray[np.int64], factor: float) -> None:
        """Add a lexeme's scores: `factor` × (k1 + 1) × tf / (tf + k1 × (1 − b + b × length))."""
        # A lexeme's postings contain a chunk once, so places are unique.
        # `clip` only saves numpy the check for indices out of bounds: there are none.
        self.values[places] += np.float32(factor) * self._saturation.take(rest, mode="clip")

    def chunk_ids(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the ids of the chunks at these places."""
        buckets = np.asarray(self._corpus.buckets, dtype=np.int64)
        ids: NDArray[np.int64] = buckets[places >> BUCKET_BITS] << BUCKET_BITS
        return ids + (places & (BUCKET_SIZE - 1))

    def places_of(self, chunk_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the places of the chunks that are in a bucket."""
        buckets = np.asarray(self._corpus.buckets, dtype=np.int64)
        wanted = chunk_ids >> BUCKET_BITS
        ranks = np.searchsorted(buckets, wanted)
        ranks[ranks == len(buckets)] = 0
        known = buckets[ranks] == wanted
        places: NDArray[np.int64] = (ranks << BUCKET_BITS) + (chunk_ids & (BUCKET_SIZE - 1))
        kept: NDArray[np.int64] = places[known]
        return kept


def best_places(values: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Return the places of the `count` greatest values above 0, greatest first.

    Equal values are ordered by place, that is by chunk id.
    """
    least = np.finfo(np.float32).tiny
    groups = values[: len(values) // _GROUP * _GROUP].reshape(_GROUP, -1).max(axis=0)
    if count < len(groups):
        # At least `count` groups reach this value, so the best places are among those that do.
        least = max(least, np.partition(groups, len(groups) - count)[len(groups) - count])
    places = np.flatnonzero(values >= least)
    found = values[places]
    if count < len(places):
        threshold = np.partition(found, len(found) - count)[len(found) - count]
        above = places[found > threshold]
        equal = places[found == threshold][: count - len(above)]
        places = np.union1d(above, equal)
    best: NDArray[np.int64] = places[np.argsort(-values[places], kind="stable")]
    return best


@lru_cache(maxsize=4)
def _saturation(average_length: float) -> NDArray[np.float32]:
    """Return the BM25 term for every frequency and length a posting can hold (2 MB)."""
    packed = np.arange(_FREQUENCY_AND_LENGTH + 1)
    frequency = (packed >> _FREQUENCY_SHIFT).astype(np.float32)
    length = (packed & _LENGTH_MASK).astype(np.float32)
    norm = K1 * (1 - B + B * length / np.float32(average_length))
    term: NDArray[np.float32] = ((K1 + 1) * frequency / (frequency + norm)).astype(np.float32)
    return term
