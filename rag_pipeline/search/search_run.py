"""The state of one pass of a search."""

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

_POOL = 2
"""Candidates fetched per result …"""
_CHOSEN_FROM = 4
"""… and if they are chosen so that they differ."""


@dataclass
class SearchRun:
    """One pass of a search over a scope: its input, and what it finds on the way."""

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
    languages: Mapping[int, str] = field(default_factory=dict)
    """Languages of the vector leg's chunks, if the searched ones have several."""
    best_cosine: float | None = None
    """Of the vector leg's hits, in the space of the local model."""
    certainty: float = 0.0
    """How sure the run is of its best result (`ranking.relevance`)."""

    @property
    def candidates(self) -> int:
        """Number of chunks each leg returns."""
        return max(self.settings.limit, self.settings.candidates)

    @property
    def pool_size(self) -> int:
        """Number of fused results to fetch: some may be left out, and boosts change the order."""
        settings = self.settings
        size = settings.limit * (_CHOSEN_FROM if settings.selection == "mmr" else _POOL)
        if settings.reranker.url is not None:
            size = max(size, settings.reranker.candidates)
        return size
