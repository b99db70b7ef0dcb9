"""Rows of cells with spans, as HTML and Document AI state them, → one full grid."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Cells = list[list[str]]
Spans = list[list[tuple[int, int]]]
"""(columns, rows) of each cell; (0, 0) where another cell covers the place."""


def covered_grid(rows: Iterable[Sequence[tuple[str, int, int]]]) -> tuple[Cells, Spans]:
    """Lay out rows of (text, columns, rows) as HTML does: each cell takes the next free place.

    Covered places are empty and have the span (0, 0). Rows are padded to one width with empty
    cells, and spans end with the table.

    >>> covered_grid([[("a", 1, 2), ("b", 2, 1)], [("c", 1, 1), ("d", 1, 1)]])[0]
    [['a', 'b', ''], ['', 'c', 'd']]
    """
    source = [list(row) for row in rows]
    grid: dict[tuple[int, int], tuple[str, tuple[int, int]]] = {}
    for at, row in enumerate(source):
        column = 0
        for text, columns, rows_spanned in row:
            while (at, column) in grid:
                column += 1
            wide, high = max(1, columns), max(1, min(rows_spanned, len(source) - at))
            for i in range(high):
                for j in range(wide):
                    grid.setdefault((at + i, column + j), ("", (0, 0)))
            grid[at, column] = (text, (wide, high))
            column += wide
    width = max((column for _, column in grid), default=-1) + 1
    places = [[grid.get((i, j), ("", (1, 1))) for j in range(width)] for i in range(len(source))]
    return (
        [[text for text, _ in row] for row in places],
        [[span for _, span in row] for row in places],
    )


def table_text(cells: Cells) -> str:
    """Return the text of a table: one line per row, empty cells left out."""
    return "\n".join(" ".join(cell for cell in row if cell) for row in cells)
