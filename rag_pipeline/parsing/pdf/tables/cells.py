"""Words of an area → rows and columns, by the white space between them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import attrgetter

from rag_pipeline.parsing.pdf.layout.geometry import Box, PageWord, Ruling
from rag_pipeline.parsing.pdf.layout.lines import line_text

CHUNK_GAP = 0.75
"""Ems; words of a cell stand closer."""
GUTTER = 0.45
"""Ems; white space between two columns is at least this wide."""
MIN_STRIP = 0.2
"""Ems; the same in the one row of a table whose cells nearly touch."""
FEW_CHUNKS = 0.6
"""Chunks of a row over the usual number, below which its cells span columns."""
MIN_PARTED = 4
"""Rows of several cells from which one may have cells that nearly touch."""
_BY_BASELINE, _BY_LEFT_EDGE = attrgetter("baseline", "x0"), attrgetter("x0")
Rows = list[list[str]]
Spans = list[list[tuple[int, int]]]
MIN_FILLED = 0.35
"""Share of a grid's cells that hold text; the lines of a chart hold next to none."""


@dataclass(slots=True)
class Table:
    """A table with its words, which are no longer part of the running text."""

    box: Box
    cells: Rows
    spans: Spans
    words: list[PageWord]


class WordsByHeight:
    """Words of a page, sorted by the height of their middles to find those in an area fast."""

    def __init__(self, words: list[PageWord]) -> None:
        self._words = words

    @cached_property
    def _sorted(self) -> tuple[list[float], list[int]]:
        """Twice the height of the middles, and the numbers of the words, in one order."""
        heights = [word.y0 + word.y1 for word in self._words]
        order = sorted(range(len(heights)), key=heights.__getitem__)
        return [heights[at] for at in order], order

    def inside(self, box: Box, taken: set[int]) -> list[PageWord]:
        """Words whose middle lies in the box and that no table has yet, in their own order."""
        left, top, right, bottom = 2 * box[0], 2 * box[1], 2 * box[2], 2 * box[3]
        heights, order = self._sorted
        found = order[bisect_left(heights, top) : bisect_right(heights, bottom)]
        near = [self._words[at] for at in sorted(found)]
        return [
            word for word in near if left <= word.x0 + word.x1 <= right and id(word) not in taken
        ]


def word_rows(words: list[PageWord]) -> list[list[PageWord]]:
    """Group words into rows by baseline, top to bottom, each from left to right."""
    rows: list[list[PageWord]] = []
    for word in sorted(words, key=_BY_BASELINE):
        if rows and abs(word.baseline - rows[-1][0].baseline) < 0.45 * word.style.size:
            rows[-1].append(word)
        else:
            rows.append([word])
    for row in rows:
        row.sort(key=_BY_LEFT_EDGE)
    return rows


def chunks_of(row: list[PageWord]) -> list[list[PageWord]]:
    """Split a row at wide gaps."""
    chunks: list[list[PageWord]] = []
    for word in row:
        if chunks and word.x0 - chunks[-1][-1].x1 < CHUNK_GAP * word.style.size:
            chunks[-1].append(word)
        else:
            chunks.append([word])
    return chunks


