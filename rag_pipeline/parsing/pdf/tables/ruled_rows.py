"""The rows of text that stand between two lines of a grid without a line between them.

Many tables have lines around groups of rows only. Numbers below each other in one cell, lines that
would have fitted on the one above, and gaps through all columns tell such rows from wrapped text.
"""

from __future__ import annotations

from itertools import pairwise

from rag_pipeline.parsing.pdf.layout.geometry import PageWord
from rag_pipeline.parsing.pdf.tables.cell_lines import (
    CellLine,
    LogicalRow,
    rows_by_place,
    step_between_rows,
    visual_rows,
    would_fit,
)
from rag_pipeline.parsing.pdf.tables.cells import (
    Rows,
    Spans,
    cell_text,
    chunks_of,
    is_number,
    word_rows,
)
from rag_pipeline.parsing.pdf.tables.grids import Grid
from rag_pipeline.parsing.pdf.tables.text_rows import Gap

SAME_LINE = 0.45
"""Sizes of type by which baselines of one line differ at most."""
Cell = tuple[int, int]


def split_rows(
    grid: Grid, cells: Rows, spans: Spans, held: dict[Cell, list[PageWord]]
) -> tuple[Rows, Spans]:
    """Split ruled rows that hold several rows of text; cells beside them span these."""
    extents = _extents(grid, spans, held)
    texts: Rows = []
    marks: Spans = []
    reaching: dict[int, tuple[int, int]] = {}
    """By column: the cell that stands in it, as row and column of the result."""
    for row, spans_of_row in enumerate(spans):
        own = [column for column, (_, height) in enumerate(spans_of_row) if height == 1]
        words = {column: held.get((row, column), []) for column in own}
        lines = _lines_of(own, spans_of_row, words)
        first = len(texts)
        texts.append(list(cells[row]))
        marks.append(list(spans_of_row))
        for column, (width, height) in enumerate(spans_of_row):
            if height:
                reaching |= dict.fromkeys(range(column, column + width), (first, column))
        groups = _rows_in(lines, extents)
        if titles := _titles_apart(lines, spans_of_row, grid):
            # The other cells of the row stand beside both rows of titles.
            groups, own = titles, [at for at in own if any(line.first == at for line in titles[1])]
        if len(groups) > 1:
            _write_rows(groups, texts, marks, own, reaching)
    return texts, marks


def _write_rows(
    groups: list[LogicalRow],
    texts: Rows,
    marks: Spans,
    own: list[int],
    reaching: dict[int, tuple[int, int]],
) -> None:
    """Write the groups in the place of the last row; what reaches through it spans them all."""
    first = len(texts) - 1
    widths = [width for width, _ in marks[first]]
    columns = len(widths)
    for row, column in set(reaching.values()):
        if row < first or column not in own:
            width, height = marks[row][column]
            marks[row][column] = (width, height + len(groups) - 1)
    for number, group in enumerate(groups):
        if number:
            texts.append([""] * columns)
            marks.append([(0, 0)] * columns)
        for column in own:
            width = widths[column]
            inside = [line for line in group if column <= line.first < column + width]
            texts[first + number][column] = ""
            for at in range(column, column + width):
                marks[first + number][at] = (0, 0)
            marks[first + number][column] = (width, 1)
            for at in sorted({line.first for line in inside}):
                parts = [line for line in inside if line.first == at]
                words = [word for line in parts for word in line.words]
                texts[first + number][at] = cell_text(words)
                marks[first + number][at] = (max(line.last for line in parts) - at + 1, 1)


def _extents(grid: Grid, spans: Spans, held: dict[Cell, list[PageWord]]) -> list[Gap]:
    """From where to where text may stand in each column: as far from both borders."""
    found = []
    for column, (left, right) in enumerate(pairwise(grid.xs)):
        starts = [
            word.x0 - left
            for (row, at), words in held.items()
            if at == column and spans[row][at][0] == 1
            for word in words
        ]
        padding = max(0.0, min(starts, default=0.0))
        found.append((left + padding, right - padding))
    return found


