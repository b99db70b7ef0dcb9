"""The state of one pass of a search: what it is asked for, and what it finds on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rag_pipeline.search.asked_query import AskedQuery, Vector
from rag_pipeline.search.filters import Scope
from rag_pipeline.search.legs.feedback_leg import FeedbackFound
from rag_pipeline.search.legs.text_leg import TextFound
from rag_pipeline.search.search_results import SearchResult
from rag_pipeline.settings import SearchSettings
from rag_pipeline.store.embeddings import EmbeddingSpace

_POOL = 4
"""Candidates fetched per result, where some are left out for being alike or weak."""


@dataclass
class SearchRun:
    """One pass of a search over a scope: what it is asked for, and what is learnt on the way."""

    asked: AskedQuery
    weights: Mapping[str, float]
    settings: SearchSettings
    scope: Scope
    seconds: dict[str, float] = field(default_factory=dict)
    results: list[SearchResult] = field(default_factory=list)
    """Candidates, best first."""
    repetitions: int = 0
    """Results left out because they repeat better ones."""
    weak: int = 0
    """Results left out because they are below `relevance_threshold`."""
    text: TextFound = field(default_factory=TextFound)
    feedback: FeedbackFound = field(default_factory=FeedbackFound)
    space: EmbeddingSpace | None = None
    embedding: Vector | None = None
    similarities: dict[int, float] = field(default_factory=dict)
    """Cosines of results that only feedback found, for their relevance."""

    @property
    def candidates(self) -> int:
        """How many chunks each leg returns."""
        return max(self.settings.limit, self.settings.candidates)

    @property
    def pool_size(self) -> int:
        """How many fused results are fetched."""
        settings = self.settings
        size = settings.limit
        if (
            settings.selection == "mmr"
            or settings.duplicate_similarity < 1
            or settings.relevance_threshold > 0
        ):
            size = _POOL * settings.limit
        if settings.reranker.url is not None:
            size = max(size, settings.reranker.candidates)
        return size
