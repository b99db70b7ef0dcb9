"""Replies of the API and the tools, read from attributes of the library's objects."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Reply(BaseModel):
    """Base of all replies; validates from an object's attributes."""

    model_config = ConfigDict(from_attributes=True)


class Region(Reply):
    """A box on a page, in fractions (0..1) of the page, origin top left."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


class ScoreShare(Reply):
    """Contribution of one clause of one leg to a result's score."""

    leg: str
    clause: str
    raw_score: float = Field(description="BM25, 1 for a phrase, or the cosine")
    rank: int = Field(description="Rank in the leg, from 1")
    weight: float
    contribution: float = Field(description="Part of the fused score")


class Result(Reply):
    """A chunk that was found; the contributions in `details` add up to its score."""

    chunk_id: int
    document: str = Field(description="Name of the file")
    source_hash: str
    title: str | None
    breadcrumb_trail: str
    content: str
    kind: str
    page: int = Field(description="The page to look at: it has most of the query's words")
    page_start: int
    page_end: int
    regions: list[Region]
    language: str
    tags: list[str]
    metadata: dict[str, Any]
    score: float
    relevance: float = Field(description="0..1, comparable between searches")
    text_score: float | None
    vector_score: float | None
    rerank_score: float | None
    details: list[ScoreShare]
    context: str | None = Field(description="The section or the neighbours, if requested")
    marks: list[tuple[int, int]] = Field(
        default=[],
        description="Spans (code points, end exclusive) of the query's words in the content",
    )


class CorrectionReply(Reply):
    """A word of the query and the corrected word that was searched instead."""

    typed: str
    found: str


class SearchReply(Reply):
    """Results, best first."""

    query: str
    is_found: bool = Field(description="False: nothing was found, results are the nearest texts")
    results: list[Result]
    notes: list[str] = Field(description="Remarks about the search")
    corrections: list[CorrectionReply]
    feedback: list[str] = Field(
        description="Words of the best results that were also searched, because little was found"
    )
    seconds: dict[str, float]


class CitationReply(Reply):
    """A place in a document that an answer cites."""

    number: int
    marker: str = Field(description="As written in the text: [c2], or [2] in an extractive answer")
    document: str
    source_hash: str | None
    page: int = Field(description="The page to look at: it has most of the question's words")
    page_start: int
    page_end: int
    breadcrumb_trail: str
    chunk_id: int
    regions: list[Region]


class QuoteReply(Reply):
    """A sentence quoted from a document, word for word."""

    text: str
    score: float
    number: int


class ComputationReply(Reply):
    """The SQL statement that computed an answer."""

    source: str
    sql: str
    is_exact: bool = Field(description="False if a chat model wrote the SQL")


class AnswerReply(Reply):
    """An answer, with the source of every statement."""

    question: str
    text: str
    kind: Literal["chat", "extractive", "computed"]
    status: Literal["answered", "not_found", "refused", "cut"]
    citations: list[CitationReply]
    quotes: list[QuoteReply]
    computation: ComputationReply | None = Field(
        default=None, description="How a number was computed from a database"
    )
    problems: list[str] = Field(description="Reasons to doubt the answer")
    notes: list[str]
    model: str
    seconds: dict[str, float]


class OutlineEntry(Reply):
    """A heading."""

    level: int = Field(description="From 0")
    title: str
    page: int
    breadcrumb_trail: str = Field(description="Identifies the section for `read_section`")


class OutlineReply(Reply):
    """The headings of a document, in reading order."""

    document: str
    source_hash: str
    title: str | None
    pages: int | None
    language: str | None
    has_page_images: bool
    headings: list[OutlineEntry]


class ChunkReply(Reply):
    """A stored chunk."""

    chunk_id: int
    chunk_index: int
    kind: str
    breadcrumb_trail: str
    content: str
    page_start: int
    page_end: int
    regions: list[Region]


class SectionReply(Reply):
    """Consecutive chunks of one document; cite them by document, page and chunk id."""

    document: str
    source_hash: str
    breadcrumb_trail: str
    page_start: int
    page_end: int
    chunks: list[ChunkReply]
    next_chunk_id: int | None = Field(description="Where to continue if the section was cut")


class DocumentReply(Reply):
    """A document and its status."""

    document: str
    source_hash: str
    uris: list[str] = Field(description="Every file with this content")
    title: str | None
    pages: int | None
    language: str | None
    status: Literal["ready", "failed", "pending"]
    chunks: int
    tags: list[str]
    warnings: list[str]
    failure: str | None
    failure_stage: str | None
    tries: int
    updated_at: datetime


class DocumentCounts(Reply):
    """Number of documents by status, of pages and of chunks."""

    documents: int
    ready: int
    failed: int
    pending: int
    pages: int
    chunks: int


class SourcesReply(Reply):
    """The documents and the folders they come from."""

    counts: DocumentCounts
    waiting: int | None = Field(description="Documents to be synced; null for restricted readers")
    folders: list[str]
    languages: list[str]
    tags: list[str]
    total: int = Field(description="Number of documents that match the filter")
    documents: list[DocumentReply]


class WordReply(Reply):
    """A word on a page, with its box in fractions of the page."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    is_hit: bool = Field(default=False, description="Whether the word matches the query")


class WordsReply(Reply):
    """The words of a page."""

    page: int
    words: list[WordReply]


class EvaluationReply(Reply):
    """The last evaluation; only `is_there` is set if there is none."""

    is_there: bool
    made_at: datetime | None = None
    questions_name: str | None = None
    thresholds: dict[str, bool] = {}
    settings: list[dict[str, Any]] = []
    has_report: bool = False


class HealthReply(Reply):
    """Status of the server."""

    status: Literal["ok"]
    version: str
