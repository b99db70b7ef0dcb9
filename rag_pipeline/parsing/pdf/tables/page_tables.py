"""Tables of a page: by the grid that is drawn, by rules above and below, by alignment."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from rag_pipeline.parsing.pdf.layout.geometry import (
    Box,
    PageContent,
    PageWord,
    Ruling,
    bounding_box,
)
from rag_pipeline.parsing.pdf.layout.lines import line_text
from rag_pipeline.parsing.pdf.tables.aligned import aligned_tables
from rag_pipeline.parsing.pdf.tables.cells import (
    Rows,
    Table,
    WordsByHeight,
    cells_between,
    chunks_of,
    column_borders,
    is_table,
    merge_wrapped,
    with_spanning_titles,
    without_empty_columns,
    word_rows,
)
from rag_pipeline.parsing.pdf.tables.grids import (
    Grid,
    filled_areas,
    grids_of,
    ruled_bands,
    sides_of_cells,
)
from rag_pipeline.parsing.pdf.tables.ruled import (
    grid_table,
    has_inner_lines,
    one_column_table,
    with_header,
)

__all__ = ["Table", "tables_of"]
_MARKER = re.compile(r"^(?:[\d.]+|\(?\w{1,2}[.)]|\W)$")
TITLE_SIZE = 1.15
"""Size over that of the rows above from which a row is the title of what follows."""
PROSE = 45
"""Characters a cell, on average, from which two columns are prose, not a table."""


def tables_of(content: PageContent) -> list[Table]:
    """Find the tables of a page: the drawn ones, then those by alignment alone.

    No word belongs to two.
    """
    tables: list[Table] = []
    taken: set[int] = set()
    if content.words and len(content.rulings) + len(content.fills) > 1:
        _add_drawn_tables(content, tables, taken)
    free = [word for word in content.words if id(word) not in taken] if taken else content.words
    return tables + aligned_tables(free)


def _add_drawn_tables(content: PageContent, tables: list[Table], taken: set[int]) -> None:
    """Tables by grids, by rules above and below, and by shading."""
    rulings = _without_underlines(content)
    words_of_page = WordsByHeight(content.words)
    for grid in grids_of([*rulings, *sides_of_cells(content.fills)]):
        words = words_of_page.inside(grid.box, taken)
        whole = with_header(grid, words, words_of_page, taken)
        if whole is not grid:
            words = words_of_page.inside(whole.box, taken)
        _keep(_grid_or_band(whole, words), tables, taken)
    bands = [
        part
        for band in ruled_bands(rulings, content.height)
        for part in _tabular_parts(band, words_of_page, taken)
    ]
    for band in [*bands, *filled_areas(content.fills)]:
        words = words_of_page.inside(band, taken)
        _keep(_band_table(band, words, rulings), tables, taken)


def _tabular_parts(rules: list[Ruling], words: WordsByHeight, taken: set[int]) -> list[Box]:
    """The areas between rules of one width, without those of running text (captions) between."""
    parts: list[Box] = []
    for above, below in pairwise(rules):
        area = (min(above.x0, below.x0), above.y0, max(above.x1, below.x1), below.y1)
        rows = word_rows(words.inside(area, taken))
        tabular = sum(map(_is_tabular, rows))
        if not tabular or tabular < 0.5 * len(rows) or _ends_in_title(rows):
            continue
        if parts and abs(parts[-1][3] - above.y1) < 0.01:
            parts[-1] = bounding_box([parts[-1], area])
        else:
            parts.append(area)
    return parts


def _ends_in_title(rows: list[list[PageWord]]) -> bool:
    """Is the last row one text in larger type? Then the rule below it is the next title's."""
    last = rows[-1]
    others = sorted(word.style.size for row in rows[:-1] for word in row)
    if not others or len(chunks_of(last)) > 1:
        return False
    return min(word.style.size for word in last) > TITLE_SIZE * others[len(others) // 2]


def _is_tabular(row: list[PageWord]) -> bool:
    """Has the row several cells? A number or bullet before a text is none."""
    chunks = chunks_of(row)
    return len(chunks) > 2 or (len(chunks) == 2 and not _MARKER.match(line_text(chunks[0])))


def _without_underlines(content: PageContent) -> list[Ruling]:
    """Leave out lines that underline words: just below a baseline, as long as the words."""
    places = {
        id(ruling): round(ruling.y0 / 4) for ruling in content.rulings if ruling.is_horizontal
    }
    if not places:
        return content.rulings
    by_baseline: dict[int, list[PageWord]] = {
        at: [] for place in set(places.values()) for at in (place - 1, place)
    }
    for word in content.words:
        at = round(word.baseline / 4)
        if at in by_baseline:
            by_baseline[at].append(word)
    return [
        ruling
        for ruling in content.rulings
        if (place := places.get(id(ruling))) is None
        or not _is_underline(ruling, by_baseline[place - 1] + by_baseline[place])
    ]


def _is_underline(ruling: Ruling, words: list[PageWord]) -> bool:
    """Does it begin below the start of a word, and end below the end of one?"""
    return any(
        abs(word.x0 - ruling.x0) < 1.5 and _underlines(ruling, word) for word in words
    ) and any(abs(word.x1 - ruling.x1) < 1.5 and _underlines(ruling, word) for word in words)


def _underlines(ruling: Ruling, word: PageWord) -> bool:
    return -0.5 <= ruling.y0 - word.baseline <= 0.3 * word.style.size


def _keep(table: Table | None, tables: list[Table], taken: set[int]) -> None:
    if table is not None:
        tables.append(table)
        taken.update(id(word) for word in table.words)


def _grid_or_band(grid: Grid, words: list[PageWord]) -> Table | None:
    """The table of a grid; without lines between columns these are found by alignment."""
    if len(words) < 3:
        return None
    columns, rows = len(grid.xs) - 1, len(grid.ys) - 1
    if columns == 1 or (columns == 2 and rows > 1 and not has_inner_lines(grid)):
        return _band_table(grid.box, words) or one_column_table(grid, words)
    return grid_table(grid, words)


def _band_table(band: Box, words: list[PageWord], rulings: Sequence[Ruling] = ()) -> Table | None:
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
    if not is_table(cells, spans) or _is_prose(cells):
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
