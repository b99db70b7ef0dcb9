"""The gutters between the columns of a table: strips of white space that its rows keep open."""

from __future__ import annotations

from statistics import median

from rag_pipeline.parsing.pdf.tables.cells import strips_between
from rag_pipeline.parsing.pdf.tables.text_rows import OVER_SPACE, Gap, TextRow

NARROWEST = 0.2
"""Ems of a gutter at its narrowest."""
CROSSED = 0.12
"""Share of rows that may write across a gutter: titles over several columns, one long text."""
FEW_CHUNKS = 0.6
"""Chunks of a row over the usual number, below which its cells span columns."""


def gutters_of(rows: list[TextRow]) -> list[Gap]:
    """The gutters of a table's rows, from left to right."""
    parted = [row for row in rows if row.is_parted]
    if len(parted) < 2:
        return []
    usual = sorted(len(row.chunks) for row in parted)[len(parted) // 2]
    full = [row for row in parted if len(row.chunks) >= FEW_CHUNKS * usual]
    size = median(row.size for row in full)
    found: list[Gap] = []
    spans = [(word.x0, word.x1) for row in full for word in row.words]
    for tolerated in dict.fromkeys((0, int(CROSSED * len(full)))):
        for strip in strips_between(spans, tolerated, NARROWEST * size):
            if not any(low < strip[1] and strip[0] < high for low, high in found):
                found.append(strip)
    return _parting_cells(sorted(found), full)


def _parting_cells(strips: list[Gap], rows: list[TextRow]) -> list[Gap]:
    """The strips whose gaps, in rows with text on both sides, are wider than between words."""
    kept = list(strips)
    smallest = OVER_SPACE * median(row.space for row in rows)
    while kept:
        widths = [_usual_gap(kept, at, rows) for at in range(len(kept))]
        narrowest = min(range(len(kept)), key=widths.__getitem__)
        if widths[narrowest] > smallest:
            break
        del kept[narrowest]
    return kept


def _usual_gap(strips: list[Gap], at: int, rows: list[TextRow]) -> float:
    """Usual white space between the texts of the two columns beside a strip."""
    low = strips[at - 1][1] if at else float("-inf")
    high = strips[at + 1][0] if at + 1 < len(strips) else float("inf")
    middle = sum(strips[at]) / 2
    gaps = []
    for row in rows:
        before = [word.x1 for word in row.words if low - 1 < word.x1 <= middle]
        after = [word.x0 for word in row.words if middle <= word.x0 < high + 1]
        if before and after:
            gaps.append(min(after) - max(before))
    return median(gaps) if gaps else float("inf")


def column_of(x: float, gutters: list[Gap]) -> int:
    """Number of the column at a place."""
    return sum((low + high) / 2 < x for low, high in gutters)
