"""Measures of rankings by ir-measures (trec_eval), and the certainty of differences. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

CUTOFFS = (1, 3, 5, 10, 20)
CURVE = tuple(range(1, 21))
"""Cutoffs of the recall curve."""
MAIN = ("recall@5", "MRR", "nDCG@10")
"""Measures by which settings are compared."""
RESAMPLES = 10_000
SEED = 20_08
_PAIRS_AT_ONCE = 2_000_000


def measure(
    rankings: Mapping[str, Sequence[str]], gold: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, float]]:
    """Return the measures by question: recall@k, precision@k, hit@k, MRR, nDCG@10.

    `rankings` are the units found, best first; `gold` those to be found, all equally relevant.
    recall@k is the share of the gold among the first k, hit@k whether any is. All measures of a
    question that found nothing are 0.
    """
    import ir_measures
    from ir_measures import RR, P, R, Success, nDCG

    names = {RR: "MRR", nDCG @ 10: "nDCG@10"}
    names |= {R @ k: f"recall@{k}" for k in CURVE}
    names |= {P @ k: f"precision@{k}" for k in CUTOFFS}
    names |= {Success @ k: f"hit@{k}" for k in CUTOFFS}
    qrels = {question: dict.fromkeys(units, 1) for question, units in gold.items()}
    run = {
        question: {unit: float(len(units) - place) for place, unit in enumerate(units)}
        for question, units in rankings.items()
        if units
    }
    found = {question: dict.fromkeys(names.values(), 0.0) for question in gold}
    for value in ir_measures.iter_calc(list(names), qrels, run) if run else ():
        found[value.query_id][names[value.measure]] = float(value.value)
    return found


def means(values: Mapping[str, Mapping[str, float]], questions: Sequence[str]) -> dict[str, float]:
    """Return the mean of each measure over the given questions."""
    rows = [values[question] for question in questions]
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


@dataclass(frozen=True)
class Difference:
    """How much better one setting is than another on the same questions."""

    measure: str
    mean: float
    low: float
    high: float
    """End of the 95 % interval that begins at `low`."""
    better: int
    worse: int
    """Number of questions that got worse."""

    @property
    def is_sure(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low > 0 or self.high < 0


def paired_bootstrap(
    name: str, before: Sequence[float], after: Sequence[float], resamples: int = RESAMPLES
) -> Difference:
    """Return the difference of two settings' values by question, with its 95 % interval.

    Questions are drawn with replacement, keeping both values of each together. (Efron and
    Tibshirani: An Introduction to the Bootstrap, 1993; percentile interval.) The seed is fixed, so
    the same values give the same interval.
    """
    differences = np.asarray(after, dtype=float) - np.asarray(before, dtype=float)
    count = len(differences)
    random = np.random.default_rng(SEED)
    sums: list[np.ndarray] = []
    left = resamples
    while left:
        rows = min(left, max(1, _PAIRS_AT_ONCE // count))
        sums.append(differences[random.integers(0, count, (rows, count))].mean(axis=1))
        left -= rows
    low, high = np.percentile(np.concatenate(sums), [2.5, 97.5])
    return Difference(
        name,
        float(differences.mean()),
        float(low),
        float(high),
        int((differences > 1e-9).sum()),
        int((differences < -1e-9).sum()),
    )


class StageLatency(NamedTuple):
    """Percentiles of the latency of a stage, in milliseconds."""

    p50: float
    p95: float


def percentiles(seconds: Sequence[Mapping[str, float]]) -> dict[str, StageLatency]:
    """Return the latency of each stage, over the questions for which it ran."""
    stages = dict.fromkeys(stage for row in seconds for stage in row)
    found = {}
    for stage in stages:
        values = [1000 * row[stage] for row in seconds if stage in row]
        p50, p95 = np.percentile(values, [50, 95])
        found[stage] = StageLatency(float(p50), float(p95))
    return found
