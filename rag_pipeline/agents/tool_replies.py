"""What the tools return: text, each piece with the citation that leads to it."""

from __future__ import annotations

from pydantic import BaseModel, Field

from rag_pipeline.serve import reply_models as replies
from rag_pipeline.serve.reply_models import Region, Reply


class ToolCitation(Reply):
    """Where a text is in its document."""

    document: str = Field(description="Name of the file")
    source_hash: str | None = Field(
        description="Identifies the document unambiguously to other tools"
    )
    page: int = Field(description="The page to look at")
    page_start: int
    page_end: int
    chunk_id: int
    breadcrumb_trail: str = Field(description="The headings above it; identifies the section")
    regions: list[Region] = Field(
        description="Boxes in fractions (0..1) of the page, from the top left"
    )


class Found(BaseModel):
    """A passage that was found."""

    text: str
    relevance: float = Field(description="0..1, comparable between searches")
    score: float
    context: str | None = Field(default=None, description="The section or the neighbours")
    citation: ToolCitation


class SearchResults(BaseModel):
    """Passages, best first."""

    is_found: bool = Field(description="False: nothing was found, results are the nearest texts")
    results: list[Found]
    notes: list[str] = []
    corrections: list[str] = Field(
        default=[], description="Corrected words that were searched instead"
    )


class Answered(BaseModel):
    """An answer; markers in its text such as [c2] refer to the citations."""

    text: str
    kind: str = Field(
        description="chat: written by a model; extractive: sentences of the documents; "
        "computed: by SQL over a database"
    )
    status: str = Field(description="answered, not_found, refused or cut")
    citations: dict[str, ToolCitation] = Field(description="By marker")
    problems: list[str] = Field(default=[], description="Reasons to doubt the answer")
    notes: list[str] = []


class ToolPassage(BaseModel):
    """A part of a section."""

    text: str
    citation: ToolCitation


class ToolSection(BaseModel):
    """A section, in the document's order."""

    document: str
    section: str
    passages: list[ToolPassage]
    next_chunk_id: int | None = Field(
        default=None, description="Where to continue if the section was cut"
    )


class Remembered(BaseModel):
    """A saved note."""

    document: str
    is_searchable: bool
    note: str


def search_results(reply: replies.SearchReply) -> SearchResults:
    """Return the reply of a search as the tool returns it."""
    return SearchResults(
        is_found=reply.is_found,
        results=[
            Found(
                text=one.content,
                relevance=round(one.relevance, 4),
                score=round(one.score, 6),
                context=one.context,
                citation=ToolCitation.model_validate(one),
            )
            for one in reply.results
        ],
        notes=reply.notes,
        corrections=[f"{one.typed} → {one.found}" for one in reply.corrections],
    )


def answered(reply: replies.AnswerReply) -> Answered:
    """Return an answer as the tool returns it."""
    return Answered(
        text=reply.text,
        kind=reply.kind,
        status=reply.status,
        citations={one.marker: ToolCitation.model_validate(one) for one in reply.citations},
        problems=reply.problems,
        notes=reply.notes,
    )


def section(reply: replies.SectionReply) -> ToolSection:
    """Return a section as the tool returns it."""
    return ToolSection(
        document=reply.document,
        section=reply.breadcrumb_trail,
        passages=[
            ToolPassage(
                text=one.content,
                citation=ToolCitation(
                    document=reply.document,
                    source_hash=reply.source_hash,
                    page=one.page_start,
                    page_start=one.page_start,
                    page_end=one.page_end,
                    chunk_id=one.chunk_id,
                    breadcrumb_trail=one.breadcrumb_trail,
                    regions=one.regions,
                ),
            )
            for one in reply.chunks
        ],
        next_chunk_id=reply.next_chunk_id,
    )
