"""Rulings → grids: lines that cross or touch, and the rows and columns between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rag_pipeline.parsing.pdf.layout.geometry import Box, Ruling, bounding_box

TOUCH = 6.0
"""Points; rulings that come this near are taken to meet."""
SNAP = 4.0
"""Points; parallel rulings this near are one (double lines, the two sides of a thin rectangle)."""
OPEN_SIDE = 9.0
"""Points; crossing lines that reach this far beyond the last border show an open side."""
MAX_RULINGS = 1500
COVER = 0.55
"""Share of a cell's side that rulings cover where the side is drawn."""


@dataclass(slots=True)
class Grid:
    """Positions of the lines, and which sides of the cells are drawn."""

    xs: list[float]
    ys: list[float]
    horizontal: list[Ruling]
    vertical: list[Ruling]
    _columns: dict[int, list[tuple[float, float]]] = field(default_factory=dict)
    """From where to where the line left of a column is drawn, once it was asked for."""
    _rows: dict[int, list[tuple[float, float]]] = field(default_factory=dict)
    """The same of the line above a row."""

    @property
    def box(self) -> Box:
        """The whole grid."""
        return self.xs[0], self.ys[0], self.xs[-1], self.ys[-1]

    def has_vertical(self, column: int, row: int) -> bool:
        """Is the line left of `column` drawn along `row`?"""
        if column not in self._columns:
            x = self.xs[column]
            spans = [(r.y0, r.y1) for r in self.vertical if abs(_x(r) - x) <= SNAP]
            self._columns[column] = sorted(spans)
        return _covered(self._columns[column], self.ys[row], self.ys[row + 1])

    def has_horizontal(self, row: int, column: int) -> bool:
        """Is the line above `row` drawn along `column`?"""
        if row not in self._rows:
            y = self.ys[row]
            spans = [(r.x0, r.x1) for r in self.horizontal if abs(_y(r) - y) <= SNAP]
            self._rows[row] = sorted(spans)
        return _covered(self._rows[row], self.xs[column], self.xs[column + 1])


def _x(ruling: Ruling) -> float:
    return (ruling.x0 + ruling.x1) / 2


def _y(ruling: Ruling) -> float:
    return (ruling.y0 + ruling.y1) / 2


def _covered(spans: list[tuple[float, float]], start: float, end: float) -> bool:
    """Do the spans, by ascending start, cover enough between the two ends?"""
    total, reached = 0.0, start
    for span in spans:
        low, high = max(span[0], reached), min(span[1], end)
        if high > low:
            total += high - low
            reached = high
    return total >= COVER * (end - start)


def grids_of(lines: list[Ruling]) -> list[Grid]:
    """Group rulings that meet into grids.

    A table may be open at its sides: the ends of its lines are borders as well. A grid has at
    least two rows or two columns; frames around one area are none.
    """
    if len(lines) > MAX_RULINGS:
        return []
    horizontal = [line for line in lines if line.is_horizontal]
    vertical = [line for line in lines if not line.is_horizontal]
    if not horizontal or not vertical:
        return []
    grids = []
    for group in _components(horizontal, vertical):
        across = [line for line in group if line.is_horizontal]
        down = [line for line in group if not line.is_horizontal]
        if not across or not down:
            continue
        xs = _with_ends(snapped([_x(line) for line in down]), across, lambda r: (r.x0, r.x1))
        ys = _with_ends(snapped([_y(line) for line in across]), down, lambda r: (r.y0, r.y1))
        if len(xs) >= 2 and len(ys) >= 2 and len(xs) + len(ys) >= 5:
            grids.append(Grid(xs, ys, across, down))
    return grids


def _with_ends(
    borders: list[float], lines: list[Ruling], ends: Callable[[Ruling], tuple[float, float]]
) -> list[float]:
    """Add the outermost ends of the crossing lines where no border is drawn."""
    low, high = min(ends(line)[0] for line in lines), max(ends(line)[1] for line in lines)
    before = [low] if borders[0] - low > OPEN_SIDE else []
    after = [high] if high - borders[-1] > OPEN_SIDE else []
    return [*before, *borders, *after]


