"""Tables whose lines are drawn: the words in each cell of a grid, cells that are merged."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise

from rag_pipeline.parsing.pdf.layout.geometry import PageWord
from rag_pipeline.parsing.pdf.tables.cells import (
    Rows,
    Spans,
    Table,
    WordsByHeight,
    cell_text,
    chunks_of,
    is_number,
    is_table,
    without_empty_columns,
    word_rows,
)
from rag_pipeline.parsing.pdf.tables.grids import Grid
from rag_pipeline.parsing.pdf.tables.gutters import gutters_of
from rag_pipeline.parsing.pdf.tables.ruled_rows import split_rows
from rag_pipeline.parsing.pdf.tables.text_rows import text_rows

HEADER_REACH = 2.0
"""Ems above the uppermost line of a grid in which the row of its titles stands."""


def grid_table(grid: Grid, words: list[PageWord]) -> Table | None:
    """The table that a grid holds: cells by the lines that are drawn."""
    grid = _with_inner_columns(grid, words)
    columns, rows = len(grid.xs) - 1, len(grid.ys) - 1
    owner = _merged_cells(grid, rows, columns)
    held: dict[tuple[int, int], list[PageWord]] = {}
    for word in words:
        row = _index((word.y0 + word.y1) / 2, grid.ys)
        column = _index((word.x0 + word.x1) / 2, grid.xs)
        held.setdefault(owner[row, column], []).append(word)
    _part_open_cells(grid, owner, held)
    cells, spans = _cells_of(owner, held, rows, columns)
    cells, spans = split_rows(grid, cells, spans, held)
    cells, spans = _without_empty(cells, spans)
    if not is_table(cells, spans):
        return None
    return Table(grid.box, cells, spans, words)


def _with_inner_columns(grid: Grid, words: list[PageWord]) -> Grid:
    """Add borders where white space parts numbers in (nearly) all rows of a ruled column."""
    added: list[float] = []
    for left, right in pairwise(grid.xs):
        rows = text_rows([word for word in words if left < (word.x0 + word.x1) / 2 < right])
        values = [row for row in rows if all(is_number(word.text) for word in row.words)]
        if len(values) > 2 and 2 * len(values) > len(rows):
            gutters = gutters_of(values)
            pairs = sum(len(row.words) > len(gutters) for row in values)
            if pairs > 0.8 * len(values):
                added += [sum(gutter) / 2 for gutter in gutters]
    if not added:
        return grid
    return Grid(sorted([*grid.xs, *added]), grid.ys, grid.horizontal, grid.vertical)


def with_header(grid: Grid, inside: list[PageWord], words: WordsByHeight, taken: set[int]) -> Grid:
    """Add the row of column titles that stands above the uppermost line, where there is one.

    A row just above counts if it has a text over (nearly) every column after the first, and each
    keeps to its column.
    """
    columns = len(grid.xs) - 1
    if columns < 3 or len(grid.ys) < 3 or not inside:
        return grid
    left, top, right, _ = grid.box
    size = sorted(word.style.size for word in inside)[len(inside) // 2]
    area = (0.0, top - HEADER_REACH * size, float("inf"), top)
    rows = word_rows(words.inside(area, taken))
    if not rows or rows[-1][0].x0 < left - 2 or rows[-1][-1].x1 > right + 2:
        return grid
    chunks = chunks_of(rows[-1])
    ends = [
        (_index(chunk[0].x0 + 1, grid.xs), _index(max(word.x1 for word in chunk) - 1, grid.xs))
        for chunk in chunks
    ]
    apart = all(first == last for first, last in ends) and len(set(ends)) == len(ends)
    if not apart or len(chunks) < max(2, columns - 1):
        return grid
    upper = min(word.y0 for word in rows[-1]) - 1
    return Grid(grid.xs, [upper, *grid.ys], grid.horizontal, grid.vertical)


def one_column_table(grid: Grid, words: list[PageWord]) -> Table | None:
    """A ruled list: three rows or more, each with one line or two of text."""
    held: dict[int, list[PageWord]] = {}
    for word in words:
        held.setdefault(_index((word.y0 + word.y1) / 2, grid.ys), []).append(word)
    cells = [[cell_text(held[row])] for row in sorted(held)]
    rows = range(len(grid.ys) - 1)
    framed = len(grid.xs) == 2 and all(
        grid.has_vertical(0, row) and grid.has_vertical(1, row) and grid.has_horizontal(row, 0)
        for row in rows
    )
    if len(cells) < 3 or not framed or len(word_rows(words)) > 2 * len(cells):
        return None
    return Table(grid.box, cells, [[(1, 1)]] * len(cells), words)


def has_inner_lines(grid: Grid) -> bool:
    """Is a line drawn between the first two columns?"""
    rows = len(grid.ys) - 1
    return any(grid.has_vertical(1, row) for row in range(rows))


def _index(value: float, borders: list[float]) -> int:
    return min(max(bisect_right(borders, value) - 1, 0), len(borders) - 2)


def _merged_cells(grid: Grid, rows: int, columns: int) -> dict[tuple[int, int], tuple[int, int]]:
    """Map every cell to the first cell of the rectangle it is merged into."""
    owner = {(row, column): (row, column) for row in range(rows) for column in range(columns)}
    for row in range(rows):
        for column in range(1, columns):
            if not grid.has_vertical(column, row):
                owner[row, column] = owner[row, column - 1]
    for row in range(1, rows):
        for column in range(columns):
            first = owner[row, column]
            if first != (row, column):
                continue
            width = sum(owner[row, c] == first for c in range(columns))
            above = owner[row - 1, column]
            same = above[1] == column and (
                sum(owner[row - 1, c] == above for c in range(columns)) == width
            )
            open_above = not any(grid.has_horizontal(row, c) for c in range(column, column + width))
            if same and open_above:
                for c in range(column, column + width):
                    owner[row, c] = above
    return owner


def _pieces_of(row: list[PageWord]) -> list[list[PageWord]]:
    """Chunks of a row; numbers stand for themselves, however close they are."""
    return [
        piece
        for chunk in chunks_of(row)
        for piece in (
            [[word] for word in chunk] if all(is_number(word.text) for word in chunk) else [chunk]
        )
    ]


def _part_open_cells(
    grid: Grid,
    owner: dict[tuple[int, int], tuple[int, int]],
    held: dict[tuple[int, int], list[PageWord]],
) -> None:
    """Part merged cells of one row whose words keep clear of every border inside.

    Shaded rows often draw their borders, and the plain rows between them do not. One of the cells
    may be empty.
    """
    for first, words in list(held.items()):
        members = sorted(at for at, owned in owner.items() if owned == first)
        if len(members) < 2 or len({at[0] for at in members}) > 1:
            continue
        parts: dict[tuple[int, int], list[PageWord]] = {}
        for chunk in (piece for row in word_rows(words) for piece in _pieces_of(row)):
            low = _index(chunk[0].x0 + 1, grid.xs)
            high = _index(max(word.x1 for word in chunk) - 1, grid.xs)
            if len(chunk) == 1 and is_number(chunk[0].text):
                low = high = _index((chunk[0].x0 + chunk[0].x1) / 2, grid.xs)
            if low != high:
                break
            parts.setdefault((first[0], low), []).extend(chunk)
        else:
            if len(parts) >= max(2, len(members) - 1):
                owner.update({at: at for at in members})
                held.update({first: [], **parts})


def _cells_of(
    owner: dict[tuple[int, int], tuple[int, int]],
    held: dict[tuple[int, int], list[PageWord]],
    rows: int,
    columns: int,
) -> tuple[Rows, Spans]:
    cells = [["" for _ in range(columns)] for _ in range(rows)]
    spans = [[(0, 0) for _ in range(columns)] for _ in range(rows)]
    members: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for at, first in owner.items():
        members.setdefault(first, []).append(at)
    for (row, column), merged in members.items():
        if owner[row, column] == (row, column):
            width, height = len({at[1] for at in merged}), len({at[0] for at in merged})
            spans[row][column] = (width, height)
            cells[row][column] = cell_text(held.get((row, column), []))
    return cells, spans


def _without_empty(cells: Rows, spans: Spans) -> tuple[Rows, Spans]:
    """Drop rows and columns in which no cell has text and none spans.

    Frames within cells draw borders that part nothing: columns in which no cell with text begins.
    """
    if any(span not in ((1, 1), (0, 0)) for row in spans for span in row):
        keep_rows = [
            at
            for at, row in enumerate(cells)
            if any(row) or any(span[1] != 1 for span in spans[at])
        ]
        cells, spans = [cells[at] for at in keep_rows], [spans[at] for at in keep_rows]
        return without_empty_columns(cells, spans) if _may_drop(cells, spans) else (cells, spans)
    keep_rows = [at for at, row in enumerate(cells) if any(row)]
    columns = range(len(cells[0]))
    keep = [column for column in columns if any(cells[at][column] for at in keep_rows)]
    return (
        [[cells[at][column] for column in keep] for at in keep_rows],
        [[spans[at][column] for column in keep] for at in keep_rows],
    )


def _may_drop(cells: Rows, spans: Spans) -> bool:
    """Does no cell without text reach from an empty column into one that stays?"""
    if not cells:
        return False
    kept = [any(row[column] for row in cells) for column in range(len(cells[0]))]
    return not any(
        not kept[column] and any(kept[column : column + marks[column][0]])
        for marks in spans
        for column in range(len(kept))
    )
