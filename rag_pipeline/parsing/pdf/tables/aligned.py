"""Tables without a grid: texts that stand below each other in columns, row after row.

A run of rows through which gutters stay open is read as a table, and then judged as a whole: by
what its columns hold, and by the marks of a header (a rule below it, bold type, shading). Prose in
columns, contents pages, indexes, lists, terms with their meaning, code, formulas with their numbers
and labels of charts look alike at first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_pipeline.parsing.pdf.layout.geometry import Box, PageWord, Ruling, bounding_box
from rag_pipeline.parsing.pdf.tables.cell_lines import (
    CellLine,
    LogicalRow,
    cell_lines,
    logical_rows,
    title_lines,
)
from rag_pipeline.parsing.pdf.tables.cells import CURRENCY, Table, cell_text
from rag_pipeline.parsing.pdf.tables.gutters import column_of, gutters_of
from rag_pipeline.parsing.pdf.tables.header_rows import (
    WIDE,
    content_header,
    header_cells,
    is_striped,
    marked_header,
)
from rag_pipeline.parsing.pdf.tables.tabular import GridReading, is_tabular
from rag_pipeline.parsing.pdf.tables.text_rows import LARGER, Gap, TextRow, runs_of, text_rows

_CLOSING = frozenset((")", "%", ")%"))


@dataclass(slots=True)
class Drawn:
    """What is drawn around words, apart from grids."""

    rules: Sequence[Ruling] = ()
    """Horizontal ones."""
    fills: Sequence[Box] = ()


def aligned_tables(words: list[PageWord], drawn: Drawn) -> list[Table]:
    """Find the tables among words of one column of text."""
    rows = text_rows(words)
    found = []
    for start, end in runs_of(rows):
        first = start - _titles_above(rows, start, end, drawn.rules)
        table = table_of(rows[first:end], drawn)
        if table is None and first < start:
            table = table_of(rows[start:end], drawn)
        if table is not None:
            found.append(table)
    return found


def _titles_above(rows: list[TextRow], start: int, end: int, rules: Sequence[Ruling]) -> int:
    """Rows right above a run that hold titles of its columns.

    Titles stand over the columns after the first, or, in bold type or above a rule, over several.
    """
    gutters = gutters_of(rows[start:end])
    left = min(row.words[0].x0 for row in rows[start:end])
    right = max(row.words[-1].x1 for row in rows[start:end])
    count = 0
    while gutters and start - count > 0:
        row, below = rows[start - count - 1], rows[start - count]
        near = below.baseline - row.baseline < 2 * below.size
        if not near or row.size > LARGER * rows[start].size or row.words[-1].x1 > right + row.size:
            break
        covered = {column_of((word.x0 + word.x1) / 2, gutters) for word in row.words}
        ruled = any(
            row.baseline < rule.y0 < below.baseline and rule.x1 - rule.x0 > WIDE * (right - left)
            for rule in rules
        )
        titles = (row.is_bold or ruled) and len(covered) > max(1, len(gutters) - 1)
        inside = row.words[0].x0 > gutters[0][0] and not row.is_parted
        if not (inside or titles):
            break
        count += 1
    return count


def table_of(rows: list[TextRow], drawn: Drawn, *, is_ruled: bool = False) -> Table | None:
    """Read rows as a table, or None where they are none.

    `is_ruled`: rules or shading stand around them.
    """
    words = [word for row in rows for word in row.drawn]
    box = bounding_box([(word.x0, word.y0, word.x1, word.y1) for word in words])
    rules = [
        rule
        for rule in drawn.rules
        if box[1] - 2 < rule.y0 < box[3] + 2 and rule.x1 > box[0] and rule.x0 < box[2]
    ]
    fills = [fill for fill in drawn.fills if fill[1] < box[3] and fill[3] > box[1]]
    header = marked_header(rows, box, rules, fills)
    below = rows[header:] if len(rows) - header > 2 else rows
    gutters = _own_columns(below, gutters_of(below))
    if not gutters or len(rows) < 2:
        return None
    columns = len(gutters) + 1
    lines = cell_lines(rows, header, gutters)
    extents = _extents(lines, columns)
    titles = title_lines(rows[:header], gutters, extents)
    body, by_rows = logical_rows(lines, extents)
    plain = 0 if header else content_header(body, columns)
    if plain > 1:
        titles, body = [line for row in body[:plain] for line in row], body[plain:]
    texts, marks = header_cells(titles, columns, extents, rules) if titles else ([], [])
    head = len(texts) or plain
    for row in body:
        cells, spans = _row_cells(row, columns)
        texts.append(cells)
        marks.append(spans)
    has_leaders = sum(row.has_leaders for row in rows) > 0.5 * len(rows)
    ruled = is_ruled or any(rule.x1 - rule.x0 > WIDE * (box[2] - box[0]) for rule in rules)
    striped = is_striped(rows, box, fills)
    reading = GridReading(
        texts,
        head,
        [*titles, *lines],
        has_header=bool(header),
        is_ruled=ruled or striped,
        is_framed=is_ruled,
        has_leaders=has_leaders,
        is_drawn_by_rows=by_rows,
    )
    if not is_tabular(reading):
        return None
    return Table(box, texts, marks, words)


def _own_columns(rows: list[TextRow], gutters: list[Gap]) -> list[Gap]:
    """The gutters without those that part a sign of currency or percent from its number."""
    lines = cell_lines(rows, 0, gutters)
    held: list[set[str]] = [set() for _ in range(len(gutters) + 1)]
    for line in lines:
        held[line.first].add(line.text)
    return [
        gutter
        for at, gutter in enumerate(gutters)
        if not (held[at] <= CURRENCY or held[at + 1] <= _CLOSING)
    ]


def _extents(lines: list[CellLine], columns: int) -> list[tuple[float, float]]:
    """Left and right edge of the text of each column."""
    found = [(float("inf"), float("-inf"))] * columns
    for line in lines:
        if line.first == line.last:
            low, high = found[line.first]
            found[line.first] = min(low, line.words[0].x0), max(high, line.right)
    return found


def _row_cells(row: LogicalRow, columns: int) -> tuple[list[str], list[tuple[int, int]]]:
    """Texts and spans of a row's cells; a lone text across gutters spans the whole row."""
    texts, marks = [""] * columns, [(1, 1)] * columns
    held: dict[int, list[CellLine]] = {}
    for line in row:
        held.setdefault(line.first, []).append(line)
    for first, lines in held.items():
        last = max(line.last for line in lines)
        if first == 0 and last > 0 and len(held) == 1:
            last = columns - 1
        texts[first] = cell_text([word for line in lines for word in line.words])
        if last > first and not any(at in held for at in range(first + 1, last + 1)):
            marks[first] = (last - first + 1, 1)
            marks[first + 1 : last + 1] = [(0, 0)] * (last - first)
    return texts, marks
