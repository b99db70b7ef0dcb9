"""The header of a table: how many rows of text it has, and which of its titles span columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rag_pipeline.parsing.pdf.layout.geometry import Box, PageWord, Ruling
from rag_pipeline.parsing.pdf.layout.lines import line_text
from rag_pipeline.parsing.pdf.tables.cell_lines import CellLine
from rag_pipeline.parsing.pdf.tables.cells import Rows, Spans, cell_text, is_number
from rag_pipeline.parsing.pdf.tables.text_rows import TextRow

MAX_LINES = 6
"""Lines of a header at most."""
WIDE = 0.7
"""Share of the table's width that a rule or fill of the whole row covers."""
Extents = list[tuple[float, float]]


def marked_header(
    rows: list[TextRow], box: Box, rules: Sequence[Ruling], fills: Sequence[Box]
) -> int:
    """Rows of text that a rule below, bold type or shading marks as header; 0 where none does."""
    most = min(MAX_LINES, len(rows) - 1)
    width = box[2] - box[0]
    for rule in sorted(rules, key=lambda one: one.y0):
        above = sum(row.baseline < rule.y0 + 1 for row in rows)
        wide = _overlap(rule.x0, rule.x1, box) > WIDE * width
        # Titles may be years; two rows of numbers are values.
        if wide and 0 < above <= most and sum(map(_has_values, rows[:above])) < 2:
            return above
    for number, row in enumerate(rows[:most]):
        if any(_titles_group(rule, chunk) for rule in rules for chunk in row.chunks):
            return number + 1
    left = rows[0].words[0].x0 if rows[0].is_parted else float("-inf")
    bold = _leading([row.is_bold and (row.is_parted or row.words[0].x0 > left + 1) for row in rows])
    if 0 < bold <= most:
        return bold
    filled = _leading([_is_filled(row, box, fills) for row in rows])
    return filled if 0 < filled <= most else 0


def is_striped(rows: list[TextRow], box: Box, fills: Sequence[Box]) -> bool:
    """Are some of the rows shaded, and some between them not?"""
    marks = [_is_filled(row, box, fills) for row in rows]
    return sum(a != b for a, b in pairwise(marks)) > 2


def _has_values(row: TextRow) -> bool:
    """Are most of the texts after the first numbers?"""
    numbers = sum(is_number(line_text(chunk)) for chunk in row.chunks[1:])
    return len(row.chunks) > 1 and 2 * numbers > len(row.chunks) - 1


def _titles_group(rule: Ruling, chunk: list[PageWord]) -> bool:
    """Is a line drawn right below a text, and beyond both its ends?"""
    size = chunk[0].style.size
    return (
        -0.2 * size < rule.y0 - chunk[0].baseline < 1.2 * size
        and rule.x0 < chunk[0].x0 - size
        and chunk[-1].x1 + size < rule.x1
    )


def _leading(marks: list[bool]) -> int:
    return marks.index(False) if False in marks else len(marks)


def _overlap(x0: float, x1: float, box: Box) -> float:
    return min(x1, box[2]) - max(x0, box[0])


def _is_filled(row: TextRow, box: Box, fills: Sequence[Box]) -> bool:
    middle = row.baseline - 0.3 * row.size
    covered = sum(
        max(0.0, _overlap(fill[0], fill[2], box)) for fill in fills if fill[1] < middle < fill[3]
    )
    return covered > WIDE * (box[2] - box[0])


def header_cells(
    lines: list[CellLine], columns: int, extents: Extents, rules: Sequence[Ruling]
) -> tuple[Rows, Spans]:
    """Rows of titles, at least one. Titles that span columns stand above those they span.

    `extents`: left and right edge of the text of each column; `rules`: short lines below titles.
    """
    spans = [_span_of(line, lines, extents, rules) for line in lines]
    # What stands above what, column by column; lines of one title are one entry.
    stacks: list[list[list[CellLine]]] = [[] for _ in range(columns)]
    for line, (first, last) in sorted(zip(lines, spans, strict=True), key=lambda one: one[0].row):
        tops = [stack[-1] if stack else None for stack in stacks[first : last + 1]]
        joins = tops[0] is not None and all(top is tops[0] for top in tops)
        before = spans[lines.index(tops[0][-1])] if joins and tops[0] else None
        if joins and tops[0] is not None and before == (first, last):
            tops[0].append(line)
            continue
        title = [line]
        for column in range(first, last + 1):
            stacks[column].append(title)
    depth = max(map(len, stacks), default=1)
    texts = [[""] * columns for _ in range(depth)]
    marks = [[(1, 1)] * columns for _ in range(depth)]
    done: set[int] = set()
    for column, stack in enumerate(stacks):
        for title in stack:
            if id(title) in done:
                continue
            done.add(id(title))
            first, last = spans[lines.index(title[0])]
            level = max(stacks[at].index(title) for at in range(first, last + 1))
            lowest = all(stacks[at][-1] is title for at in range(first, last + 1))
            height = depth - level if lowest else 1
            texts[level][column] = cell_text([word for line in title for word in line.words])
            for down in range(level, level + height):
                marks[down][first : last + 1] = [(0, 0)] * (last - first + 1)
            marks[level][first] = (last - first + 1, height)
    return texts, marks


def _span_of(
    line: CellLine, lines: list[CellLine], extents: Extents, rules: Sequence[Ruling]
) -> tuple[int, int]:
    """Columns that a title spans: those it writes into, or a rule below it covers, or whose middle
    it stands over."""
    below = {at for one in lines if one.row > line.row for at in range(one.first, one.last + 1)}
    beside = {
        at
        for one in lines
        if one.row == line.row and one is not line
        for at in range(one.first, one.last + 1)
    }
    size = line.words[0].style.size
    for rule in rules:
        if -0.2 * size < rule.y0 - line.baseline < 1.2 * size and (
            rule.x0 - 2 < line.words[0].x0 and line.right < rule.x1 + 2
        ):
            covered = [
                at
                for at, (x0, x1) in enumerate(extents)
                if rule.x0 - 2 < (x0 + x1) / 2 < rule.x1 + 2
            ]
            if 1 < len(covered) < len(extents) and not beside.intersection(covered):
                return covered[0], covered[-1]
    if line.first == line.last and line.first not in below:
        return line.first, line.last
    middle = (line.words[0].x0 + line.right) / 2
    best = (line.first, line.last)
    for first in range(line.first, -1, -1):
        if first in beside or first not in below:
            break
        for last in range(line.last, len(extents)):
            if last in beside or last not in below:
                break
            centre = (extents[first][0] + extents[last][1]) / 2
            if (
                last > first
                and abs(centre - middle) < 0.6 * size
                and last - first > best[1] - best[0]
            ):
                best = first, last
    return best


def content_header(rows: list[list[CellLine]], columns: int) -> int:
    """Rows without a number above columns of numbers; 0 where there are none."""
    numeric = [
        [is_number(line.text) for row in rows for line in row if line.first == line.last == at]
        for at in range(columns)
    ]
    wanted = {
        at for at, found in enumerate(numeric) if at and found and sum(found) > 0.6 * len(found)
    }
    if not wanted:
        return 0
    count = 0
    for row in rows[:MAX_LINES]:
        if any(is_number(line.text) for line in row if line.first in wanted):
            break
        count += 1
    return count if count < len(rows) else 0