def column_borders(rows: list[list[PageWord]], allowed: float = 0.12) -> list[float]:
    """Middles of the gutters: strips of white space that (nearly) no row writes across.

    Rows whose words all lie in one chunk (titles), or in far fewer than usual (spanning headers),
    are not asked.
    """
    parted = [chunks for row in rows if len(chunks := chunks_of(row)) > 1]
    if not parted:
        return []
    usual = sorted(map(len, parted))[len(parted) // 2]
    parted = [chunks for chunks in parted if len(chunks) >= FEW_CHUNKS * usual]
    sizes = sorted(chunks[0][0].style.size for chunks in parted)
    size = sizes[len(sizes) // 2]
    spans = [[extent(chunk) for chunk in chunks] for chunks in parted]
    tolerated = int(allowed * len(parted))
    strips = strips_between([span for row in spans for span in row], tolerated, GUTTER * size)
    borders = [(x0 + x1) / 2 for x0, x1 in strips]
    words = [(word.x0, word.x1) for chunks in parted for chunk in chunks for word in chunk]
    narrow = strips_between(words, tolerated, MIN_STRIP * size)
    for x0, x1 in sorted(narrow, key=lambda strip: strip[0] - strip[1]):
        if _parts_nearly_all((x0 + x1) / 2, spans, borders):
            borders.append((x0 + x1) / 2)
    return sorted(borders)


def strips_between(
    spans: list[tuple[float, float]], tolerated: int, smallest: float
) -> list[tuple[float, float]]:
    """The strips, of this width at least, that no more than `tolerated` spans cross."""
    events = sorted([(x0, 1) for x0, _ in spans] + [(x1, -1) for _, x1 in spans])
    found: list[tuple[float, float]] = []
    depth, open_from = 0, None
    for x, change in events:
        before = depth
        depth += change
        if before > tolerated >= depth:
            open_from = x
        elif before <= tolerated < depth and open_from is not None:
            if x - open_from >= smallest:
                found.append((open_from, x))
            open_from = None
    return found


def _parts_nearly_all(x: float, rows: list[list[tuple[float, float]]], known: list[float]) -> bool:
    """Is there one row only, whose cells stand close, that keeps `x` from being a gutter?

    All other rows have a text on both sides of it, within the columns known so far.
    """
    if len(rows) < MIN_PARTED:
        return False
    low = max((border for border in known if border < x), default=float("-inf"))
    high = min((border for border in known if border > x), default=float("inf"))
    crossing = both = 0
    for row in rows:
        inside = [span for span in row if span[0] < high and span[1] > low]
        crossing += any(x0 < x < x1 for x0, x1 in inside)
        both += any(x1 < x for _, x1 in inside) and any(x0 > x for x0, _ in inside)
    return crossing == 1 and both >= len(rows) - 2


def extent(chunk: list[PageWord]) -> tuple[float, float]:
    """Left and right edge of words of one row."""
    return chunk[0].x0, max(word.x1 for word in chunk)


def cells_between(rows: list[list[PageWord]], borders: list[float]) -> tuple[Rows, Spans]:
    """Texts and spans (columns, rows) of each row's cells.

    A chunk that writes across a border spans the columns it covers.
    """
    width = len(borders) + 1
    texts: Rows = []
    spans: Spans = []
    for row in rows:
        cells: list[list[PageWord]] = [[] for _ in range(width)]
        marks = [(1, 1)] * width
        for chunk in chunks_of(row):
            first = _column(chunk[0].x0 + 0.5, borders)
            last = _column(max(word.x1 for word in chunk) - 0.5, borders)
            if last > first and _splits(chunk, borders[first:last]):
                for word in chunk:
                    cells[_column((word.x0 + word.x1) / 2, borders)].append(word)
                continue
            cells[first] += chunk
            if last > first and not any(cells[first + 1 : last + 1]):
                marks[first] = (last - first + 1, 1)
                marks[first + 1 : last + 1] = [(0, 0)] * (last - first)
        texts.append([line_text(cell) for cell in cells])
        spans.append(marks)
    return texts, spans


def with_spanning_titles(
    rows: list[list[PageWord]],
    borders: list[float],
    texts: Rows,
    spans: Spans,
    lines: list[Ruling],
) -> tuple[Rows, Spans]:
    """Let titles span the columns that a line just below them covers.

    In booktabs style `Training` stands over three columns, a short rule below it, and the titles
    of the columns below that.
    """
    if not lines:
        return texts, spans
    middles = _column_middles(rows, borders)
    for row, text, marks in zip(rows, texts, spans, strict=True):
        size = row[0].style.size
        below = [line for line in lines if 0 <= line.y0 - row[0].baseline < 1.2 * size]
        for x0, x1 in [(line.x0, line.x1) for line in below]:
            covered = [at for at, middle in enumerate(middles) if x0 < middle < x1]
            held = [at for at in covered if text[at]]
            if len(covered) < 2 or len(held) != 1 or held[0] + marks[held[0]][0] - 1 > covered[-1]:
                continue
            title, text[held[0]] = text[held[0]], ""
            text[covered[0]] = title
            for at in covered:
                marks[at] = (0, 0)
            marks[covered[0]] = (len(covered), 1)
    return texts, spans


def _column_middles(rows: list[list[PageWord]], borders: list[float]) -> list[float]:
    """Where the texts of each column usually have their middle."""
    found: list[list[float]] = [[] for _ in range(len(borders) + 1)]
    for row in rows:
        for chunk in chunks_of(row):
            x0, x1 = extent(chunk)
            first = _column(x0 + 0.5, borders)
            if first == _column(x1 - 0.5, borders):
                found[first].append((x0 + x1) / 2)
    return [sorted(part)[len(part) // 2] if part else float("nan") for part in found]


def without_empty_columns(texts: Rows, spans: Spans) -> tuple[Rows, Spans]:
    """Drop columns that hold no text of their own; cells that span them become narrower."""
    keep = [at for at in range(len(texts[0])) if any(row[at] for row in texts)]
    dropped = set(range(len(texts[0]))) - set(keep)
    if not dropped:
        return texts, spans
    narrowed = []
    for row in spans:
        marks = list(row)
        for at, (columns, height) in enumerate(row):
            if columns > 1:
                marks[at] = (columns - sum(at < d < at + columns for d in dropped), height)
        narrowed.append([marks[at] for at in keep])
    return [[row[at] for at in keep] for row in texts], narrowed


def _splits(chunk: list[PageWord], borders: list[float]) -> bool:
    """Does a gap between two words lie on each border?"""
    return all(
        any(a.x1 - 1 <= border <= b.x0 + 1 for a, b in pairwise(chunk)) for border in borders
    )


def _column(x: float, borders: list[float]) -> int:
    return bisect_left(borders, x)


def merge_wrapped(rows: list[list[PageWord]], texts: Rows, spans: Spans) -> tuple[Rows, Spans]:
    """Put lines that go on with the row above into it.

    A line goes on if its first cell is empty, it fills fewer cells than the row above, and it
    stands closer than rows usually do.
    """
    steps = [b[0].baseline - a[0].baseline for a, b in pairwise(rows)]
    if not steps:
        return texts, spans
    usual = sorted(steps)[len(steps) // 2]
    kept = [list(texts[0])]
    marks = [spans[0]]
    for number in range(1, len(texts)):
        text = texts[number]
        filled = [at for at, cell in enumerate(text) if cell]
        above = kept[-1]
        near = steps[number - 1] <= 1.05 * usual
        known = all(above[at] for at in filled)
        if near and not text[0] and known and len(filled) < len([c for c in above if c]):
            for at in filled:
                above[at] = f"{above[at]} {text[at]}"
        else:
            kept.append(list(text))
            marks.append(spans[number])
    return kept, marks


def cell_text(words: list[PageWord]) -> str:
    """Text of a cell: its rows one after another."""
    return " ".join(line_text(row) for row in word_rows(words))


def is_table(cells: Rows, spans: Spans) -> bool:
    """Has it two rows and columns at least, and enough cells with text?"""
    if len(cells) < 2 or len(cells[0]) < 2:
        return False
    own = [
        cell
        for row, marks in zip(cells, spans, strict=True)
        for cell, mark in zip(row, marks, strict=True)
        if mark != (0, 0)
    ]
    filled = sum(bool(cell) for cell in own)
    columns = sum(any(row[column] for row in cells) for column in range(len(cells[0])))
    return filled >= max(3, MIN_FILLED * len(own)) and columns >= 2