def _lines_of(
    own: list[int], spans: list[tuple[int, int]], held: dict[int, list[PageWord]]
) -> list[CellLine]:
    """The lines of a ruled row's cells, numbered by baseline."""
    lines = [
        CellLine(0, column, column + spans[column][0] - 1, words)
        for column in own
        for words in word_rows(held[column])
    ]
    number, last = -1, float("-inf")
    for line in sorted(lines, key=lambda one: one.baseline):
        if line.baseline - last > SAME_LINE * line.words[0].style.size:
            number, last = number + 1, line.baseline
        line.row = number
    return lines


def _rows_in(lines: list[CellLine], extents: list[Gap]) -> list[LogicalRow]:
    """The rows that lines between two rules are; none where they are one row."""
    by_column: dict[int, list[CellLine]] = {}
    by_row: dict[int, LogicalRow] = {}
    for line in lines:
        by_column.setdefault(line.first, []).append(line)
        by_row.setdefault(line.row, []).append(line)
    if len(by_column) < 2 or len(by_row) < 2:
        return []
    rows = [by_row[number] for number in sorted(by_row)]
    if (
        _numbers_tell(list(by_column.values()), rows)
        or _lines_tell(list(by_column.values()), rows, extents)
        or _gaps_tell(visual_rows(lines))
    ):
        return rows_by_place(lines, extents)
    return []


def _numbers_tell(columns: list[LogicalRow], rows: list[LogicalRow]) -> bool:
    """Do numbers stand below each other, each beside another text of its own?

    Three numbers, or two in each of two columns.
    """
    numeric = [
        column
        for column in columns
        if len(column) > 1 and all(is_number(line.text) for line in column)
    ]
    beside = {row[0].row for row in rows if len(row) > 1}
    numbers = {line.row for column in numeric for line in column}
    if sum(number in beside for number in numbers) < 0.8 * len(numbers):
        return False
    return len(numeric) > 1 or (len(numeric) == 1 and len(numbers) > 2)


def _lines_tell(columns: list[LogicalRow], rows: list[LogicalRow], extents: list[Gap]) -> bool:
    """Has every cell a line on each of three baselines or more, and most are no wrapped text?"""
    if len(rows) < 3 or any(len(column) != len(rows) for column in columns):
        return False
    fits = [
        would_fit(above, below, extents) for column in columns for above, below in pairwise(column)
    ]
    return 2 * sum(fits) > len(fits)


def _gaps_tell(rows: list[LogicalRow]) -> bool:
    """Do gaps through all columns part the lines, each time above a label of the first column?"""
    apart = step_between_rows(rows)
    if apart is None:
        return False
    starts = [
        below for above, below in pairwise(rows) if below[0].baseline - above[-1].baseline > apart
    ]
    first = min(line.first for row in rows for line in row)
    return all(any(line.first == first for line in row) for row in starts)


def _column(x: float, grid: Grid) -> int:
    return sum(border <= x for border in grid.xs) - 1


def _titles_apart(
    lines: list[CellLine], spans: list[tuple[int, int]], grid: Grid
) -> list[LogicalRow]:
    """A row of titles over groups of columns, and the row of the columns' own titles below.

    Cells are merged where no line is drawn between the titles of their columns.
    """
    above: LogicalRow = []
    below: LogicalRow = []
    for column in sorted({line.first for line in lines}):
        wanted = [(at, at) for at in range(column, column + spans[column][0])]
        cell = [line for line in lines if line.first == column]
        chunks = chunks_of(cell[-1].words)
        places = [
            (_column(chunk[0].x0 + 1, grid), _column(chunk[-1].x1 - 1, grid)) for chunk in chunks
        ]
        if len(wanted) > 1 and len(cell) > 1 and places == wanted:
            above += cell[:-1]
            below += [
                CellLine(cell[-1].row, at, at, chunk)
                for (at, _), chunk in zip(places, chunks, strict=True)
            ]
    return [above, below] if below else []
