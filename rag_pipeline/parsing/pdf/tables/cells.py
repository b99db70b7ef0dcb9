"""Words of an area → rows and columns, by the white space between them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter

from rag_pipeline.parsing.pdf.layout.geometry import Box, PageWord, bounding_box
from rag_pipeline.parsing.pdf.layout.lines import line_text

CHUNK_GAP = 0.75
"""Ems; words of a cell stand closer."""
_BY_BASELINE, _BY_LEFT_EDGE = attrgetter("baseline", "x0"), attrgetter("x0")
_NUMBER = re.compile(
    r"(?:[^\W\d_]{1,3}[$€£¥₩]|[$€£¥₩])?[\W_]*\d[\d\W_]*"
    r"(?:[^\W\d_]{1,4}(?:[\W²³]+[^\W\d_]{1,3})?)?[\W²³]*"
)
_DASH = re.compile(r"[-\u2010-\u2015\u2212.*]{1,3}|n/?a|nil|nm", re.IGNORECASE)
CURRENCY = frozenset("$€£¥₩(")
Rows = list[list[str]]
Spans = list[list[tuple[int, int]]]


@dataclass(slots=True)
class Table:
    """A table with its words, which are no longer part of the running text."""

    box: Box
    cells: Rows
    spans: Spans
    words: list[PageWord]


class WordsByHeight:
    """Words of a page, sorted by the height of their middles to find those in an area fast."""

    def __init__(self, words: list[PageWord]) -> None:
        self._words = words

    @cached_property
    def _sorted(self) -> tuple[list[float], list[int]]:
        """Twice the height of the middles, and the numbers of the words, in one order."""
        heights = [word.y0 + word.y1 for word in self._words]
        order = sorted(range(len(heights)), key=heights.__getitem__)
        return [heights[at] for at in order], order

    def inside(self, box: Box, taken: set[int]) -> list[PageWord]:
        """Words whose middle lies in the box and that no table has yet, in their own order."""
        left, top, right, bottom = 2 * box[0], 2 * box[1], 2 * box[2], 2 * box[3]
        heights, order = self._sorted
        found = order[bisect_left(heights, top) : bisect_right(heights, bottom)]
        near = [self._words[at] for at in sorted(found)]
        return [
            word for word in near if left <= word.x0 + word.x1 <= right and id(word) not in taken
        ]


def word_rows(words: list[PageWord]) -> list[list[PageWord]]:
    """Group words into rows by baseline, top to bottom, each from left to right."""
    rows: list[list[PageWord]] = []
    for word in sorted(words, key=_BY_BASELINE):
        if rows and abs(word.baseline - rows[-1][0].baseline) < 0.45 * word.style.size:
            rows[-1].append(word)
        else:
            rows.append([word])
    for row in rows:
        row.sort(key=_BY_LEFT_EDGE)
    return rows


def upright_words(turned: list[PageWord]) -> list[tuple[PageWord, list[PageWord]]]:
    """For each line of turned text an upright word in its place, and the line's own words."""
    lines: list[list[PageWord]] = []
    for word in turned:
        last = lines[-1][-1] if lines else None
        if last and abs(word.x0 - last.x0) < 1 and _gap_down(last, word) < word.style.size:
            lines[-1].append(word)
        else:
            lines.append([word])
    found = []
    for line in lines:
        x0, y0, x1, y1 = bounding_box([(word.x0, word.y0, word.x1, word.y1) for word in line])
        text = " ".join(word.text for word in line)
        upright = replace(line[0], x0=x0, y0=y0, x1=x1, y1=y1, baseline=y1, text=text)
        found.append((upright, line))
    return found


def _gap_down(a: PageWord, b: PageWord) -> float:
    return max(a.y0, b.y0) - min(a.y1, b.y1)


def chunks_of(row: list[PageWord]) -> list[list[PageWord]]:
    """Split a row at wide gaps."""
    chunks: list[list[PageWord]] = []
    for word in row:
        if chunks and word.x0 - chunks[-1][-1].x1 < CHUNK_GAP * word.style.size:
            chunks[-1].append(word)
        else:
            chunks.append([word])
    return chunks


def strips_between(
    spans: list[tuple[float, float]], tolerated: int, smallest: float
) -> list[tuple[float, float]]:
    """The strips, of this width at least, that no more than `tolerated` spans cross."""
    events = sorted([(x0, 1) for x0, _ in spans] + [(x1, -1) for _, x1 in spans])
    found: list[tuple[float, float]] = []
    depth, open_from = 0, None
    for x, change in events:
        before = depth
        depth += change
        if before > tolerated >= depth:
            open_from = x
        elif before <= tolerated < depth and open_from is not None:
            if x - open_from >= smallest:
                found.append((open_from, x))
            open_from = None
    return found


def without_empty_columns(texts: Rows, spans: Spans) -> tuple[Rows, Spans]:
    """Drop columns that hold no text of their own; cells that span them become narrower."""
    keep = [at for at in range(len(texts[0])) if any(row[at] for row in texts)]
    dropped = set(range(len(texts[0]))) - set(keep)
    if not dropped:
        return texts, spans
    narrowed = []
    for row in spans:
        marks = list(row)
        for at, (columns, height) in enumerate(row):
            if columns > 1:
                marks[at] = (columns - sum(at < d < at + columns for d in dropped), height)
        narrowed.append([marks[at] for at in keep])
    return [[row[at] for at in keep] for row in texts], narrowed


def cell_text(words: list[PageWord]) -> str:
    """Text of a cell: its rows one after another."""
    return " ".join(line_text(row) for row in word_rows(words))


def is_table(cells: Rows, spans: Spans) -> bool:
    """Do texts stand beside each other in half of the rows, as in no drawing of boxes or bars?

    Fewer are enough where every column has a title and every row a label, as in a schedule of
    crosses.

    >>> plain = [(1, 1), (1, 1), (1, 1)]
    >>> is_table([["Task", "50 h", "250 h"], ["Oil", "x", ""], ["Filter", "", ""]], [plain] * 3)
    True
    >>> is_table([["Start", "Stop", ""], ["", "", ""], ["", "End", ""]], [plain] * 3)
    False
    """
    if len(cells) < 2 or len(cells[0]) < 2:
        return False
    beside = [0] * len(cells)
    for at, (row, marks) in enumerate(zip(cells, spans, strict=True)):
        for text, (_, height) in zip(row, marks, strict=True):
            for reached in range(at, at + height if text else at):
                beside[reached] += 1
    if 2 * sum(count > 1 for count in beside) >= len(cells):
        return True
    return all(cells[0][1:]) and all(row[0] for row in cells[1:])


def is_number(text: str) -> bool:
    """Is it a number, with a sign, currency or short unit, or the dash that stands for none?

    >>> is_number("$ 1,234.5"), is_number("(12) %"), is_number("120 mm"), is_number("—")
    (True, True, True, True)
    >>> is_number("2.5 L/min"), is_number("88 dB(A)"), is_number("US$ 5")
    (True, True, True)
    >>> is_number("E-01"), is_number("Total"), is_number("3 days later")
    (False, False, False)
    """
    return bool(_DASH.fullmatch(text) or _NUMBER.fullmatch(text))


def is_value(text: str) -> bool:
    """Is it a number, or a sign of currency whose number is drawn apart?"""
    return text in CURRENCY or is_number(text)
