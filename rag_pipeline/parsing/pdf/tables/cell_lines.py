"""Rows of text and gutters → the rows of a table, with cells of one line or several.

A producer draws a table cell by cell, from left to right and row by row, all lines of a cell one
after another: so the order in which the words were drawn tells which lines are one cell. Where that
order fits no table, distances between lines and room left at line ends decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from rag_pipeline.parsing.pdf.layout.geometry import PageWord
from rag_pipeline.parsing.pdf.layout.lines import line_text
from rag_pipeline.parsing.pdf.tables.cells import is_number
from rag_pipeline.parsing.pdf.tables.gutters import column_of
from rag_pipeline.parsing.pdf.tables.text_rows import OVER_SPACE, Gap, TextRow

WRAP_STEP = 1.6
"""Baseline distance of two lines of one cell, in sizes of their type, at most."""
BESIDE = 0.75
"""Distance of two baselines, in steps from line to line, below which lines stand side by side."""
SAME_STEP = 1.12
"""Ratio of two line distances that count as equal."""


@dataclass(slots=True)
class CellLine:
    """One line of a cell."""

    row: int
    """Number of its row of text."""
    first: int
    last: int
    """Columns that it writes into."""
    words: list[PageWord]

    @property
    def text(self) -> str:
        """Its text."""
        return line_text(self.words)

    @property
    def right(self) -> float:
        """Right edge."""
        return max(word.x1 for word in self.words)

    @property
    def baseline(self) -> float:
        """Distance from the top of the page."""
        return self.words[0].baseline


LogicalRow = list[CellLine]


def cell_lines(rows: list[TextRow], first: int, gutters: list[Gap]) -> list[CellLine]:
    """Part the words of each row from `first` on at the gutters; what crosses one stays whole."""
    return [
        piece
        for number, row in enumerate(rows[first:], start=first)
        for chunk in row.chunks
        for piece in _parted(
            chunk, number, gutters, 0.0 if row.is_parted else OVER_SPACE * row.space
        )
    ]


def _parted(chunk: list[PageWord], row: int, gutters: list[Gap], smallest: float) -> list[CellLine]:
    """Part a chunk where a gap between words, of this width at least, lies on a gutter."""
    pieces: list[CellLine] = []
    for word in chunk:
        first, last = column_of(word.x0 + 0.5, gutters), column_of(word.x1 - 0.5, gutters)
        piece = pieces[-1] if pieces else None
        if piece and (first <= piece.last or word.x0 - piece.words[-1].x1 < smallest):
            piece.words.append(word)
            piece.last = max(piece.last, last)
        else:
            pieces.append(CellLine(row, first, max(first, last), [word]))
    return pieces


def title_lines(rows: list[TextRow], gutters: list[Gap], extents: list[Gap]) -> list[CellLine]:
    """The titles in the rows of a header, each with the columns whose texts it stands over.

    `extents`: left and right edge of the text of each column below.
    """
    found: list[CellLine] = []
    for number, row in enumerate(rows):
        pieces = [
            piece
            for chunk in row.chunks
            for piece in _parted(chunk, number, gutters, OVER_SPACE * row.space)
        ]
        for piece in pieces:
            over = [
                at
                for at, (low, high) in enumerate(extents)
                if min(high, piece.right) - max(low, piece.words[0].x0) > 0.5
            ]
            if over:
                piece.first, piece.last = over[0], over[-1]
        if number == len(rows) - 1:
            pieces = _single_titles(pieces, gutters, extents)
        found += pieces
    return found


def _single_titles(
    pieces: list[CellLine], gutters: list[Gap], extents: list[Gap]
) -> list[CellLine]:
    """Titles right above the values stand over one column each, however close they are."""
    found: list[CellLine] = []
    for piece in pieces:
        if piece.first == piece.last:
            found.append(piece)
            continue
        taken = {one.first for one in pieces if one is not piece and one.first == one.last}
        free = [at for at in range(piece.first, piece.last + 1) if at not in taken]
        parts: dict[int, list[PageWord]] = {}
        for word in piece.words:
            parts.setdefault(column_of((word.x0 + word.x1) / 2, gutters), []).append(word)
        if list(parts) == free:
            found += [CellLine(piece.row, at, at, words) for at, words in parts.items()]
            continue
        if free and taken:
            middle = (piece.words[0].x0 + piece.right) / 2
            piece.first = piece.last = min(free, key=lambda at: abs(sum(extents[at]) / 2 - middle))
        found.append(piece)
    return found


def logical_rows(lines: list[CellLine], extents: list[Gap]) -> tuple[list[LogicalRow], bool]:
    """Group the lines of cells into rows of the table; were they drawn row by row?

    `extents`: left and right edge of each column's text.
    """
    if not lines:
        return [], False
    found = _by_drawing(lines, extents)
    return (rows_by_place(lines, extents), False) if found is None else (found, True)


def _by_drawing(lines: list[CellLine], extents: list[Gap]) -> list[LogicalRow] | None:
    """Rows by the order in which lines were drawn; None where it is no table's."""
    drawn = sorted(lines, key=lambda one: one.words[0].position)
    found = [drawn[:1]]
    for at, line in enumerate(drawn[1:], start=1):
        before, after = drawn[at - 1], drawn[at + 1] if at + 1 < len(drawn) else None
        wrapped = _is_wrapped(before, line, extents) and not _begins_row(before, line, after)
        if wrapped or line.first > before.last:
            found[-1].append(line)
        else:
            found.append([line])
    joined: list[LogicalRow] = []
    for row in found:
        # What stands beside a row of several lines, in their middle, belongs to it.
        if joined and min(line.row for line in row) <= max(line.row for line in joined[-1]):
            joined[-1] += row
        else:
            joined.append(row)
    by_columns = 2 * len(joined) <= len(found) or any(map(_stacks_numbers, joined))
    return None if by_columns else joined