def sides_of_cells(fills: list[Box]) -> list[Ruling]:
    """Sides of filled areas that stand side by side: the shaded cells of a row.

    Shading behind a paragraph inside a cell has no neighbour at its edge, and gives none.
    """
    rows: dict[int, list[Box]] = {}
    for box in fills:
        if 6 < box[3] - box[1] < 300 and box[2] - box[0] > 6:
            rows.setdefault(round(box[1] / 2), []).append(box)
    cells: set[Box] = set()
    for row in rows.values():
        row.sort()
        for at, box in enumerate(row):
            for other in row[at + 1 : at + 12]:
                if abs(box[2] - other[0]) < 1.6 and abs(box[3] - other[3]) < 2:
                    cells |= {box, other}
    sides = []
    for x0, y0, x1, y1 in sorted(cells):
        sides += [Ruling(x0, y0, x1, y0), Ruling(x0, y1, x1, y1)]
        sides += [Ruling(x0, y0, x0, y1), Ruling(x1, y0, x1, y1)]
    return sides


def filled_areas(fills: list[Box]) -> list[Box]:
    """Areas of at least three filled boxes, of the size of cells or rows, that touch."""
    boxes = [(x0, y0, x1, y1) for x0, y0, x1, y1 in fills if 6 < y1 - y0 < 120 and x1 - x0 > 12]
    sides = [Ruling(*box) for box in boxes]
    if not 3 <= len(sides) <= MAX_RULINGS:
        return []
    groups = _components(sides, [])
    return [
        bounding_box([(one.x0, one.y0, one.x1, one.y1) for one in group])
        for group in groups
        if len(group) >= 3
    ]


def snapped(values: list[float]) -> list[float]:
    """Positions with those of nearly the same place put together.

    >>> snapped([10, 50, 11, 51.5])
    [10.5, 50.75]
    """
    groups: list[list[float]] = []
    for value in sorted(values):
        if groups and value - groups[-1][0] <= SNAP:
            groups[-1].append(value)
        else:
            groups.append([value])
    return [sum(group) / len(group) for group in groups]


def _components(horizontal: list[Ruling], vertical: list[Ruling]) -> list[list[Ruling]]:
    """Connected groups of rulings: a horizontal and a vertical one meet, parallel ones overlap."""
    lines = horizontal + vertical
    parent = list(range(len(lines)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    order = sorted(range(len(lines)), key=lambda i: lines[i].y0)
    for at, i in enumerate(order):
        a = lines[i]
        for j in order[at + 1 :]:
            b = lines[j]
            if b.y0 > a.y1 + TOUCH:
                break
            if b.x0 <= a.x1 + TOUCH and a.x0 <= b.x1 + TOUCH:
                parent[root(i)] = root(j)
    groups: dict[int, list[Ruling]] = {}
    for i, line in enumerate(lines):
        groups.setdefault(root(i), []).append(line)
    return list(groups.values())


def joined_rules(rulings: list[Ruling]) -> list[Ruling]:
    """Horizontal rulings, those in pieces put together: many producers draw one a cell."""
    joined: list[Ruling] = []
    for line in sorted(
        (one for one in rulings if one.is_horizontal), key=lambda one: (round(one.y0), one.x0)
    ):
        last = joined[-1] if joined else None
        if last and abs(last.y0 - line.y0) < 1.5 and line.x0 - last.x1 < 3:
            joined[-1] = Ruling(last.x0, last.y0, max(last.x1, line.x1), max(last.y1, line.y1))
        else:
            joined.append(line)
    return joined


def ruled_bands(rulings: list[Ruling], page_height: float) -> list[list[Ruling]]:
    """Horizontal rulings of the same extent, from top to bottom: tables without vertical lines."""
    longest = [line for line in rulings if line.is_horizontal and line.x1 - line.x0 > 60]
    groups: list[list[Ruling]] = []
    for line in sorted(longest, key=lambda one: (round(one.x0 / 8), one.y0)):
        for group in groups:
            last = group[-1]
            same = abs(last.x0 - line.x0) < 6 and abs(last.x1 - line.x1) < 6
            if same and line.y0 - last.y0 < 0.6 * page_height:
                group.append(line)
                break
        else:
            groups.append([line])
    return [group for group in groups if len(snapped([line.y0 for line in group])) >= 2]
