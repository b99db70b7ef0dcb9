"""Words of an area → rows and columns, by the white space between them."""

from __future__ import annotations

from itertools import pairwise

from rag_pipeline.parsing.geometry import Word
from rag_pipeline.parsing.lines import line_text

CHUNK_GAP = 0.75
"""Ems; words of a cell stand closer."""
GUTTER = 0.45
"""Ems; white space between two columns is at least this wide."""
Rows = list[list[str]]


def word_rows(words: list[Word]) -> list[list[Word]]:
    """Group words into rows by baseline, top to bottom, each from left to right."""
    rows: list[list[Word]] = []
    for word in sorted(words, key=lambda one: (one.baseline, one.x0)):
        if rows and abs(word.baseline - rows[-1][0].baseline) < 0.45 * word.style.size:
            rows[-1].append(word)
        else:
            rows.append([word])
    for row in rows:
        row.sort(key=lambda one: one.x0)
    return rows


def chunks_of(row: list[Word]) -> list[list[Word]]:
    """Split a row at wide gaps."""
    chunks: list[list[Word]] = []
    for word in row:
        if chunks and word.x0 - chunks[-1][-1].x1 < CHUNK_GAP * word.style.size:
            chunks[-1].append(word)
        else:
            chunks.append([word])
    return chunks


def column_borders(rows: list[list[Word]], allowed: float = 0.12) -> list[float]:
    """Middles of the gutters: strips of white space that (nearly) no row writes across.

    Rows whose words all lie in one chunk (titles, spanning headers) are not asked.
    """
    spans: list[tuple[float, float]] = []
    asked = 0
    sizes = []
    for row in rows:
        chunks = chunks_of(row)
        if len(chunks) < 2:
            continue
        asked += 1
        sizes.append(row[0].style.size)
        spans += [(chunk[0].x0, max(word.x1 for word in chunk)) for chunk in chunks]
    if not spans:
        return []
    tolerated = int(allowed * asked)
    smallest = GUTTER * sorted(sizes)[len(sizes) // 2]
    events = sorted([(x0, 1) for x0, _ in spans] + [(x1, -1) for _, x1 in spans])
    borders: list[float] = []
    depth, open_from = 0, None
    for x, change in events:
        before = depth
        depth += change
        if before > tolerated >= depth:
            open_from = x
        elif before <= tolerated < depth and open_from is not None:
            if x - open_from >= smallest:
                borders.append((x + open_from) / 2)
            open_from = None
    return borders


def cells_between(
    rows: list[list[Word]], borders: list[float]
) -> tuple[Rows, list[list[tuple[int, int]]]]:
    """Texts and spans (columns, rows) of each row's cells.

    A chunk that writes across a border spans the columns it covers.
    """
    width = len(borders) + 1
    texts: Rows = []
    spans: list[list[tuple[int, int]]] = []
    for row in rows:
        cells: list[list[Word]] = [[] for _ in range(width)]
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


def without_empty_columns(
    texts: Rows, spans: list[list[tuple[int, int]]]
) -> tuple[Rows, list[list[tuple[int, int]]]]:
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


def _splits(chunk: list[Word], borders: list[float]) -> bool:
    """Does a gap between two words lie on each border?"""
    return all(
        any(a.x1 - 1 <= border <= b.x0 + 1 for a, b in pairwise(chunk)) for border in borders
    )


def _column(x: float, borders: list[float]) -> int:
    return sum(x > border for border in borders)


def merge_wrapped(
    rows: list[list[Word]], texts: Rows, spans: list[list[tuple[int, int]]]
) -> tuple[Rows, list[list[tuple[int, int]]]]:
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
