"""What the API and the tools give. Made of the objects below by their attributes."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Reply(BaseModel):
    """Read from an object's attributes."""

    model_config = ConfigDict(from_attributes=True)


class Region(Reply):
    """A box on a page, in shares (0..1) of the page, origin top left."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


class Share(Reply):
    """What one clause of one leg gave to a result's score."""

    leg: str
    clause: str
    raw_score: float = Field(description="BM25, 1 for a phrase, or the cosine")
    rank: int = Field(description="In the leg, from 1")
    weight: float
    contribution: float = Field(description="Its part of the fused score")


class Result(Reply):
    """A chunk that was found; the details' contributions add up to its score."""

    chunk_id: int
    document: str = Field(description="Name of the file")
    source_hash: str
    title: str | None
    breadcrumb_trail: str
    content: str
    kind: str
    page: int = Field(description="The one to look at: with most of the query's words")
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
    details: list[Share]
    context: str | None = Field(description="The section or the neighbours, where asked for")
    marks: list[tuple[int, int]] = Field(
        default=[], description="Words of the query in the content: code points, end excluded"
    )


class CorrectionReply(Reply):
    """A word that was searched for in another's stead."""

    typed: str
    found: str


class SearchReply(Reply):
    """Results, best first."""

    query: str
    results: list[Result]
    notes: list[str] = Field(description="What to know of the search")
    corrections: list[CorrectionReply]
    feedback: list[str] = Field(
        description="Words of the best results that were searched for, too, as little was found"
    )
    seconds: dict[str, float]


class CitationReply(Reply):
    """A place that an answer points to."""

    number: int
    marker: str = Field(description="As the text writes it: [c2], or [2] in an extractive answer")
    document: str
    source_hash: str | None
    page: int = Field(description="The one to look at: with most of the question's words")
    page_start: int
    page_end: int
    breadcrumb_trail: str
    chunk_id: int
    regions: list[Region]


class QuoteReply(Reply):
    """A sentence of a document, unchanged."""

    text: str
    score: float
    number: int


class ComputationReply(Reply):
    """The statement that an answer was computed by."""

    source: str
    sql: str
    is_exact: bool = Field(description="Read by rules; else a chat model wrote the SQL")


class AnswerReply(Reply):
    """An answer, with the place of every statement."""

    question: str
    text: str
    kind: Literal["chat", "extractive", "computed"]
    status: Literal["answered", "not_found", "refused", "cut"]
    citations: list[CitationReply]
    quotes: list[QuoteReply]
    computation: ComputationReply | None = Field(
        default=None, description="How a number was computed over a database"
    )
    problems: list[str] = Field(description="Reasons for doubt")
    notes: list[str]
    model: str
    seconds: dict[str, float]


class OutlineEntry(Reply):
    """A heading."""

    level: int = Field(description="From 0")
    title: str
    page: int
    breadcrumb_trail: str = Field(description="Names the section to `read_section`")


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
    """A chunk as it is stored."""

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
    next_chunk_id: int | None = Field(description="Where the section goes on, if it was cut")


class DocumentReply(Reply):
    """A document, and how it is."""

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


class Counts(Reply):
    """How much there is."""

    documents: int
    ready: int
    failed: int
    pending: int
    pages: int
    chunks: int


class SourcesReply(Reply):
    """The documents and the folders they come from."""

    counts: Counts
    waiting: int | None = Field(description="Documents for the next sync; null: not yours to know")
    folders: list[str]
    languages: list[str]
    tags: list[str]
    total: int = Field(description="Documents that pass the filter")
    documents: list[DocumentReply]


class WordReply(Reply):
    """A word on a page, with its box in shares of the page."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    is_hit: bool = Field(default=False, description="Whether it is one of the query's")


class WordsReply(Reply):
    """The words of a page."""

    page: int
    words: list[WordReply]


class EvaluationReply(Reply):
    """The last evaluation; nothing but `is_there` where none was made."""

    is_there: bool
    made_at: datetime | None = None
    questions_name: str | None = None
    thresholds: dict[str, bool] = {}
    settings: list[dict[str, Any]] = []
    has_report: bool = False


class HealthReply(Reply):
    """Whether the server can answer."""

    status: Literal["ok"]
    version: str
