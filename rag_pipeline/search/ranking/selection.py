"""Chooses among ranked results: the best, or the best that also differ. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rag_pipeline.search.asked_query import Vector
from rag_pipeline.search.search_results import SearchResult

_SHINGLE = 3
_DIGIT = re.compile(r"\d")


def without_duplicates(
    results: Sequence[SearchResult], similarity: float
) -> tuple[list[SearchResult], int]:
    """Put results that repeat a better one under it (`copies`); return the rest, and how many went.

    The same words in the same order are a repetition. With a `similarity` below 1, so are texts
    that share so many of their word triples (Jaccard) and hold the same numbers: what differs by a
    value is no copy. (Broder: On the resemblance and containment of documents, 1997.)
    """
    kept: list[SearchResult] = []
    copies: list[list[str]] = []
    places: dict[tuple[str, ...], int] = {}
    for result in results:
        words = tuple(result.content.lower().split())
        place = places.get(words)
        if place is None and similarity < 1:
            place = next((at for one, at in places.items() if _alike(one, words, similarity)), None)
        if place is None:
            places[words] = len(kept)
            kept.append(result)
            copies.append([])
        elif result.source_path not in (kept[place].source_path, *copies[place]):
            copies[place].append(result.source_path)
    grouped = [
        replace(one, copies=tuple(paths)) if paths else one
        for one, paths in zip(kept, copies, strict=True)
    ]
    return grouped, len(results) - len(kept)


def _alike(one: tuple[str, ...], other: tuple[str, ...], similarity: float) -> bool:
    """Return whether texts share enough word triples, and hold the same numbers."""
    if _numbers(one) != _numbers(other):
        return False
    triples, others = _shingles(one), _shingles(other)
    return len(triples & others) >= similarity * len(triples | others)


def _numbers(words: tuple[str, ...]) -> set[str]:
    return {word for word in words if _DIGIT.search(word)}


def maximal_marginal_relevance(
    results: Sequence[SearchResult], vectors: Mapping[int, Vector], limit: int, balance: float
) -> list[SearchResult]:
    """Choose `limit` results, each maximizing balance × score − (1 − balance) × likeness.

    Scores are scaled to 0..1 over the given results; likeness is the cosine with the closest result
    chosen so far. A result without a vector is like no other. (Carbonell, Goldstein: The use of
    MMR, SIGIR 1998.)
    """
    if not results:
        return []
    scores = np.asarray([result.score for result in results])
    spread = scores.max() - scores.min()
    scores = (scores - scores.min()) / spread if spread else np.ones(len(scores))
    likeness = _cosines([vectors.get(result.chunk_id) for result in results])
    closest = np.zeros(len(results))
    chosen: list[int] = []
    left = list(range(len(results)))
    while left and len(chosen) < limit:
        best = max(left, key=lambda i: (balance * scores[i] - (1 - balance) * closest[i], -i))
        chosen.append(best)
        left.remove(best)
        closest = np.maximum(closest, likeness[best])
    return [results[i] for i in chosen]


def _cosines(vectors: Sequence[Vector | None]) -> NDArray[np.float64]:
    width = max((len(vector) for vector in vectors if vector is not None), default=1)
    matrix = np.zeros((len(vectors), width))
    for row, vector in enumerate(vectors):
        if vector is not None:
            matrix[row] = vector / max(1e-12, float(np.linalg.norm(vector)))
    cosines: NDArray[np.float64] = matrix @ matrix.T
    return cosines


def _shingles(words: tuple[str, ...]) -> set[tuple[str, ...]]:
    if len(words) < _SHINGLE:
        return {words}
    return {words[i : i + _SHINGLE] for i in range(len(words) - _SHINGLE + 1)}