def _stacks_numbers(row: LogicalRow) -> bool:
    """Do numbers stand below each other in one cell? Each of them is a row's."""
    held: dict[int, LogicalRow] = {}
    for line in row:
        held.setdefault(line.first, []).append(line)
    return any(
        len(lines) > 1 and all(is_number(line.text) for line in lines) for lines in held.values()
    )


def _begins_row(before: CellLine, line: CellLine, after: CellLine | None) -> bool:
    """Does the next cell stand on the line's baseline, and not on that of the line above?"""
    if after is None or after.first <= line.last or line.text[:1].islower():
        return False
    return abs(after.baseline - line.baseline) < 2 < abs(after.baseline - before.baseline)


def _is_wrapped(above: CellLine, below: CellLine, extents: list[Gap]) -> bool:
    """Is a line the next one of the same cell: right below, and would not have fitted before?"""
    size = below.words[0].style.size
    step = below.baseline - above.baseline
    if above.first != below.first or not 0.5 * size < step < WRAP_STEP * size:
        return False
    if above.words[-1].style.bold != below.words[0].style.bold:
        return False
    if is_number(above.text) and is_number(below.text):
        return False
    return not would_fit(above, below, extents)


def would_fit(above: CellLine, below: CellLine, extents: list[Gap]) -> bool:
    """Would the first word of a line have had room at the end of the line above?"""
    word = below.words[0]
    size = word.style.size
    breaks_anywhere = "\u2e80" < word.text[:1] < "\uac00" and above.text[-1:] > "\u2e80"
    width = size if breaks_anywhere else word.x1 - word.x0
    left, right = extents[below.first][0], extents[below.last][1]
    shift = above.words[0].x0 - word.x0
    room = right - above.right
    if abs(shift) > 1:  # the lines are not flush at the left: centred or flush at the right
        if abs(above.right - below.right) < 1:
            room = above.words[0].x0 - left
        elif abs(shift + above.right - below.right) < 2:
            room += above.words[0].x0 - left
    return 0.25 * size + width < room + 0.1 * size


def rows_by_place(lines: list[CellLine], extents: list[Gap]) -> list[LogicalRow]:
    """Rows by distances, empty cells, and room at line ends."""
    rows = visual_rows(lines)
    steps = [below[0].baseline - above[-1].baseline for above, below in pairwise(rows)]
    apart = step_between_rows(rows)
    found = rows[:1]
    for row, step in zip(rows[1:], steps, strict=True):
        if apart is not None:
            goes_on = step < apart
        else:
            goes_on = _continues(found[-1], row, step, min(steps), extents)
        if goes_on:
            found[-1] = [*found[-1], *row]
        else:
            found.append(row)
    return found


def visual_rows(lines: list[CellLine]) -> list[LogicalRow]:
    """Lines on one baseline, and those of other columns that stand beside them, half a line off."""
    in_order = sorted(lines, key=lambda one: (one.row, one.first))
    last_of: dict[int, CellLine] = {}
    steps = []
    for line in in_order:
        if before := last_of.get(line.first):
            steps.append(line.baseline - before.baseline)
        last_of[line.first] = line
    size = max(line.words[0].style.size for line in lines)
    beside = BESIDE * max(size, min(steps, default=size))
    found = [in_order[:1]]
    for before, line in pairwise(in_order):
        if line.row == before.row or line.baseline - before.baseline < beside:
            found[-1].append(line)
        else:
            found.append([line])
    return found


def step_between_rows(rows: list[LogicalRow]) -> float | None:
    """Distance from which lines belong to different rows, where two kinds of distance are told.

    `rows`: lines beside each other, from top to bottom.
    """
    steps = [below[0].baseline - above[-1].baseline for above, below in pairwise(rows)]
    if len(steps) < 3:
        return None
    apart = SAME_STEP * min(steps)
    usual = max(len({line.first for line in row}) for row in rows)
    groups = [rows[:1]]
    for row, step in zip(rows[1:], steps, strict=True):
        if step > apart:
            groups.append([row])
        else:
            groups[-1].append(row)
    if len(groups) < 3:
        return None
    columns = [{line.first for row in group for line in row} for group in groups]
    others = [held for held in columns if held != {0}]  # the others are titles of groups
    whole = sum(len(held) >= 0.6 * usual for held in others)
    inner = sum(len(group) - 1 for group in groups)
    # A row that is whole stands for itself; what goes on with another has empty cells.
    doubled = sum(max(0, sum(len(row) >= usual for row in group) - 1) for group in groups)
    return apart if doubled < 0.2 * inner and whole > 0.7 * len(others) else None


def _continues(
    above: LogicalRow, row: LogicalRow, step: float, smallest: float, extents: list[Gap]
) -> bool:
    if step > SAME_STEP * smallest:
        return False
    by_column = {line.first: line for line in above}
    if any(line.first not in by_column or line.first != line.last for line in row):
        return False
    if len(row) == 1 and len(above) == 1:
        return False
    if len(row) >= len(above) and row[0].first == 0:
        return False
    pairs = [(by_column[line.first], line) for line in row]
    if any(is_number(line.text) or is_number(before.text) for before, line in pairs):
        return False
    if any(before.words[-1].style.bold != line.words[0].style.bold for before, line in pairs):
        return False
    return not any(would_fit(before, line, extents) for before, line in pairs)
