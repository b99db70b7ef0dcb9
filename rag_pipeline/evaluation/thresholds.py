"""Checks what retrieval must reach (`[evaluation]` in rag.toml). Pure."""

from __future__ import annotations

from dataclasses import dataclass

from rag_pipeline.evaluation.evaluate import Evaluation
from rag_pipeline.settings import EvaluationSettings


@dataclass(frozen=True)
class Threshold:
    """A figure and its limit."""

    name: str
    value: float
    limit: float
    at_least: bool

    @property
    def passed(self) -> bool:
        """Whether the figure keeps the limit; equality is enough."""
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def __str__(self) -> str:
        sign = "at least" if self.at_least else "at most"
        return f"{self.name} {self.value:.3f}, {sign} {self.limit:g}"


def check_thresholds(evaluation: Evaluation, settings: EvaluationSettings) -> list[Threshold]:
    """Return recall@5, MRR and the p95 latency of the search (ms) with their thresholds."""
    values = evaluation.by_group["all"]
    return [
        Threshold("recall_at_5", values["recall@5"], settings.min_recall_at_5, at_least=True),
        Threshold("mrr", values["MRR"], settings.min_mrr, at_least=True),
        Threshold("p95_ms", evaluation.latency["search"].p95, settings.max_p95_ms, at_least=False),
    ]
