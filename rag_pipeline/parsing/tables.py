"""Tables of a page: by the grid that is drawn, else by rules above and below and alignment."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag_pipeline.parsing.cells import (
    Rows,
    cells_between,
    chunks_of,
    column_borders,
    merge_wrapped,
    with_spanning_titles,
    without_empty_columns,
    word_rows,
)
from rag_pipeline.parsing.geometry import Box, PageContent, Ruling, Word, bounding_box
from rag_pipeline.parsing.grids import Grid, filled_areas, grids_of, ruled_bands, sides_of_cells
from rag_pipeline.parsing.lines import line_text

_MARKER = re.compile(r"^(?:[\d.]+|\(?\w{1,2}[.)]|\W)$")
Spans = list[list[tuple[int, int]]]
MIN_FILLED = 0.35
"""Share of a grid's cells that hold text; the lines of a chart hold next to none."""
HEADER_REACH = 2.0
"""Ems above the uppermost line of a grid in which the row of its titles stands."""
TITLE_SIZE = 1.15
"""Size over that of the rows above from which a row is the title of what follows."""
PROSE = 45
"""Characters a cell, on average, from which two columns are prose, not a table."""


@dataclass(slots=True)
class Table:
    """A table with its words, which are no longer part of the running text."""

    box: Box
    cells: Rows
    spans: Spans
    words: list[Word]


def tables_of(content: PageContent) -> list[Table]:
    """Find the tables of a page. No word belongs to two."""
    if not content.words or len(content.rulings) + len(content.fills) < 2:
        return []
    tables: list[Table] = []
    taken: set[int] = set()
    rulings = _without_underlines(content)
    for grid in grids_of([*rulings, *sides_of_cells(content.fills)]):
        words = _words_in(grid.box, content.words, taken)
        grid = _with_header(grid, words, content.words, taken)
        words = _words_in(grid.box, content.words, taken)
        _keep(_grid_table(grid, words), tables, taken)
    bands = [
        part
        for band in ruled_bands(rulings, content.height)
        for part in _tabular_parts(band, content.words, taken)
    ]
    for band in [*bands, *filled_areas(content.fills)]:
        words = _words_in(band, content.words, taken)
        _keep(_band_table(band, words, rulings), tables, taken)
    return tables


def _tabular_parts(rules: list[Ruling], words: list[Word], taken: set[int]) -> list[Box]:
    """The areas between rules of one width, without those of running text (captions) between."""
    parts: list[Box] = []
    for above, below in pairwise(rules):
        area = (min(above.x0, below.x0), above.y0, max(above.x1, below.x1), below.y1)
        rows = word_rows(_words_in(area, words, taken))
        tabular = sum(map(_is_tabular, rows))
        if not tabular or tabular < 0.5 * len(rows) or _ends_in_title(rows):
            continue
        if parts and abs(parts[-1][3] - above.y1) < 0.01:
            parts[-1] = bounding_box([parts[-1], area])
        else:
            parts.append(area)
    return parts


