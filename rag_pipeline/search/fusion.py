"""Reciprocal rank fusion that shows where each score came from. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Clause:
    """What one clause of a leg found in a chunk.

    `share` is the part of the chunk's score in the leg that this clause made, 0..1.
    """

    name: str
    raw_score: float
    weight: float
    share: float


@dataclass(frozen=True)
class LegHit:
    """A chunk as one leg found it; `raw_score` in the leg's own unit.

    Without `clauses`, the leg is its only clause.
    """

    chunk_id: int
    raw_score: float
    clauses: tuple[Clause, ...] = ()


@dataclass(frozen=True)
class ScoreDetail:
    """What one clause of one leg gave to a result.

    A leg gives weight / (k + rank), split over its clauses by their shares. `weight` is the leg's
    times, where there is more than one, the clause's own.
    """

    leg: str
    clause: str
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
    raw_scores: Mapping[str, float]
    """The leg's raw score, by leg."""


def fuse(
    legs: Mapping[str, Sequence[LegHit]], weights: Mapping[str, float], rank_constant: int = 60
) -> list[FusedHit]:
    """Fuse ranked lists, best first: score = Σ weight / (k + rank), rank from 1.

    A leg that did not find a chunk gives it nothing. Equal scores are ordered by chunk id, so that
    the same input always gives the same order. (Cormack, Clarke, Büttcher: Reciprocal Rank Fusion,
    SIGIR 2009; k = 60 is theirs.)
    """
    details: dict[int, list[ScoreDetail]] = {}
    raw_scores: dict[int, dict[str, float]] = {}
    for leg, hits in legs.items():
        weight = weights.get(leg, 0.0)
        if weight == 0:
            continue
        for rank, hit in enumerate(hits, start=1):
            share = weight / (rank_constant + rank)
            details.setdefault(hit.chunk_id, []).extend(_details(leg, hit, rank, weight, share))
            raw_scores.setdefault(hit.chunk_id, {})[leg] = hit.raw_score
    fused = [
        FusedHit(
            chunk_id, sum(item.contribution for item in items), tuple(items), raw_scores[chunk_id]
        )
        for chunk_id, items in details.items()
    ]
    return sorted(fused, key=lambda hit: (-hit.score, hit.chunk_id))


def _details(
    leg: str, hit: LegHit, rank: int, weight: float, share: float
) -> Iterator[ScoreDetail]:
    for clause in hit.clauses or (Clause(leg, hit.raw_score, 1.0, 1.0),):
        yield ScoreDetail(
            leg, clause.name, clause.raw_score, rank, weight * clause.weight, share * clause.share
        )
