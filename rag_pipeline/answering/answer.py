"""An answer: its text, the source of each statement, and reasons to doubt it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from rag_pipeline.search import SearchResult
from rag_pipeline.text import detect_language
from rag_pipeline.usage import Usage

Kind = Literal["chat", "extractive", "computed"]
Status = Literal["answered", "not_found", "refused", "cut"]

_NOT_FOUND = {"en": "The documents do not say.", "ko": "문서에 나와 있지 않습니다."}


def not_found_text(question: str) -> str:
    """Return the statement that the documents do not say, in the question's language.

    >>> not_found_text("When is it?"), not_found_text("언제입니까?")
    ('The documents do not say.', '문서에 나와 있지 않습니다.')
    """
    return _NOT_FOUND.get(detect_language(question), _NOT_FOUND["en"])


@dataclass(frozen=True)
class Citation:
    """A place in a document that an answer cites."""

    number: int
    marker: str
    """As written in the answer: `[c2]`, or `[2]` in an extractive answer."""
    document: str
    source_path: str
    page_start: int
    page_end: int
    breadcrumb_trail: str
    chunk_id: int
    regions: list[dict[str, float]]
    """Page and box (0..1 of the page, origin top left) of every part of the chunk."""
    pages: Sequence[int] = ()
    """The chunk's pages, those with most of the question's words first."""
    source_hash: str = ""
    """Identifies the document unambiguously."""

    @property
    def page(self) -> int:
        """The page to look at."""
        return self.pages[0] if self.pages else self.page_start

    @classmethod
    def of(cls, number: int, marker: str, result: SearchResult) -> Citation:
        """Cite a search result."""
        return cls(
            number,
            marker,
            result.document,
            result.source_path,
            result.page_start,
            result.page_end,
            result.breadcrumb_trail,
            result.chunk_id,
            result.regions,
            result.pages,
            result.source_hash,
        )


@dataclass(frozen=True)
class Quote:
    """A sentence of a document, unchanged except for white space."""

    text: str
    score: float
    citation: Citation


@dataclass(frozen=True)
class Computation:
    """How a number was computed from a relational source."""

    source: str
    """Name of the source in rag.toml."""
    sql: str
    columns: list[str]
    rows: list[list[Any]]
    is_exact: bool
    """Whether rules interpreted the question; otherwise a chat model wrote the SQL."""


@dataclass(frozen=True)
class Answer:
    """An answer and where it comes from.

    `kind` is its origin: a chat model, sentences of the documents (`extractive`), or a database and
    the SQL in `computation` (`computed`). `status` is `answered`; `not_found` if the documents do
    not say; `refused` by the model or its provider; or `cut` at `chat.max_tokens`. `problems` are
    reasons for doubt, such as a citation of a chunk that was not given.
    """

    question: str
    text: str
    kind: Kind
    status: Status
    citations: list[Citation] = field(default_factory=list)
    quotes: list[Quote] = field(default_factory=list)
    """Of an extractive answer, best first."""
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    computation: Computation | None = None
    query: str = ""
    """What was searched for: the question, or its standalone form."""
    context: list[Citation] = field(default_factory=list)
    """The chunks given to the model, cited or not."""
    model: str = ""
    usage: list[Usage] = field(default_factory=list)
    """Tokens of this answer; empty if no model was used."""
    seconds: dict[str, float] = field(default_factory=dict)
    """By stage: those of the search, and `generate`."""

    @property
    def is_supported(self) -> bool:
        """Whether it is complete and cites only what was given."""
        return self.status == "answered" and not self.problems


def not_found(question: str, kind: Kind, notes: Sequence[str] = ()) -> Answer:
    """Return the answer that the documents do not say."""
    return Answer(question, not_found_text(question), kind, "not_found", notes=list(notes))
