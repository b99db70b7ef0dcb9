"""Is what was read as a table one? Judged by what its columns hold, over all rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from rag_pipeline.line_marks import starts_with_number
from rag_pipeline.parsing.pdf.tables.cell_lines import CellLine
from rag_pipeline.parsing.pdf.tables.cells import Rows, is_number

MIN_ROWS = 3
"""Rows with values."""
MIN_PAIRS = 4
"""The same where there is one column of values only."""
LABEL = 70
VALUE = 30
TEXT = 24
"""Characters, on average: of labels, of texts among values, of cells in a table of texts."""
PROSE = 45
"""Characters a cell, on average, from which columns are prose, whatever is drawn around them."""
NUMERIC = 0.75
"""Share of numbers in a column of values."""
FILLED = 0.5
"""Share of cells with text."""
MOST = 0.6
PAGES = 0.7
"""Share of possible page numbers behind leaders below which they lead to values."""
_NUMBERED = re.compile(r"\(?[\dA-Z]{1,3}(?:[.\-]\d+)*[a-z]?[.)]*|\W")
_PAGES = re.compile(r"\d{1,4}(?:\s?[,\u2013-]\s?\d{1,4})*")
_PAGE_NAME = re.compile(r"\W*(?:[A-Z\d]{1,2}[-–.])?(?:\d{1,4}|[ivxlc]{1,6})\W*", re.IGNORECASE)
_PAGE = re.compile(r"\W*(\d{1,4})\W*")
_SCALE = re.compile(r"\W?(-?\d+(?:\.\d+)?)\s?\W?")
_CODE = re.compile(r"[;{}]|==|//|/\*|\w\(|#\w+ ")


@dataclass(slots=True)
class GridReading:
    """Rows that may be a table, and what speaks for it."""

    cells: Rows
    head: int
    """Rows of its header."""
    lines: list[CellLine]
    has_header: bool
    """A rule, bold type or shading marks it."""
    is_ruled: bool
    is_framed: bool
    """Rules stand above and below."""
    has_leaders: bool
    is_drawn_by_rows: bool


def is_tabular(reading: GridReading) -> bool:
    """Do labels and columns of values, or aligned short texts, stand in the cells?"""
    body = reading.cells[reading.head :]
    valued = [row for row in body if sum(map(bool, row)) > 1]
    marked = reading.has_header or reading.is_ruled
    if 2 * len(valued) < len(body):
        return False
    framed = reading.is_framed and reading.has_header
    if len(valued) < (1 if framed else 2 if marked else MIN_ROWS):
        return False
    words = [word for line in reading.lines for word in line.words]
    if not reading.has_header and sum(word.style.monospace for word in words) > 0.5 * len(words):
        return False
    width = len(valued[0])
    columns = [[row[at] for row in valued if row[at]] for at in range(width)]
    numbers = [at for at in range(1, width) if _is_number_column(columns[at], len(valued))]
    if _is_listing(columns, numbers, valued, reading) or _is_chart(body):
        return False
    filled = sum(bool(cell) for row in valued for cell in row)
    if filled < (0.35 if reading.has_header else FILLED) * width * len(valued):
        return False
    if not (numbers or reading.is_ruled or reading.is_drawn_by_rows):
        return False
    if marked:
        mean = sum(len(cell) for row in valued for cell in row) / filled
        return width > 3 or mean <= PROSE or len(valued) <= 6
    if reading.has_leaders and _share(columns[-1], _is_page) < PAGES:
        return True
    return _is_plain_table(columns, numbers, valued, reading.head > 0)


def _is_plain_table(columns: Rows, numbers: list[int], valued: Rows, titled: bool) -> bool:
    """The same where no header is marked and no rule is drawn."""
    labels, width = columns[0], len(columns)
    if not labels or _mean_length(labels) > LABEL:
        return False
    if _share(labels, _is_label) < MOST and not (titled and len(numbers) > 1):
        return False
    if not numbers:
        if width < 3 or len(valued) < MIN_PAIRS:
            return False
        if any(len(column) < 0.8 * len(valued) for column in columns):
            return False
        return max(map(_mean_length, columns)) <= TEXT
    if any(_mean_length(columns[at]) > VALUE for at in range(1, width) if at not in numbers):
        return False
    return width > 2 or len(valued) >= MIN_PAIRS


def _is_listing(columns: Rows, numbers: list[int], valued: Rows, reading: GridReading) -> bool:
    """Is it a contents page, an index, numbered formulas or steps, a form, or code?"""
    width, labels = len(columns), columns[0]
    texts = [cell for row in valued for cell in row if cell]
    if _share(texts, lambda text: bool(_CODE.search(text))) > 0.3:
        return True
    if _share(texts, lambda text: text.endswith((":", "：")) or "__" in text) > 0.5:
        return True
    if _share(labels, lambda text: not any(map(str.isalnum, text))) > 0.4:
        return True
    if reading.has_leaders and _lead_to_pages(valued):
        return True
    above = "".join(cell for row in reading.cells[: reading.head] for cell in row)
    steps = _share(labels or [""], starts_with_number) > 0.5
    if width == 2 and steps and not reading.is_ruled and above[-1:] in ("", ":", "："):
        return True
    titled = reading.head and not any(
        is_number(row[-1]) or _NUMBERED.fullmatch(row[0]) for row in reading.cells[: reading.head]
    )
    if titled and not reading.has_leaders:
        return False
    if numbers == [width - 1] and _counts_up(columns[-1]):
        return True
    if (
        numbers
        and all(_are_pages(columns[at]) for at in numbers)
        and (numbers == list(range(1, width, 2)) and (width > 2 or _ascend(labels)))
    ):
        return True
    if width == 2 and _share(columns[1] or [" "], lambda text: text[:1] == "(") > 0.5:
        return True
    return width == 2 and _share(labels or ["1."], lambda text: not _is_label(text)) > 0.5


def _is_chart(body: Rows) -> bool:
    """Do the numbers of a scale stand in even steps at one side, beside little else?"""
    filled = sum(bool(cell) for row in body for cell in row)
    if filled > FILLED * len(body) * len(body[0]):
        return False
    return any(_is_scale([row[side] for row in body if row[side]]) for side in (0, -1))


def _is_scale(texts: list[str]) -> bool:
    """Do four numbers or more fall or rise by the same step?

    >>> _is_scale(["1,500", "1,000", "500", "0"]), _is_scale(["1", "2", "5", "9"])
    (True, False)
    """
    numbers = [_SCALE.fullmatch(text.replace(",", "")) for text in texts]
    values = [float(match[1]) for match in numbers if match]
    if len(values) < MIN_PAIRS or len(values) < MOST * len(texts):
        return False
    steps = [below - above for above, below in pairwise(values)]
    even = sum(abs(step - steps[0]) < 1e-6 * max(map(abs, values)) for step in steps)
    return steps[0] != 0 and even > NUMERIC * len(steps)


def _is_label(text: str) -> bool:
    """A text, and not only the number or bullet that stands before one."""
    return not is_number(text) and not _NUMBERED.fullmatch(text)


def _is_number_column(texts: list[str], rows: int) -> bool:
    return len(texts) >= max(2, 0.5 * rows) and _share(texts, is_number) >= NUMERIC


def _counts_up(texts: list[str]) -> bool:
    """Whole numbers that never fall, as page numbers do."""
    values = [int(text) for text in texts if text.isdigit()]
    return len(values) > 0.7 * len(texts) and values == sorted(values)


def _lead_to_pages(rows: Rows) -> bool:
    """Do whole numbers that hardly ever fall stand behind the leaders?"""
    numbers = [_PAGE.fullmatch(" ".join(filter(None, row[1:]))) for row in rows]
    pages = [int(match[1]) for match in numbers if match]
    rising = sum(a <= b for a, b in pairwise(pages))
    return len(pages) > 0.7 * len(rows) and rising >= 0.9 * (len(pages) - 1)


def _is_page(text: str) -> bool:
    """May it be the number of a page: 12, 3-14, A-2, iv?"""
    return bool(_PAGE_NAME.fullmatch(text))


def _are_pages(texts: list[str]) -> bool:
    return all(map(_PAGES.fullmatch, texts))


def _ascend(texts: list[str]) -> bool:
    """Is the order that of the alphabet?"""
    folded = [text.casefold() for text in texts]
    return sum(a <= b for a, b in pairwise(folded)) >= 0.9 * (len(folded) - 1)


def _share(texts: list[str], test: Callable[[str], bool]) -> float:
    return sum(map(test, texts)) / len(texts) if texts else 0.0


def _mean_length(texts: list[str]) -> float:
    return sum(map(len, texts)) / len(texts) if texts else 0.0
