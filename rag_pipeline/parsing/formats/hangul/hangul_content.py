"""What a Hangul document holds, whichever of its two formats it was read from."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from rag_pipeline.text import one_line

_WRITTEN_BY_HANGUL = re.compile(r"(?:OLE )?\S+입니다\.$|개체 형식은 |원본 그림의 |사진 찍은 날짜")
"""Lines that Hangul itself writes into an object's description: "a picture", its file and size."""


@dataclass(slots=True)
class Head:
    """A paragraph is a heading by its outline level, or an item of a list."""

    kind: Literal["outline", "number", "bullet"]
    numbering: int
    """The numbering whose forms and counts it follows; 0 where there is none."""
    level: int
    """From 0."""


@dataclass(slots=True)
class Cell:
    """A cell of a table with the columns and rows that it covers."""

    paragraphs: list[Paragraph]
    columns: int = 1
    rows: int = 1


@dataclass(slots=True)
class Table:
    """Rows of cells; places that another cell covers are left out."""

    rows: list[list[Cell]]
    caption: list[Paragraph] = field(default_factory=list)
    caption_above: bool = False


@dataclass(slots=True)
class Note:
    """A footnote or an endnote; each kind is counted through the document."""

    kind: Literal["foot", "end"]
    paragraphs: list[Paragraph]


@dataclass(slots=True)
class Frame:
    """A text box, or the caption of a picture or drawing."""

    paragraphs: list[Paragraph]


@dataclass(slots=True)
class Picture:
    """A picture, chart or embedded object, with what its author said of it."""

    description: str = ""


@dataclass(slots=True)
class Aside:
    """Text that is left out on purpose: running heads, comments, deleted text."""

    paragraphs: list[Paragraph]


@dataclass(slots=True)
class Columns:
    """From here on the text is set in so many columns."""

    count: int


Piece = str | Table | Note | Frame | Picture | Aside | Columns


@dataclass(slots=True)
class Paragraph:
    """Text with the objects that are anchored in it, in order."""

    pieces: list[Piece] = field(default_factory=list)
    head: Head | None = None
    bold: bool = False
    """All visible characters are."""
    new_page: bool = False
    """Its author began a page here."""
    tops: list[int] = field(default_factory=list)
    """How far down the page each line was last laid out, where the file says so."""


def author_words(description: str) -> str:
    """Return what the author says of an object, without what Hangul writes there by itself.

    >>> author_words("그림입니다.\\r\\n원본 그림의 이름: a.bmp"), author_words("Pump, cut open")
    ('', 'Pump, cut open')
    """
    lines = [line.strip() for line in description.splitlines()]
    return one_line(" ".join(line for line in lines if not _WRITTEN_BY_HANGUL.match(line)))


def as_paragraph(text: str) -> Paragraph:
    """A plain paragraph."""
    return Paragraph([text])
