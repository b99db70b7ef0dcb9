"""What an answer is: its text, where each statement stands, and what to know before trusting it."""

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
    """Return the plain statement that the documents do not say, in the question's language.

    >>> not_found_text("When is it?"), not_found_text("언제입니까?")
    ('The documents do not say.', '문서에 나와 있지 않습니다.')
    """
    return _NOT_FOUND.get(detect_language(question), _NOT_FOUND["en"])


@dataclass(frozen=True)
class Citation:
    """A place in a document that an answer points to."""

    number: int
    marker: str
    """As the answer's text writes it: `[c2]`, or `[2]` in an extractive answer."""
    document: str
    source_path: str
    page_start: int
    page_end: int
    breadcrumb_trail: str
    chunk_id: int
    regions: list[dict[str, float]]
    """Page and box (0..1 of the page, origin top left) of everything that the chunk is made of."""
    pages: Sequence[int] = ()
    """The chunk's pages, the one with most of the question's words first."""
    source_hash: str = ""
    """Names the document beyond doubt."""

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
    """A sentence of a document, unchanged but for white space."""

    text: str
    score: float
    citation: Citation


@dataclass(frozen=True)
class Computation:
    """How a number was computed over a relational source."""

    source: str
    """The source in rag.toml whose database was asked."""
    sql: str
    columns: list[str]
    rows: list[list[Any]]
    is_exact: bool
    """The question was read by rules; else a chat model wrote the SQL."""


@dataclass(frozen=True)
class Answer:
    """An answer and where it comes from.

    `kind` tells who wrote it: a chat model, or nobody (`extractive`: the documents' own sentences;
    `computed`: a database, by the SQL in `computation`).
    `status`: `answered`; `not_found`, the documents do not say; `refused` by the model or its
    provider; `cut` at `chat.max_tokens`. `problems` are reasons for doubt, such as a citation of a
    chunk that was not given.
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
    """What was searched: the question, or the standalone form of it."""
    context: list[Citation] = field(default_factory=list)
    """The chunks that were given to the model, cited or not."""
    model: str = ""
    usage: list[Usage] = field(default_factory=list)
    """Tokens of this answer; empty where no model was asked."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Per stage: those of the search, and `generate`."""

    @property
    def is_supported(self) -> bool:
        """Whether it is a whole answer that cites only what was given."""
        return self.status == "answered" and not self.problems


def not_found(question: str, kind: Kind, notes: Sequence[str] = ()) -> Answer:
    """Return the answer that the documents do not say."""
    return Answer(question, not_found_text(question), kind, "not_found", notes=list(notes))
