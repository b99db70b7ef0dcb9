"""Relevance: one number in 0..1 that means the same for every query. Pure.

Fused scores only give an order. Relevance measures how sure each leg is: the text leg by the share
of what the words could give, the vector leg by where the cosine lies between unrelated texts and a
certain match. Either is enough: relevance = 1 − (1 − text)(1 − vector), plus small boosts for
recent documents and preferred sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from rag_pipeline.search.scores import ScoreDetail
from rag_pipeline.settings import ClauseWeights, RelevanceSettings

_PHRASE = 0.9
"""Text match of a chunk that contains the phrase."""


def text_match(text_score: float | None, details: Sequence[ScoreDetail], weight: float) -> float:
    """Return the share found of what the words could give, 0..1.

    `weight` is that of the clause `words`: the words' part of the leg's score divided by it is BM25
    relative to its ceiling. A phrase is worth 0.9.
    """
    text = [detail for detail in details if detail.leg == "text"]
    if text_score is None or not text:
        return 0.0
    whole = sum(detail.contribution for detail in text)
    by_words = sum(d.contribution for d in text if d.clause in ("words", "fuzzy"))
    match = text_score * by_words / whole / weight if whole else 0.0
    if any(detail.clause.startswith("phrase") for detail in text):
        match = max(match, _PHRASE)
    return min(1.0, match)


def relevance(
    text_score: float | None,
    vector_score: float | None,
    details: Sequence[ScoreDetail],
    settings: RelevanceSettings,
    clauses: ClauseWeights,
    *,
    tags: Sequence[str] = (),
    updated_at: datetime | None = None,
    now: datetime | None = None,
) -> float:
    """Return the relevance of a result, 0..1; `now` is for tests."""
    text = text_match(text_score, details, clauses.words)
    vector = 0.0
    if vector_score is not None:
        reach = max(1e-6, settings.similarity_ceiling - settings.similarity_floor)
        vector = min(1.0, max(0.0, (vector_score - settings.similarity_floor) / reach))
    found = 1 - (1 - text) * (1 - vector)
    if settings.recency_boost and updated_at is not None:
        age = ((now or datetime.now(UTC)) - updated_at).total_seconds() / 86_400
        found += settings.recency_boost * 0.5 ** (max(0.0, age) / settings.recency_half_life_days)
    found += max((settings.tag_boosts.get(tag, 0.0) for tag in tags), default=0.0)
    return min(1.0, max(0.0, found))
