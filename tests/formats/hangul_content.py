"""What a Hangul document of a test holds; two writers put it into HWP 5 and into HWPX."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class C:
    """A cell with the columns and rows that it covers."""

    content: list[P]
    wide: int = 1
    high: int = 1


@dataclass
class Grid:
    """A table; covered places are not listed."""

    rows: list[list[C]]
    caption: str = ""

    def placed(self) -> Iterator[tuple[int, int, C]]:
        """Row, column and cell, in order."""
        taken: set[tuple[int, int]] = set()
        for at, row in enumerate(self.rows):
            column = 0
            for cell in row:
                while (at, column) in taken:
                    column += 1
                taken |= {(at + i, column + j) for i in range(cell.high) for j in range(cell.wide)}
                yield at, column, cell


@dataclass
class Inner:
    """`fn`, `en`, `head`, `foot`, `box` or `comment`, with paragraphs of its own."""

    kind: str
    content: list[P]


@dataclass
class Script:
    """An equation."""

    text: str


@dataclass
class Image:
    """A picture and what is said of it."""

    description: str


@dataclass
class Link:
    """Text that leads to an address."""

    text: str
    address: str


Item = str | Grid | Inner | Script | Image | Link


@dataclass
class P:
    """A paragraph. `head` is (`outline`, `number` or `bullet`; level from 0)."""

    items: list[Item] = field(default_factory=list)
    head: tuple[str, int] | None = None
    bold: bool = False
    new_page: bool = False
    top: int | None = None
    """How far down the page its line was laid out."""


def p(*items: Item, head: tuple[str, int] | None = None, **values: object) -> P:
    """A paragraph."""
    return P(list(items), head, **values)  # type: ignore[arg-type]


def cells(*texts: str) -> list[C]:
    """A row of plain cells."""
    return [C([p(text)]) for text in texts]


SHAPES: list[tuple[str, int] | None] = [
    None,
    *(("outline", level) for level in range(7)),
    *(("number", level) for level in range(7)),
    *(("bullet", level) for level in range(7)),
]
"""Shapes of paragraphs, in the order in which both writers number them."""
NUMBERINGS = (
    [("^1.", 0), ("^1.^2", 0), ("^3)", 0), ("^4)", 8), ("(^5)", 0), ("(^6)", 8), ("^7", 1)],
    [("^1)", 0), ("^2.", 8), ("^3", 1), ("^4.", 3), ("^5.", 4), ("^6.", 10), ("^n", 0)],
)
"""Of headings, and of lists: each level's pattern and the code of its form."""
FORM_NAMES = {
    0: "DIGIT",
    1: "CIRCLED_DIGIT",
    3: "ROMAN_SMALL",
    4: "LATIN_CAPITAL",
    8: "HANGUL_SYLLABLE",
    10: "HANGUL_JAMO",
}
