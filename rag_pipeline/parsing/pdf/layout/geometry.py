"""What a page is made of before it is blocks: words, rulings, fills, images, lines of text.

Coordinates are points with the origin at the top left, y downwards, in *layout space*: the page
turned so that most of its text runs from left to right. `PageContent.seen_box` turns a box of
layout space into shares of the page as a reader sees it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

Box = tuple[float, float, float, float]
"""x0, y0, x1, y1."""


SPACE_GAP = 0.13
"""Ems; words of different text objects that stand closer are one word."""
OVERPRINT = 0.2
"""Ems by which a number begins before the end of the one before it where the two are no one
number: values that are too long for their cells run into the next."""


class Style(NamedTuple):
    """How a run of text looks."""

    size: float
    bold: bool
    italic: bool
    monospace: bool
    color: int
    font: str


@dataclass(slots=True)
class PageWord:
    """Characters without white space between them; in scripts without spaces, a whole run."""

    x0: float
    y0: float
    x1: float
    y1: float
    baseline: float
    text: str
    style: Style
    position: int
    """Index of the first character in the order of the content stream."""
    breaks_word: bool = False
    """The word ends with a hyphen at which the line was broken."""
    glued: bool = False
    """No white space stands between it and the word before."""
    confidence: float = 1.0
    """0..1; below 1 for recognized text."""


@dataclass(slots=True)
class Ruling:
    """A horizontal or vertical line, stroked or a thin filled rectangle."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def is_horizontal(self) -> bool:
        """True for a line from left to right."""
        return self.x1 - self.x0 >= self.y1 - self.y0


@dataclass(slots=True)
class Line:
    """One line of text within one column."""

    x0: float
    y0: float
    x1: float
    y1: float
    baseline: float
    text: str
    style: Style
    words: list[PageWord]
    column: tuple[float, float] = (0.0, 0.0)
    """Left and right edge of the column that the line stands in."""
    table: int | None = None
    """The line stands for the table of this number, so that it gets its place in the order."""

    @property
    def breaks_word(self) -> bool:
        """The line ends with a hyphen at which a word was broken."""
        return self.words[-1].breaks_word


@dataclass(slots=True)
class PageContent:
    """All that was read from one page."""

    number: int
    width: float
    height: float
    quarter_turns: int
    """Clockwise quarter turns from layout space to the page as seen."""
    words: list[PageWord] = field(default_factory=list)
    turned_words: list[PageWord] = field(default_factory=list)
    """Words that run in another direction than most; boxes in layout space."""
    rulings: list[Ruling] = field(default_factory=list)
    fills: list[Box] = field(default_factory=list)
    images: list[Box] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    """Words that a reader does not see."""
    line_numbers: list[str] = field(default_factory=list)
    """Numbers of lines, which stand beside the text."""
    doubles: list[str] = field(default_factory=list)
    """Words printed again in nearly the same place."""
    unreadable_characters: int = 0
    """Characters of private areas: the font gives them no meaning."""
    unmapped_characters: int = 0
    """Characters whose Unicode value PDFium had to guess."""
    is_recognized: bool = False
    """Words were read from a picture."""
    notes: list[str] = field(default_factory=list)
    """What of its annotations went unread, in words."""

    def seen_box(self, box: Box) -> Box:
        """Turn a box of layout space into shares (0..1) of the page as seen.

        >>> PageContent(1, 100, 200, 0).seen_box((10, 20, 50, 40))
        (0.1, 0.1, 0.5, 0.2)
        >>> PageContent(1, 100, 200, 1).seen_box((10, 20, 50, 40))
        (0.8, 0.1, 0.9, 0.5)
        """
        x0, x1 = _share(box[0], self.width), _share(box[2], self.width)
        y0, y1 = _share(box[1], self.height), _share(box[3], self.height)
        for _ in range(self.quarter_turns % 4):
            x0, y0, x1, y1 = round(1 - y1, 9), x0, round(1 - y0, 9), x1
        return x0, y0, x1, y1


def _share(value: float, whole: float) -> float:
    share = value / whole if whole > 0 else 0.0
    return share if 0.0 < share < 1.0 else min(1.0, max(0.0, share))


def bounding_box(boxes: list[Box]) -> Box:
    """The smallest box around all.

    >>> bounding_box([(0, 0, 1, 1), (2, -1, 3, 0)])
    (0, -1, 3, 1)
    """
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def overlap_share(a: Box, b: Box) -> float:
    """The area that two boxes share, over that of the smaller one.

    >>> overlap_share((0, 0, 10, 10), (5, 0, 15, 10)), overlap_share((0, 0, 1, 1), (2, 0, 3, 1))
    (0.5, 0.0)
    """
    width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    smaller = min((a[2] - a[0]) * (a[3] - a[1]), (b[2] - b[0]) * (b[3] - b[1]))
    return width * height / smaller if width > 0 < height and smaller > 0 else 0.0


def contains(box: Box, x: float, y: float, slack: float = 0.0) -> bool:
    """Does the box hold the point?

    >>> contains((0, 0, 10, 10), 5, 5), contains((0, 0, 10, 10), 11, 5, slack=2)
    (True, True)
    """
    return box[0] - slack <= x <= box[2] + slack and box[1] - slack <= y <= box[3] + slack
