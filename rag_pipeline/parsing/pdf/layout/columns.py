"""Reading order: find the gutters between columns and read column by column.

A gutter is a vertical strip that no segment crosses over several rows. Segments that cross it
(a title over two columns, a wide figure caption) part the page into bands; within a band the left
column is read before the right one. The order in which the producer drew the text tells columns
from the cells of a table.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from operator import itemgetter

from rag_pipeline.parsing.pdf.layout.geometry import Line
from rag_pipeline.parsing.pdf.layout.side_heads import side_head_parts
from rag_pipeline.parsing.pdf.tables.cells import is_value

MIN_ROWS = 2
"""Rows that each side of a gutter has at least."""
SURE_ROWS = 3
"""With fewer rows than this the gutter must be wide and the drawing order clear."""
WIDE_GUTTER = 2.0
"""Ems."""
MIN_GUTTER = 0.55
"""Ems between two columns at least."""
MIN_SHARE = 0.12
"""Width of a column, as a share of the region."""
EDGE_SLACK = 3.0
NUMBERS = 0.75
"""Share of numbers from which the right side is columns of values, not of text."""
MAX_DEPTH = 5


@dataclass(slots=True)
class _Gutter:
    x: float
    top: float
    bottom: float
    score: float
    parts: list[list[Line]] = field(default_factory=list)
    """Headings on its left and the text beside each, in turn, where it parts these."""


def reading_order(segments: list[Line], depth: int = 0) -> list[list[Line]]:
    """Part segments into columns, in the order in which they are read."""
    if len(segments) < 2 * MIN_ROWS or depth > MAX_DEPTH:
        return [segments] if segments else []
    gutter = _best_gutter(segments)
    if gutter is None:
        return [segments]
    above, left, right, below = [], [], [], []
    for segment in segments:
        middle = _middle(segment)
        if middle < gutter.top or (gutter.parts and middle == gutter.top):
            above.append(segment)
        elif middle >= gutter.bottom:  # the segment that crosses there is the first one below
            below.append(segment)
        elif segment.x0 < gutter.x - EDGE_SLACK:
            left.append(segment)
        else:
            right.append(segment)
    parts = (above, *(gutter.parts or (left, right)), below)
    return [column for part in parts for column in reading_order(part, depth + 1)]


def _best_gutter(segments: list[Line]) -> _Gutter | None:
    ordered = sorted([(_middle(segment), segment) for segment in segments], key=itemgetter(0))
    region = max(s.x1 for s in segments) - min(s.x0 for s in segments)
    size = sorted(s.style.size for s in segments)[len(segments) // 2]
    best: _Gutter | None = None
    for x in _left_edges(segments):
        for gutter in _gutters_at(x, ordered, region, size):
            if best is None or gutter.score > best.score:
                best = gutter
    return best


def _middle(segment: Line) -> float:
    return (segment.y0 + segment.y1) / 2


def _left_edges(segments: list[Line]) -> list[float]:
    """Left edges that several segments share: where a column may begin."""
    edges = sorted(segment.x0 for segment in segments)
    found: list[float] = []
    at = 0
    while at < len(edges):
        end = at
        while end < len(edges) and edges[end] - edges[at] <= EDGE_SLACK:
            end += 1
        if end - at >= MIN_ROWS:
            found.append(edges[at])
        at = end
    return found[1:] if found and found[0] <= edges[0] + EDGE_SLACK else found


def _gutters_at(
    x: float, ordered: list[tuple[float, Line]], region: float, size: float
) -> list[_Gutter]:
    """Bands in which no segment crosses `x` and both sides look like columns.

    `ordered`: the segments from top to bottom, with their middles; `region`: their width; `size`:
    that of most.
    """
    borders = [float("-inf")]
    rest: list[Line] = []
    middles: list[float] = []
    left_of = x - EDGE_SLACK
    for middle, segment in ordered:
        # A line that ends within the gutter belongs to the text across it, not to a column.
        gutter_width = max(MIN_GUTTER * max(size, segment.style.size), 1.0)
        if segment.x0 < left_of and segment.x1 > x - gutter_width:
            borders.append(middle)
        else:
            rest.append(segment)
            middles.append(middle)
    borders.append(float("inf"))
    found = []
    for top, bottom in pairwise(borders):
        first, end = bisect_right(middles, top), bisect_left(middles, bottom)
        if end - first < 2 * MIN_ROWS:
            continue
        gutter = _gutter_in(x, rest[first:end], region)
        if gutter:
            gutter.top, gutter.bottom = top, bottom
            found.append(gutter)
    return found


def _gutter_in(x: float, band: list[Line], region: float) -> _Gutter | None:
    left = [s for s in band if s.x0 < x - EDGE_SLACK]
    right = [s for s in band if s.x0 >= x - EDGE_SLACK]
    if len(left) < MIN_ROWS or len(right) < MIN_ROWS:
        return None
    size = sorted(s.style.size for s in band)[len(band) // 2]
    right_edge = sorted(s.x1 for s in left)[-1]
    if x - right_edge < MIN_GUTTER * size:
        return None
    if parts := side_head_parts(left, right):
        return _Gutter(x, 0.0, 0.0, (band[-1].y1 - band[0].y0) * len(left), parts)
    for side in (left, right):
        if max(s.x1 for s in side) - min(s.x0 for s in side) < MIN_SHARE * region:
            return None
    top = max(min(s.y0 for s in left), min(s.y0 for s in right))
    bottom = min(max(s.y1 for s in left), max(s.y1 for s in right))
    shared = bottom - top
    if shared < MIN_ROWS * size:
        return None
    few = min(len(left), len(right)) < SURE_ROWS
    if few and x - right_edge < WIDE_GUTTER * size:
        return None
    if not _reads_down(left, right, strictly=few):
        return None
    return _Gutter(x, 0.0, 0.0, shared * min(len(left), len(right)))


def _reads_down(left: list[Line], right: list[Line], *, strictly: bool) -> bool:
    """Did the producer draw column by column, or is the text on both sides prose?

    A table and a list of terms are drawn row by row, and their cells are short.
    """
    order = sorted(
        (s.words[0].position, side, s) for side, part in enumerate((left, right)) for s in part
    )
    runs = [[s for _, _, s in run] for _, run in groupby(order, key=itemgetter(1))]
    across = sum(_share_baseline(before, after) for before, after in pairwise(runs))
    if strictly:
        return across == 0
    # Cells of several lines each: the drawing goes back up to the row's first line every time.
    longest = max(map(len, runs))
    beside = sum(_overlap(before, after) for before, after in pairwise(runs))
    if beside > 0.35 * len(runs) and 1 < longest < 0.5 * min(len(left), len(right)):
        return False
    edge = min(s.x0 for s in right) + EDGE_SLACK
    if all(map(_are_values, (right, [s for s in right if s.x0 < edge]))):
        return False
    if across < 0.3 * min(len(left), len(right)):
        return True
    return all(_is_prose(part) for part in (left, right))


def _are_values(part: list[Line]) -> bool:
    """Are most of them numbers, or signs of currency drawn apart? Then it is no column of text."""
    return sum(is_value(s.text) for s in part) > NUMBERS * len(part)


def _share_baseline(before: list[Line], after: list[Line]) -> bool:
    """Do two runs of the drawing order begin on one baseline, as cells of one row do?"""
    return any(abs(line.baseline - after[0].baseline) < 2 for line in before)


def _overlap(before: list[Line], after: list[Line]) -> bool:
    """Do two runs of the drawing order stand beside each other?"""
    return after[0].y0 < before[-1].y1 and before[0].y0 < after[-1].y1


def _is_prose(part: list[Line]) -> bool:
    width = max(s.x1 for s in part) - min(s.x0 for s in part)
    characters = sum(len(s.text) for s in part) / len(part)
    filled = sum(s.x1 - s.x0 > 0.75 * width for s in part) / len(part)
    return characters > 20 and filled > 0.6
