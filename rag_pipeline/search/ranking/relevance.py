"""Relevance: one number in 0..1 that means the same for every query and follows the order. Pure.

Scores only give an order. How sure a search is of its best result is told by two signs: the share
of what the query's words could give, and, for the local model, whose cosines are known, where the
best cosine lies between unrelated texts and a certain match. A result's relevance is that
certainty, times its score relative to the best one's. Below half, nothing was found: the results
are only the nearest texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from rag_pipeline.search.scores import ScoreDetail
from rag_pipeline.search.search_results import FOUND, SearchResult
from rag_pipeline.settings import RelevanceSettings

_SURE_WORDS = 0.4
_SURE_WORDS_ALONE = 0.18
"""Shares of the words that are found by themselves, without a cosine and where there is none.
Chosen on three of four sets at a time (docs/benchmarks.md)."""
_COSINE_WEIGHT = 0.45
"""Weight of a certain cosine, as a share of the words."""
_LANGUAGE_BOOST = 0.2
"""Added, relative to the best score, for results in the question's language."""


def certainty(words: float, cosine: float | None, settings: RelevanceSettings) -> float:
    """Return how sure a search is of its best result, 0..1; `FOUND` and more: it was found.

    `words` is the best share of what the query's words could give, `cosine` the best one in the
    space of the local model, or None.

    >>> certainty(0.36, None, RelevanceSettings()), certainty(0.09, None, RelevanceSettings())
    (1.0, 0.25)
    """
    if cosine is None:
        return min(1.0, FOUND * words / _SURE_WORDS_ALONE)
    reach = max(1e-6, settings.similarity_ceiling - settings.similarity_floor)
    meaning = max(0.0, (cosine - settings.similarity_floor) / reach)
    return min(1.0, FOUND * (words + _COSINE_WEIGHT * meaning) / _SURE_WORDS)


def boosted(
    results: Sequence[SearchResult],
    settings: RelevanceSettings,
    language: str | None = None,
    now: datetime | None = None,
) -> list[SearchResult]:
    """Return the results with boosts in their scores, best first; `now` is for tests.

    Boosts are for recent documents, preferred tags, and the language of the question where the
    results have several. Each is a share of the best score.
    """
    best = max((one.score for one in results), default=0.0)
    several = len({one.language for one in results}) > 1
    changed = []
    for one in results:
        boosts = {"recency": 0.0, "tag": 0.0, "language": 0.0}
        if settings.recency_boost and one.updated_at is not None:
            age = max(0.0, ((now or datetime.now(UTC)) - one.updated_at).total_seconds() / 86_400)
            boosts["recency"] = settings.recency_boost * 0.5 ** (
                age / settings.recency_half_life_days
            )
        boosts["tag"] = max((settings.tag_boosts.get(tag, 0.0) for tag in one.tags), default=0.0)
        if several and one.language == language:
            boosts["language"] = _LANGUAGE_BOOST
        details = tuple(
            ScoreDetail("boost", name, share, 1, 1.0, share * best)
            for name, share in boosts.items()
            if share
        )
        if details:
            score = one.score + sum(detail.contribution for detail in details)
            changed.append(replace(one, score=score, details=(*one.details, *details)))
        else:
            changed.append(one)
    return sorted(changed, key=lambda one: (-one.score, one.chunk_id))


def with_relevance(results: Sequence[SearchResult], sure: float) -> list[SearchResult]:
    """Return the results with their relevance; `sure` is that of the best."""
    best = max((one.score for one in results), default=0.0) or 1.0
    return [replace(one, relevance=sure * max(0.0, one.score) / best) for one in results]
