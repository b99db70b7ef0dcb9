"""Tables of a page: by the grid that is drawn, by rules above and below, by alignment."""

from __future__ import annotations

import re
from itertools import pairwise

from rag_pipeline.parsing.pdf.layout.geometry import (
    Box,
    PageContent,
    PageWord,
    Ruling,
    bounding_box,
)
from rag_pipeline.parsing.pdf.layout.lines import line_text
from rag_pipeline.parsing.pdf.tables.aligned import Drawn, table_of
from rag_pipeline.parsing.pdf.tables.cells import Table, WordsByHeight, upright_words
from rag_pipeline.parsing.pdf.tables.grids import (
    Grid,
    filled_areas,
    grids_of,
    joined_rules,
    ruled_bands,
    sides_of_cells,
)
from rag_pipeline.parsing.pdf.tables.gutters import gutters_of
from rag_pipeline.parsing.pdf.tables.header_rows import WIDE
from rag_pipeline.parsing.pdf.tables.ruled import (
    grid_table,
    has_inner_lines,
    one_column_table,
    with_header,
)
from rag_pipeline.parsing.pdf.tables.text_rows import (
    SHARED,
    TextRow,
    runs_of,
    shared_gaps,
    text_rows,
)

__all__ = ["Table", "drawn_tables"]
_MARKER = re.compile(r"^(?:[\d.]+|\(?\w{1,2}[.)]|\W)$")
TITLE_SIZE = 1.15
"""Size over that of the rows above from which a row is the title of what follows."""


def drawn_tables(content: PageContent) -> list[Table]:
    """Find the tables of a page that are drawn: by grids, by rules above and below, by shading.

    No word belongs to two.
    """
    if not content.words or len(content.rulings) + len(content.fills) < 2:
        return []
    tables: list[Table] = []
    taken: set[int] = set()
    rulings = _without_underlines(content)
    rules = joined_rules(rulings)
    drawn = Drawn(rules, content.fills)
    turned = upright_words(content.turned_words)
    words_of_page = WordsByHeight([*content.words, *(upright for upright, _ in turned)])
    for grid in grids_of([*rulings, *sides_of_cells(content.fills)]):
        words = words_of_page.inside(grid.box, taken)
        whole = with_header(grid, words, words_of_page, taken)
        if whole is not grid:
            words = words_of_page.inside(whole.box, taken)
        _keep(_grid_or_band(whole, words, drawn), tables, taken)
    bands = [
        part
        for band in ruled_bands(rules, content.height)
        for part in _tabular_parts(band, words_of_page, taken)
    ]
    for band in [*bands, *filled_areas(content.fills)]:
        rows = _with_neighbours(
            text_rows(words_of_page.inside(band, taken)), band, words_of_page, taken
        )
        _keep(table_of(rows, drawn, is_ruled=True) if rows else None, tables, taken)
    lines = {id(upright): line for upright, line in turned}
    for table in tables:
        table.words = [one for word in table.words for one in lines.get(id(word), [word])]
    return tables


def _with_neighbours(
    rows: list[TextRow], band: Box, words: WordsByHeight, taken: set[int]
) -> list[TextRow]:
    """The rows of a band, and those right above and below that keep to its columns.

    Many tables have lines between their rows, and none above the first or below the last.
    """
    gutters = gutters_of(rows)
    if not gutters or len(rows) < 2:
        return rows
    steps = [below.baseline - above.baseline for above, below in pairwise(rows)]
    reach = 1.3 * max(steps)
    while True:
        top, bottom = rows[0].words[0], rows[-1].words[0]
        around = (band[0], top.baseline - reach, band[2], bottom.baseline + reach)
        more = text_rows(words.inside(around, taken))
        found = [
            row
            for row in more
            if row.is_parted
            and all(shared_gaps([one], row.gaps, SHARED * row.size) for one in gutters)
        ]
        # A row whose first words stand a little higher is one of ours, read as a whole.
        for edge in (0, -1):
            own = set(map(id, rows[edge].words))
            rows[edge] = next((one for one in found if own <= set(map(id, one.words))), rows[edge])
        own = {id(word) for row in rows for word in row.words}
        found = [row for row in found if own.isdisjoint(map(id, row.words))]
        above = [row for row in found if row.baseline < top.baseline - 1][-1:]
        below = [row for row in found if row.baseline > bottom.baseline + 1][:1]
        if not (above or below):
            return rows
        rows = [*above, *rows, *below]


