"""What a search returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePath
from typing import Any

from rag_pipeline.search.legs.corrections import Correction
from rag_pipeline.search.scores import ScoreDetail

FOUND = 0.5
"""Certainty from which something was found."""


@dataclass(frozen=True)
class FoundChunk:
    """A chunk as stored: a row of the statement `found_chunks`."""

    chunk_id: int
    source_hash: str
    source_path: str
    title: str | None
    chunk_index: int
    kind: str
    breadcrumb_trail: str
    content: str
    page_start: int
    page_end: int
    regions: list[dict[str, float]]
    language: str
    metadata: dict[str, Any]
    parent_index: int | None = None
    tags: Sequence[str] = ()
    updated_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class SearchResult(FoundChunk):
    """A chunk that was found, and why.

    `score` is the fused score, the sum of the details' contributions. `text_score` is the weighted
    sum of the text leg's clauses and `vector_score` the cosine similarity; None if the leg did not
    find the chunk.
    """

    score: float
    text_score: float | None
    vector_score: float | None
    details: tuple[ScoreDetail, ...]
    relevance: float = 0.0
    """0..1, comparable between queries; `rag_pipeline.search.ranking.relevance` has the formula."""
    rerank_score: float | None = None
    """The score of the reranker, if one is set."""
    context: str | None = None
    """The section or the neighbours, including the chunk itself, if requested."""
    pages: Sequence[int] = ()
    """The chunk's pages, those with most of the query's words first."""
    copies: Sequence[str] = ()
    """Paths of other files that say the same, and whose results were left out for it."""

    @property
    def page(self) -> int:
        """The page to look at."""
        return self.pages[0] if self.pages else self.page_start

    @property
    def document(self) -> str:
        """The file's name."""
        return PurePath(self.source_path).name


@dataclass(frozen=True)
class SearchResponse:
    """Results, best first, and how they were found."""

    query: str
    results: list[SearchResult]
    seconds: dict[str, float] = field(default_factory=dict)
    """By stage: filter, embed, text, vector, feedback, fuse; only stages that ran."""
    notes: list[str] = field(default_factory=list)
    """For the user: a cut query, an empty knowledge base, why nothing was found."""
    corrections: list[Correction] = field(default_factory=list)
    """Mistyped words, and what was searched for instead."""
    feedback: Sequence[str] = ()
    """Words of the best results that were also searched for, because the query found little."""
    certainty: float = 1.0
    """How sure the search is of its best result, 0..1 (`ranking.relevance`)."""

    @property
    def is_found(self) -> bool:
        """Whether something was found; otherwise the results are only the nearest texts."""
        return bool(self.results) and self.certainty >= FOUND