def _ends_in_title(rows: list[list[Word]]) -> bool:
    """Is the last row one text in larger type? Then the rule below it is the next title's."""
    last = rows[-1]
    others = sorted(word.style.size for row in rows[:-1] for word in row)
    if not others or len(chunks_of(last)) > 1:
        return False
    return min(word.style.size for word in last) > TITLE_SIZE * others[len(others) // 2]


def _is_tabular(row: list[Word]) -> bool:
    """Has the row several cells? A number or bullet before a text is none."""
    chunks = chunks_of(row)
    return len(chunks) > 2 or (len(chunks) == 2 and not _MARKER.match(line_text(chunks[0])))


def _without_underlines(content: PageContent) -> list[Ruling]:
    """Leave out lines that underline words: just below a baseline, as long as the words."""
    if not any(ruling.is_horizontal for ruling in content.rulings):
        return content.rulings
    by_baseline: dict[int, list[Word]] = {}
    for word in content.words:
        by_baseline.setdefault(round(word.baseline / 4), []).append(word)
    kept = []
    for ruling in content.rulings:
        key = round(ruling.y0 / 4)
        near = [word for at in (key - 1, key) for word in by_baseline.get(at, ())]
        starts = any(abs(word.x0 - ruling.x0) < 1.5 and _underlines(ruling, word) for word in near)
        ends = any(abs(word.x1 - ruling.x1) < 1.5 and _underlines(ruling, word) for word in near)
        if not (ruling.is_horizontal and starts and ends):
            kept.append(ruling)
    return kept


def _underlines(ruling: Ruling, word: Word) -> bool:
    return -0.5 <= ruling.y0 - word.baseline <= 0.3 * word.style.size


def _keep(table: Table | None, tables: list[Table], taken: set[int]) -> None:
    if table is not None:
        tables.append(table)
        taken.update(id(word) for word in table.words)


def _words_in(box: Box, words: list[Word], taken: set[int]) -> list[Word]:
    """Words whose middle lies in the box and that no table has yet."""
    left, top, right, bottom = 2 * box[0], 2 * box[1], 2 * box[2], 2 * box[3]
    return [
        word
        for word in words
        if top <= word.y0 + word.y1 <= bottom
        and left <= word.x0 + word.x1 <= right
        and id(word) not in taken
    ]


def _grid_table(grid: Grid, words: list[Word]) -> Table | None:
    """Cells by the lines that are drawn; bands without inner lines by alignment."""
    if len(words) < 3:
        return None
    columns, rows = len(grid.xs) - 1, len(grid.ys) - 1
    if columns == 1 or (columns == 2 and rows > 1 and not _has_inner(grid)):
        return _band_table(grid.box, words) or _one_column(grid, words)
    owner = _merged_cells(grid, rows, columns)
    held: dict[tuple[int, int], list[Word]] = {}
    for word in words:
        row = _index((word.y0 + word.y1) / 2, grid.ys)
        column = _index((word.x0 + word.x1) / 2, grid.xs)
        held.setdefault(owner[row, column], []).append(word)
    _part_open_cells(grid, owner, held)
    cells, spans = _cells_of(owner, held, rows, columns)
    cells, spans = split_rows(cells, spans, held, rows, columns)
    cells, spans = _without_empty(cells, spans)
    if not _is_table(cells, spans):
        return None
    return Table(grid.box, cells, spans, words)


def _with_header(grid: Grid, inside: list[Word], words: list[Word], taken: set[int]) -> Grid:
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
    rows = word_rows(_words_in(area, words, taken))
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
    above = min(word.y0 for word in rows[-1]) - 1
    return Grid(grid.xs, [above, *grid.ys], grid.horizontal, grid.vertical)


def _one_column(grid: Grid, words: list[Word]) -> Table | None:
    """A ruled list: three rows or more, each with one line or two of text."""
    held: dict[int, list[Word]] = {}
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


def _has_inner(grid: Grid) -> bool:
    rows = len(grid.ys) - 1
    return any(grid.has_vertical(1, row) for row in range(rows))


def _index(value: float, borders: list[float]) -> int:
    return min(max(sum(value >= border for border in borders) - 1, 0), len(borders) - 2)


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


def _part_open_cells(
    grid: Grid,
    owner: dict[tuple[int, int], tuple[int, int]],
    held: dict[tuple[int, int], list[Word]],
) -> None:
    """Part merged cells of one row whose words keep clear of every border inside.

    Shaded rows often draw their borders, and the plain rows between them do not. One of the cells
    may be empty.
    """
    for first, words in list(held.items()):
        members = sorted(at for at, owned in owner.items() if owned == first)
        if len(members) < 2 or len({at[0] for at in members}) > 1:
            continue
        parts: dict[tuple[int, int], list[Word]] = {}
        for chunk in (chunk for row in word_rows(words) for chunk in chunks_of(row)):
            low = _index(chunk[0].x0 + 1, grid.xs)
            high = _index(max(word.x1 for word in chunk) - 1, grid.xs)
            if low != high:
                break
            parts.setdefault((first[0], low), []).extend(chunk)
        else:
            if len(parts) >= max(2, len(members) - 1):
                owner.update({at: at for at in members})
                held.update({first: [], **parts})


def _cells_of(
    owner: dict[tuple[int, int], tuple[int, int]],
    held: dict[tuple[int, int], list[Word]],
    rows: int,
    columns: int,
) -> tuple[Rows, Spans]:
    cells = [["" for _ in range(columns)] for _ in range(rows)]
    spans = [[(0, 0) for _ in range(columns)] for _ in range(rows)]
    for row in range(rows):
        for column in range(columns):
            if owner[row, column] != (row, column):
                continue
            members = [at for at, first in owner.items() if first == (row, column)]
            height = len({at[0] for at in members})
            spans[row][column] = (len({at[1] for at in members}), height)
            cells[row][column] = cell_text(held.get((row, column), []))
    return cells, spans


def cell_text(words: list[Word]) -> str:
    """Text of a cell: its rows one after another."""
    return " ".join(line_text(row) for row in word_rows(words))


def split_rows(
    cells: Rows,
    spans: Spans,
    held: dict[tuple[int, int], list[Word]],
    rows: int,
    columns: int,
) -> tuple[Rows, Spans]:
    """Split ruled rows that hold several rows of text without lines between them.

    Where all cells of a row have the same number (three or more) of text rows on the same
    baselines, each is a row of its own.
    """
    new_cells: Rows = []
    new_spans: Spans = []
    for row in range(rows):
        parts = [word_rows(held.get((row, column), [])) for column in range(columns)]
        filled = [part for part in parts if part]
        plain = all(span == (1, 1) for span in spans[row])
        if len(filled) == columns > 1 and plain and _same_baselines(filled):
            for number in range(len(filled[0])):
                new_cells.append([line_text(part[number]) for part in parts])
                new_spans.append([(1, 1)] * columns)
        else:
            new_cells.append(cells[row])
            new_spans.append(spans[row])
    return new_cells, new_spans


def _same_baselines(parts: list[list[list[Word]]]) -> bool:
    count = len(parts[0])
    if count < 3 or any(len(part) != count for part in parts):
        return False
    return all(
        abs(part[number][0].baseline - parts[0][number][0].baseline) < 2
        for part in parts
        for number in range(count)
    )


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


def _is_table(cells: Rows, spans: Spans) -> bool:
    if len(cells) < 2 or len(cells[0]) < 2:
        return False
    own = [
        cell
        for row, marks in zip(cells, spans, strict=True)
        for cell, mark in zip(row, marks, strict=True)
        if mark != (0, 0)
    ]
    filled = sum(bool(cell) for cell in own)
    columns = sum(any(row[column] for row in cells) for column in range(len(cells[0])))
    return filled >= max(3, MIN_FILLED * len(own)) and columns >= 2


def _band_table(band: Box, words: list[Word], rulings: Sequence[Ruling] = ()) -> Table | None:
    """A table without vertical lines: columns by white space, rows by baseline.

    A title over several columns spans them where one of the `rulings` below it does.
    """
    if len(words) < 4:
        return None
    rows = word_rows(words)
    borders = column_borders(rows)
    if not borders or len(rows) < 2:
        return None
    if sum(map(_is_tabular, rows)) < max(2, 0.5 * len(rows)):
        return None
    cells, spans = cells_between(rows, borders)
    cells, spans = with_spanning_titles(rows, borders, cells, spans, _lines_in(band, rulings))
    cells, spans = merge_wrapped(rows, cells, spans)
    cells, spans = without_empty_columns(cells, spans)
    if not _is_table(cells, spans) or _is_prose(cells):
        return None
    box = bounding_box([band, *[(word.x0, word.y0, word.x1, word.y1) for word in words]])
    return Table(box, cells, spans, words)


def _lines_in(band: Box, rulings: Sequence[Ruling]) -> list[Ruling]:
    """Horizontal lines inside the area that are shorter than it: those below spanning titles."""
    width = band[2] - band[0]
    return [
        line
        for line in rulings
        if line.is_horizontal
        and band[1] + 2 < line.y0 < band[3] - 2
        and band[0] - 2 < line.x0
        and line.x1 < band[2] + 2
        and line.x1 - line.x0 < 0.95 * width
    ]


def _is_prose(cells: Rows) -> bool:
    """Columns of running text between two rules of the page."""
    texts = [cell for row in cells for cell in row if cell]
    return len(cells[0]) <= 3 and sum(map(len, texts)) / len(texts) > PROSE and len(cells) > 6
