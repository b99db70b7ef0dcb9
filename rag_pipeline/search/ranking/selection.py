"""Chooses among ranked results: the best, or the best that also differ. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_pipeline.search.asked_query import Vector
from rag_pipeline.search.search_results import SearchResult

_SHINGLE = 3


def without_duplicates(
    results: Sequence[SearchResult], similarity: float
) -> tuple[list[SearchResult], int]:
    """Leave out results that repeat a better one; return the rest and how many were left out.

    Texts are compared by their word triples (Jaccard); `similarity` 1 keeps everything.
    (Broder: On the resemblance and containment of documents, 1997.)
    """
    if similarity >= 1:
        return list(results), 0
    kept: list[SearchResult] = []
    seen: list[set[tuple[str, ...]]] = []
    for result in results:
        shingles = _shingles(result.content)
        if all(_jaccard(shingles, other) < similarity for other in seen):
            kept.append(result)
            seen.append(shingles)
    return kept, len(results) - len(kept)


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


def _shingles(text: str) -> set[tuple[str, ...]]:
    words = text.lower().split()
    if len(words) < _SHINGLE:
        return {tuple(words)}
    return {tuple(words[i : i + _SHINGLE]) for i in range(len(words) - _SHINGLE + 1)}


def _jaccard(one: set[tuple[str, ...]], other: set[tuple[str, ...]]) -> float:
    return len(one & other) / len(one | other)
