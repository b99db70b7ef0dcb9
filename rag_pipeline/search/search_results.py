"""What a search returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePath
from typing import Any

from rag_pipeline.search.legs.corrections import Correction
from rag_pipeline.search.ranking.fusion import FusedHit, ScoreDetail


@dataclass(frozen=True)
class SearchResult:
    """A chunk that was found, and why.

    `score` is the fused score, the sum of the details' contributions. `text_score` is the text
    leg's weighted sum of clauses and `vector_score` the cosine similarity; None where the leg did
    not find the chunk.
    """

    chunk_id: int
    score: float
    text_score: float | None
    vector_score: float | None
    details: tuple[ScoreDetail, ...]
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
    relevance: float = 0.0
    """0..1, comparable between queries; `rag_pipeline.search.ranking.relevance` has the formula."""
    rerank_score: float | None = None
    """The reranker's, where one was asked."""
    context: str | None = None
    """The section or the neighbours of the chunk, itself included, where they were asked for."""
    parent_index: int | None = None
    tags: Sequence[str] = ()
    updated_at: datetime | None = None
    pages: Sequence[int] = ()
    """The chunk's pages, the one with most of the query's words first."""

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
    """Results, best first, and how they came about."""

    query: str
    results: list[SearchResult]
    seconds: dict[str, float] = field(default_factory=dict)
    """Per stage: filter, embed, text, vector, feedback, fuse; only those that were done."""
    notes: list[str] = field(default_factory=list)
    """What the user should know: a cut query, an empty knowledge base, why nothing was found."""
    corrections: list[Correction] = field(default_factory=list)
    """Mistyped words, and what was searched for in their stead."""
    feedback: Sequence[str] = ()
    """Words of the best results that were searched for, too, as the query's own found little."""


@dataclass(frozen=True)
class FoundChunk:
    """A row of the statement `found_chunks`."""

    chunk_id: int
    source_hash: str
    uri: str
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
    parent_index: int | None
    tags: list[str]
    updated_at: datetime


def to_result(hit: FusedHit, row: FoundChunk) -> SearchResult:
    """Return the result of a hit; `row` is its chunk."""
    return SearchResult(
        chunk_id=hit.chunk_id,
        score=hit.score,
        text_score=hit.raw_scores.get("text"),
        vector_score=hit.raw_scores.get("vector"),
        details=hit.details,
        source_path=row.uri,
        **{name: value for name, value in vars(row).items() if name not in ("chunk_id", "uri")},
    )
