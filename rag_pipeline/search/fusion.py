"""Reciprocal rank fusion that shows where each score came from. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class LegHit:
    """A chunk as one leg found it; `raw_score` in the leg's own unit (BM25, cosine)."""

    chunk_id: int
    raw_score: float


@dataclass(frozen=True)
class ScoreDetail:
    """What one leg gave to a result: `contribution` = weight / (k + rank)."""

    leg: str
    raw_score: float
    rank: int
    weight: float
    contribution: float


@dataclass(frozen=True)
class FusedHit:
    """A chunk with its fused score; the details' contributions add up to it."""

    chunk_id: int
    score: float
    details: tuple[ScoreDetail, ...]


def fuse(
    legs: Mapping[str, Sequence[LegHit]], weights: Mapping[str, float], rank_constant: int = 60
) -> list[FusedHit]:
    """Fuse ranked lists, best first: score = Σ weight / (k + rank), rank from 1.

    A leg that did not find a chunk gives it nothing. Equal scores are ordered by chunk id, so that
    the same input always gives the same order. (Cormack, Clarke, Büttcher: Reciprocal Rank Fusion,
    SIGIR 2009; k = 60 is theirs.)
    """
    details: dict[int, list[ScoreDetail]] = {}
    for leg, hits in legs.items():
        weight = weights.get(leg, 0.0)
        if weight == 0:
            continue
        for rank, hit in enumerate(hits, start=1):
            share = weight / (rank_constant + rank)
            details.setdefault(hit.chunk_id, []).append(
                ScoreDetail(leg, hit.raw_score, rank, weight, share)
            )
    fused = [
        FusedHit(chunk_id, sum(item.contribution for item in items), tuple(items))
        for chunk_id, items in details.items()
    ]
    return sorted(fused, key=lambda hit: (-hit.score, hit.chunk_id))