def _tabular_parts(rules: list[Ruling], words: WordsByHeight, taken: set[int]) -> list[Box]:
    """The areas between rules of one width, without those of running text (captions) between."""
    areas = [
        (min(above.x0, below.x0), above.y0, max(above.x1, below.x1), below.y1)
        for above, below in pairwise(rules)
    ]
    rows = [text_rows(words.inside(area, taken)) for area in areas]
    marks = [_are_tabular(one) and not _ends_in_title(one) for one in rows]
    heights = [
        (area[3] - area[1]) / len(one)
        for area, one, mark in zip(areas, rows, marks, strict=True)
        if mark
    ]
    parts: list[Box] = []
    for at, area in enumerate(areas):
        between = 0 < at < len(areas) - 1 and marks[at - 1] and marks[at + 1]
        one_row = between and rows[at] and _is_row(rows[at], area, max(heights))
        if not (marks[at] or one_row):
            continue
        if parts and parts[-1][3] >= area[1]:  # one rule is below and above
            parts[-1] = bounding_box([parts[-1], area])
        else:
            parts.append(area)
    return parts


def _is_row(rows: list[TextRow], area: Box, height: float) -> bool:
    """Are these the lines of one row of a table, between two rows that are?"""
    wide = any(
        not row.is_parted and row.words[-1].x1 - row.words[0].x0 > WIDE * (area[2] - area[0])
        for row in rows
    )
    return not wide and area[3] - area[1] < 1.5 * height * len(rows)


def _are_tabular(rows: list[TextRow]) -> bool:
    """Do gutters stay open through the rows, below titles of several columns?"""
    if not rows:
        return False
    if len(rows) == 1:
        return _is_tabular(rows[0])
    left, right = min(row.words[0].x0 for row in rows), max(row.words[-1].x1 for row in rows)
    inside = {at for start, end in runs_of(rows) for at in range(start, end)}
    outside = [row for at, row in enumerate(rows) if at not in (0, *inside) and not row.is_parted]
    if any(row.words[-1].x1 - row.words[0].x0 > WIDE * (right - left) for row in outside):
        return False
    return 2 * len(inside) > len(rows) and any(_is_tabular(rows[at]) for at in inside)


def _is_tabular(row: TextRow) -> bool:
    """Has the row several cells? A number or bullet before a text is none."""
    count = len(row.chunks)
    return count > 2 or (count == 2 and not _MARKER.match(line_text(row.chunks[0])))


def _ends_in_title(rows: list[TextRow]) -> bool:
    """Is the last row one text in larger type? Then the rule below it is the next title's."""
    others = sorted(word.style.size for row in rows[:-1] for word in row.words)
    if not others or rows[-1].is_parted:
        return False
    last = min(word.style.size for word in rows[-1].words)
    return last > TITLE_SIZE * others[len(others) // 2]


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


def _grid_or_band(grid: Grid, words: list[PageWord], drawn: Drawn) -> Table | None:
    """The table of a grid; without lines between columns these are found by alignment."""
    if len(words) < 3:
        return None
    columns, rows = len(grid.xs) - 1, len(grid.ys) - 1
    if columns == 1 or (columns == 2 and rows > 1 and not has_inner_lines(grid)):
        found = table_of(text_rows(words), drawn, is_ruled=True)
        return found or one_column_table(grid, words)
    return grid_table(grid, words)
