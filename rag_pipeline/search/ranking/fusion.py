"""Fuses the legs by scores or by ranks, and keeps where each score came from. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from rag_pipeline.search.scores import Clause, FusedHit, LegHit, ScoreDetail

Method = Literal["relative_score", "rrf"]
VECTOR = "vector"
"""The leg whose scores, cosines, have no meaningful zero."""


def fuse(
    legs: Mapping[str, Sequence[LegHit]],
    weights: Mapping[str, float],
    method: Method = "relative_score",
    rank_constant: int = 60,
    *,
    sure: Mapping[str, float] | None = None,
) -> list[FusedHit]:
    """Fuse ranked lists, best first.

    `relative_score`: Σ weight × the leg's score relative to its best, with weights that add up to
    1. Cosines, which have no meaningful zero, are measured from the leg's last hit. A bonus may
    exceed 1. (A convex combination, as in Bruch, Gai, Ingber: An Analysis of Fusion Functions for
    Hybrid Retrieval, TOIS 2023.)

    `sure` is the score, by leg, from which the best hit counts in full; if the best is lower, as
    for words in another language, the whole leg counts for proportionally less.

    `rrf`: Σ weight / (k + rank), rank from 1. (Cormack, Clarke, Büttcher: Reciprocal Rank Fusion,
    SIGIR 2009; k = 60 is theirs.)

    A leg contributes nothing to chunks it did not find. Equal scores are ordered by chunk id, so
    that the order is deterministic.
    """
    details: dict[int, list[ScoreDetail]] = {}
    raw_scores: dict[int, dict[str, float]] = {}
    total = sum(weights.get(leg, 0.0) for leg in legs) or 1.0
    for leg, hits in legs.items():
        weight = weights.get(leg, 0.0)
        if weight == 0 or not hits:
            continue
        floor, reach = _scale(leg, hits, (sure or {}).get(leg))
        for rank, hit in enumerate(hits, start=1):
            if method == "rrf":
                given = weight / (rank_constant + rank)
            else:
                given = weight / total * ((hit.raw_score - floor) / reach if reach else 1.0)
            details.setdefault(hit.chunk_id, []).extend(_details(leg, hit, rank, weight, given))
            raw_scores.setdefault(hit.chunk_id, {})[leg] = hit.raw_score
    fused = [
        FusedHit(
            chunk_id, sum(item.contribution for item in items), tuple(items), raw_scores[chunk_id]
        )
        for chunk_id, items in details.items()
    ]
    return sorted(fused, key=lambda hit: (-hit.score, hit.chunk_id))


def _scale(leg: str, hits: Sequence[LegHit], sure: float | None) -> tuple[float, float]:
    """Return the score that counts as 0, and how far the best without a bonus is above it.

    For cosines it is one average step below the last, so that every hit contributes.
    """
    plain = [
        hit.raw_score * (1 - sum(clause.share for clause in hit.clauses if clause.is_bonus))
        for hit in hits
    ]
    best, last = max(plain), min(plain)
    floor = last - (best - last) / len(plain) if leg == VECTOR else 0.0
    return floor, (best if sure is None else max(best, sure)) - floor


def _details(
    leg: str, hit: LegHit, rank: int, weight: float, given: float
) -> Iterator[ScoreDetail]:
    for clause in hit.clauses or (Clause(leg, hit.raw_score, 1.0, 1.0),):
        yield ScoreDetail(
            leg, clause.name, clause.raw_score, rank, weight * clause.weight, given * clause.share
        )
