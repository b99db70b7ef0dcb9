"""Relevance: one number in 0..1 that means the same for every query. Pure.

A fused score tells only the order. Relevance asks how sure either leg is: of the words, how much of
the most that they could give was found; of the meaning, where the cosine lies between what any two
texts have in common and a certain match. Either is enough: relevance = 1 − (1 − text)(1 − vector),
plus small boosts for recent documents and preferred sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from rag_pipeline.search.ranking.fusion import ScoreDetail
from rag_pipeline.settings import ClauseWeights, RelevanceSettings

_PHRASE = 0.9
"""Text match of a chunk with the very phrase."""


def text_match(text_score: float | None, details: Sequence[ScoreDetail], weight: float) -> float:
    """Return how much of what the words could give was found, 0..1.

    `weight` is the clause `words`' own; the words' part of the leg's score over it is BM25 as a
    share of its ceiling. A phrase is worth 0.9.
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
