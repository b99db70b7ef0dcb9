"""Rows of cells with spans → a grid, as `table_cells` and `table_spans` hold it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Cells = list[list[str]]
Spans = list[list[tuple[int, int]]]


@dataclass(frozen=True)
class Cell:
    """Text, and how many columns and rows it spans."""

    text: str
    columns: int = 1
    rows: int = 1


def grid_of(rows: Sequence[Sequence[Cell]]) -> tuple[Cells, Spans]:
    """Lay cells out as HTML does: each takes the next free place in its row.

    A covered place has the text `""` and the span (0, 0); rows are padded to the same length.

    >>> grid_of([[Cell("A", columns=2)], [Cell("b"), Cell("c")]])
    ([['A', ''], ['b', 'c']], [[(2, 1), (0, 0)], [(1, 1), (1, 1)]])
    """
    height = len(rows)
    texts: dict[tuple[int, int], str] = {}
    marks: dict[tuple[int, int], tuple[int, int]] = {}
    for at, row in enumerate(rows):
        column = 0
        for cell in row:
            while (at, column) in marks:
                column += 1
            across = max(1, cell.columns)
            down = min(max(1, cell.rows), height - at)
            for y in range(at, at + down):
                for x in range(column, column + across):
                    marks[y, x] = (0, 0)
            texts[at, column] = cell.text
            marks[at, column] = (across, down)
            column += across
    width = 1 + max((x for _, x in marks), default=-1)
    return (
        [[texts.get((y, x), "") for x in range(width)] for y in range(height)],
        [[marks.get((y, x), (1, 1)) for x in range(width)] for y in range(height)],
    )


def table_text(cells: Cells) -> str:
    """The text of a table: one line per row, as the local parser writes it."""
    return "\n".join(" ".join(cell for cell in row if cell) for row in cells)
