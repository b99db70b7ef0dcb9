"""Tables without any line: texts that stand below each other in columns, row after row.

Only what cannot be running text counts. A row has a label and values beside it, columns of values
hold numbers (or short texts that all begin at the same place), and gutters run through all rows.
Two columns of prose, contents pages, indexes, lists, terms with their meaning, code, formulas with
their numbers and labels of charts look alike at first, and are told apart by what columns hold.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from rag_pipeline.parsing.pdf.layout.geometry import PageWord, bounding_box
from rag_pipeline.parsing.pdf.layout.lines import line_text
from rag_pipeline.parsing.pdf.tables.cells import (
    Rows,
    Spans,
    Table,
    chunks_of,
    extent,
    strips_between,
    word_rows,
)

MIN_ROWS = 3
"""Rows with values."""
MIN_PAIRS = 4
"""The same where there is one column of values only."""
MIN_TEXT_ROWS = 4
"""The same where no column holds numbers."""
GUTTER = 0.75
"""Ems of white space between columns at least, through all rows."""
NUMBER_GAP = 0.45
"""Ems between two numbers that are cells of their own; thousands are parted by less."""
STEP = 2.4
"""Distance of two rows, in sizes of their type, at most."""
SAME_SIZE = 0.15
"""Relative difference of the type sizes of two rows with values."""
SMALLEST = 0.7
"""Type size of titles and labels over that of the rows with values, at least."""
MAX_LABELS = 2
"""Rows with a label only between two rows with values."""
TITLE_STEP = 3.2
"""The same between column titles and the rows below them."""
MAX_TITLES = 3
"""Rows of column titles."""
LABEL = 70
VALUE = 30
TEXT = 24
"""Characters, on average: of labels, of texts among values, of cells in a table of texts."""
NUMERIC = 0.75
"""Share of numbers in a column of values."""
FILLED = 0.6
"""Share of cells with text."""
EDGE = 2.5
"""Points by which texts of a column begin apart, where they are aligned."""
_SIGNS = re.compile(r"[\d.,\s()%$€£¥₩+\-\u2010-\u2015\u2212~±/:*×°'’]+")
_DASH = re.compile(r"[-\u2010-\u2015\u2212.*]{1,3}|n/?a|nil|nm", re.IGNORECASE)
_NUMBERED = re.compile(r"\(?[\dA-Z]{1,3}(?:[.\-]\d+)*[a-z]?[.)]*|\W")
_PAGES = re.compile(r"\d{1,4}(?:\s?[,\u2013-]\s?\d{1,4})*")
_CURRENCY = frozenset("$€£¥₩(")
_CLOSING = frozenset((")", "%", ")%"))
_UNIT = 3
"""Letters beside the digits of a number."""
Chunk = list[PageWord]


@dataclass(slots=True)
class _Row:
    chunks: list[Chunk]
    baseline: float
    size: float


def aligned_tables(words: list[PageWord]) -> list[Table]:
    """Find the tables among words of the running text of a page."""
    if not _may_hold_table(words):
        return []
    rows = [_row(row) for row in word_rows(words)]
    found = []
    at = 0
    while at < len(rows):
        end = _run_end(rows, at)
        table = _table(rows, at, end) if end else None
        if table is not None:
            found.append(table)
        at = max(end, at + 1)
    return found


def _may_hold_table(words: list[PageWord]) -> bool:
    """Do at least as many wide gaps with a number after them occur as a table has? Cheap."""
    seen = 0
    end, baseline = 0.0, float("inf")
    for word in words:
        # The baseline first: the gaps from line to line are no gaps between columns.
        if abs(baseline - word.baseline) < 1.0:
            gap, style = word.x0 - end, word.style
            if (gap > style.size or gap < -4 * style.size) and not style.monospace:
                seen += 1
                if seen >= MIN_ROWS:
                    return True
        end, baseline = word.x1, word.baseline
    return False


def _row(words: list[PageWord]) -> _Row:
    """A row; a sign of currency, drawn apart at the left of its column, belongs to its number."""
    chunks: list[Chunk] = []
    for chunk in chunks_of(words):
        for piece in _values_apart(chunk):
            sign = bool(chunks) and len(chunks[-1]) == 1 and chunks[-1][0].text in _CURRENCY
            closes = bool(chunks) and len(piece) == 1 and piece[0].text in _CLOSING
            if sign or closes:
                chunks[-1].extend(piece)
            else:
                chunks.append(list(piece))
    return _Row(chunks, words[0].baseline, words[0].style.size)


def _values_apart(chunk: Chunk) -> list[Chunk]:
    """Part `1,234 $ 567` and numbers that stand further apart than words do."""
    cuts = [
        at
        for at, (last, word) in enumerate(pairwise(chunk), start=1)
        if _may_be_next(last, word)
        and is_number(last.text)
        and (word.text in _CURRENCY or is_number(word.text))
    ]
    if not cuts:
        return [chunk]
    return [chunk[low:high] for low, high in pairwise([0, *cuts, len(chunk)])]


def _may_be_next(last: PageWord, word: PageWord) -> bool:
    """Is it a sign of currency, or does it stand far enough from the word before?"""
    return word.x0 - last.x1 > NUMBER_GAP * word.style.size or word.text in _CURRENCY


def _run_end(rows: list[_Row], start: int) -> int:
    """End of the rows from `start` that may be one table; 0 where there are too few."""
    if not _has_values(rows[start]):
        return 0
    end, values, labels = start + 1, 1, 0
    last = start
    for at in range(start + 1, len(rows)):
        row, above = rows[at], rows[at - 1]
        if row.baseline - above.baseline > STEP * max(row.size, above.size):
            break
        if not _fits(row, rows[start], 1 - SAME_SIZE if _has_values(row) else SMALLEST):
            break
        if _has_values(row):
            values, labels, last = values + 1, 0, at
        else:
            labels += 1
            if labels > MAX_LABELS:
                break
    end = last + 1
    return end if values >= MIN_ROWS else 0


def _fits(row: _Row, first: _Row, smallest: float) -> bool:
    return smallest * first.size < row.size < (1 + SAME_SIZE) * first.size


def _has_values(row: _Row) -> bool:
    """A label with a number beside it, or three texts."""
    if len(row.chunks) < 2 or row.chunks[0][0].style.monospace:
        return False
    return len(row.chunks) > 2 or is_number(line_text(row.chunks[-1]))


def is_number(text: str) -> bool:
    """Is it a number, with a sign, currency or short unit, or the dash that stands for none?

    >>> is_number("$ 1,234.5"), is_number("(12) %"), is_number("120 mm"), is_number("—")
    (True, True, True, True)
    >>> is_number("E-01 Heater"), is_number("Total")
    (False, False)
    """
    if _DASH.fullmatch(text):
        return True
    return any(map(str.isdigit, text)) and len(_SIGNS.sub("", text)) <= _UNIT


def _table(rows: list[_Row], start: int, end: int) -> Table | None:
    """The table of rows `start` to `end`, with the titles above it, or None."""
    borders = _borders(rows[start:end])
    if not borders:
        return None
    for at in range(start, end):
        if not _stays_inside(rows[at], borders):
            # A text beside the table or between two: what stands above it may be one.
            shorter = _last_values(rows, start, at)
            return _table(rows, start, shorter) if shorter else None
    parted = [row for row in rows[start:end] if len(row.chunks) > 1]
    if not _is_tabular([_cells(row, borders)[0] for row in rows[start:end]], parted, borders):
        return None
    first = start - _titles_above(rows, start, borders)
    if first == start and _continues_label(rows, start, borders):
        first -= 1
    cells = [_cells(row, borders) for row in rows[first:end]]
    texts, marks = _joined_rows([text for text, _ in cells], [mark for _, mark in cells])
    words = [word for row in rows[first:end] for chunk in row.chunks for word in chunk]
    box = bounding_box([(word.x0, word.y0, word.x1, word.y1) for word in words])
    return Table(box, texts, marks, words)


def _borders(rows: list[_Row]) -> list[float]:
    """Middles of the gutters that run through all rows with values."""
    parted = [row for row in rows if len(row.chunks) > 1]
    spans = [extent(chunk) for row in parted for chunk in row.chunks]
    return [(x0 + x1) / 2 for x0, x1 in strips_between(spans, 0, GUTTER * parted[0].size)]


def _last_values(rows: list[_Row], start: int, end: int) -> int:
    """End of the rows with values from `start`, before `end`; 0 where there are too few."""
    found = [at for at in range(start, end) if _has_values(rows[at])]
    return found[-1] + 1 if len(found) >= MIN_ROWS else 0


def _stays_inside(row: _Row, borders: list[float]) -> bool:
    """Several texts; or a label that ends before the second column of values; or a lone value."""
    if len(row.chunks) > 1:
        return True
    x0, x1 = extent(row.chunks[0])
    lone = x0 > borders[0] and is_number(line_text(row.chunks[0]))
    return lone or x1 < borders[min(1, len(borders) - 1)]


def _cells(row: _Row, borders: list[float]) -> tuple[list[str], list[tuple[int, int]]]:
    """Texts of a row and their spans; a text across borders spans the columns that it covers."""
    width = len(borders) + 1
    texts, marks = [""] * width, [(1, 1)] * width
    for chunk in row.chunks:
        x0, x1 = extent(chunk)
        first, last = bisect_left(borders, x0 + 1), bisect_left(borders, x1 - 1)
        texts[first] = f"{texts[first]} {line_text(chunk)}".strip()
        if last > first and not any(texts[first + 1 : last + 1]) and first:
            marks[first] = (last - first + 1, 1)
            marks[first + 1 : last + 1] = [(0, 0)] * (last - first)
    return texts, marks


def _is_tabular(cells: Rows, rows: list[_Row], borders: list[float]) -> bool:
    """Do labels and columns of values, or aligned short texts, stand in the cells?"""
    valued = [row for row in cells if sum(map(bool, row)) > 1]
    width = len(cells[0])
    if sum(bool(cell) for row in valued for cell in row) < FILLED * width * len(valued):
        return False
    columns = [[row[at] for row in valued if row[at]] for at in range(width)]
    labels = columns[0]
    if not labels or _mean_length(labels) > LABEL or _share(labels, _is_label) < FILLED:
        return False
    numbers = [at for at in range(1, width) if _is_number_column(columns[at], len(valued))]
    if not numbers:
        return _is_table_of_texts(valued, columns, rows, borders)
    if any(_mean_length(columns[at]) > VALUE for at in range(1, width) if at not in numbers):
        return False
    if numbers == [width - 1] and _counts_up(columns[-1]):
        return False  # a contents page
    if all(_are_pages(columns[at]) for at in numbers) and (
        numbers == list(range(1, width, 2)) and (width > 2 or _ascend(labels))
    ):
        return False  # an index
    if width == 2:
        marked = _share(columns[1], lambda text: text[0] == "(") > 0.5
        return len(valued) >= MIN_PAIRS and not marked
    return True


def _is_table_of_texts(valued: Rows, columns: Rows, rows: list[_Row], borders: list[float]) -> bool:
    """Three or more columns of short texts, each of which begins at one edge."""
    if len(columns) < 3 or len(valued) < MIN_TEXT_ROWS:
        return False
    if any(len(column) < 0.8 * len(valued) for column in columns):
        return False
    if max(map(_mean_length, columns)) > TEXT:
        return False
    edges: list[list[float]] = [[] for _ in columns]
    for row in rows:
        for chunk in row.chunks:
            edges[bisect_left(borders, chunk[0].x0 + 1)].append(chunk[0].x0)
    return all(_share_near(found) > 0.8 for found in edges)


def _share_near(values: list[float]) -> float:
    middle = sorted(values)[len(values) // 2]
    return sum(abs(value - middle) < EDGE for value in values) / len(values)


def _is_label(text: str) -> bool:
    """A text, and not only the number or bullet that stands before one."""
    return not is_number(text) and not _NUMBERED.fullmatch(text)


def _is_number_column(texts: list[str], rows: int) -> bool:
    return len(texts) >= max(2, 0.5 * rows) and _share(texts, is_number) >= NUMERIC


def _counts_up(texts: list[str]) -> bool:
    """Whole numbers that never fall, as page numbers do."""
    values = [int(text) for text in texts if text.isdigit()]
    return len(values) > 0.7 * len(texts) and values == sorted(values)


def _are_pages(texts: list[str]) -> bool:
    return all(map(_PAGES.fullmatch, texts))


def _ascend(texts: list[str]) -> bool:
    """Is the order that of the alphabet?"""
    folded = [text.casefold() for text in texts]
    return sum(a <= b for a, b in pairwise(folded)) >= 0.9 * (len(folded) - 1)


def _share(texts: list[str], test: Callable[[str], bool]) -> float:
    return sum(map(test, texts)) / len(texts)


def _mean_length(texts: list[str]) -> float:
    return sum(map(len, texts)) / len(texts) if texts else 0.0


def _titles_above(rows: list[_Row], start: int, borders: list[float]) -> int:
    """Rows right above that hold nothing but titles of the columns after the first."""
    count = 0
    while count < MAX_TITLES and start - count > 0:
        row, below = rows[start - count - 1], rows[start - count]
        if below.baseline - row.baseline > TITLE_STEP * max(row.size, below.size):
            break
        if not _fits(row, rows[start], SMALLEST):
            break
        inside = [chunk for chunk in row.chunks if chunk[0].x0 > borders[0] - 1]
        before = len(row.chunks) - len(inside)
        if not inside or before > 1 or (before and extent(row.chunks[0])[1] > borders[0]):
            break
        count += 1
    return count


def _continues_label(rows: list[_Row], start: int, borders: list[float]) -> bool:
    """Is the row above the first line of the label of row `start`?"""
    if not start or not line_text(rows[start].chunks[0])[:1].islower():
        return False
    above, row = rows[start - 1], rows[start]
    near = row.baseline - above.baseline < 1.5 * row.size
    return near and len(above.chunks) == 1 and extent(above.chunks[0])[1] < borders[0]


def _joined_rows(texts: Rows, marks: Spans) -> tuple[Rows, Spans]:
    """Put rows together that the eye sees as one.

    A label over two lines has its values in the second one; a value that stands a little lower than
    its row fills the gap in it.
    """
    new_texts: Rows = []
    new_marks: Spans = []
    for text, mark in zip(texts, marks, strict=True):
        above = new_texts[-1] if new_texts else None
        filled = [at for at, cell in enumerate(text) if cell]
        if above and above[0] and not any(above[1:]) and text[0][:1].islower():
            new_texts[-1] = [f"{above[0]} {text[0]}", *text[1:]]
            new_marks[-1] = mark
        elif above and above[0] and len(filled) == 1 and filled[0] and not above[filled[0]]:
            above[filled[0]] = text[filled[0]]
        else:
            new_texts.append(text)
            new_marks.append(mark)
    return new_texts, new_marks
