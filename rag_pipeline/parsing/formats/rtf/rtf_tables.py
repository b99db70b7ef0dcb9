"""Rows of RTF tables, which know only their cells' right edges and merges, → one grid."""

from __future__ import annotations

from dataclasses import dataclass, field

from rag_pipeline.parsing.formats.elements import Element, table
from rag_pipeline.parsing.table_grid import covered_grid


@dataclass(slots=True)
class RtfRow:
    """A table row: its cells' texts, and each cell's right edge and merge words."""

    cells: list[str] = field(default_factory=list)
    edges: list[int] = field(default_factory=list)
    vertical: list[str] = field(default_factory=list)
    horizontal: list[str] = field(default_factory=list)
    merges: tuple[str, str] = ("", "")
    """Vertical and horizontal merge word of the cell that is being defined."""

    def define(self, word: str, number: int | None) -> None:
        """Take a control word that defines the row's cells; ignore all others."""
        if word == "trowd":
            self.edges, self.vertical, self.horizontal = [], [], []
            self.merges = ("", "")
        elif word in ("clvmgf", "clvmrg"):
            self.merges = (word, self.merges[1])
        elif word in ("clmgf", "clmrg"):
            self.merges = (self.merges[0], word)
        elif word == "cellx":
            self.edges.append(number or 0)
            self.vertical.append(self.merges[0])
            self.horizontal.append(self.merges[1])
            self.merges = ("", "")


def table_of(rows: list[RtfRow]) -> Element | None:
    """Cells lie between right edges; all edges of the table together are its columns."""
    edges = sorted({edge for row in rows for edge in row.edges[: len(row.cells)]})
    columns = {edge: at + 1 for at, edge in enumerate(edges)}
    grid: list[list[tuple[str, int, int]]] = []
    for at, row in enumerate(rows):
        line: list[tuple[str, int, int]] = []
        start = 0
        for number, text in enumerate(row.cells):
            end = (
                columns.get(row.edges[number], start + 1) if number < len(row.edges) else start + 1
            )
            wide = max(1, end - start)
            merged = row.horizontal[number : number + 1] == ["clmrg"]
            below = row.vertical[number : number + 1] == ["clvmrg"]
            if merged and line:
                last = line[-1]
                line[-1] = (last[0], last[1] + wide, last[2])
            elif not below:
                line.append((text.strip(), wide, _height(rows, at, number)))
            start = end
        grid.append(line)
    return table(*covered_grid(grid))


def _height(rows: list[RtfRow], at: int, number: int) -> int:
    """Rows that a cell spans: those below whose cell at the same edge goes on."""
    row = rows[at]
    if row.vertical[number : number + 1] != ["clvmgf"]:
        return 1
    edge = row.edges[number]
    high = 1
    for below in rows[at + 1 :]:
        try:
            if below.vertical[below.edges.index(edge)] != "clvmrg":
                break
        except (ValueError, IndexError):
            break
        high += 1
    return high
