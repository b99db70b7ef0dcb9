"""Scores from the clauses of a leg to a fused result: who found a chunk, and what it counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Clause:
    """What one clause of a leg found in a chunk.

    `share` is the clause's part of the chunk's score in the leg, 0..1.
    """

    name: str
    raw_score: float
    weight: float
    share: float
    is_bonus: bool = False
    """A bonus is added on top and does not set the scale of the leg."""


@dataclass(frozen=True)
class LegHit:
    """A chunk found by one leg; `raw_score` is in the leg's own unit.

    Without `clauses`, the leg is its only clause.
    """

    chunk_id: int
    raw_score: float
    clauses: tuple[Clause, ...] = ()

    def plus(self, name: str, raw_score: float, weight: float, given: float) -> LegHit:
        """Return the hit with one more clause, which gives `given` in the leg's unit."""
        if not given > 0:
            return self
        total = self.raw_score + given
        kept = self.raw_score / total
        clauses = [replace(clause, share=clause.share * kept) for clause in self.clauses]
        added = Clause(name, raw_score, weight, 1 - kept)
        return LegHit(self.chunk_id, total, (*clauses, added))


@dataclass(frozen=True)
class ScoreDetail:
    """The contribution of one clause of one leg to a result.

    A leg's contribution is split over its clauses by their shares. `weight` is the weight of the
    leg times, if it has several clauses, that of the clause.
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
