"""Lines of text that may be rows of a table, and runs of them that share open gutters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from rag_pipeline.parsing.pdf.layout.geometry import PageWord
from rag_pipeline.parsing.pdf.tables.cells import CHUNK_GAP, word_rows

STEP = 3.5
"""Baseline distance of the first two rows of a table, in sizes of their type, at most."""
LOOSER = 1.7
"""A row further down than this many of the run's own steps ends the run."""
OVER_SPACE = 1.4
"""Width of a gap that may part cells, in spaces between words, at least."""
WIDEST_SPACE = 0.36
"""Ems of a space in the widest common fonts."""
SHARED = 0.2
"""Ems of white space that a gutter keeps from one row to the next."""
LARGER = 1.15
"""Type size over that of the run's first row from which a row is a heading."""
_DOTS = ".·…_\u2024\u2025"
_LEADER = re.compile(rf"[{_DOTS}]+")
_SENTENCE_END = frozenset(".!?;。")
Gap = tuple[float, float]


@dataclass(slots=True)
class TextRow:
    """Words on one baseline, from left to right; leaders are white space."""

    words: list[PageWord]
    drawn: list[PageWord]
    """The words as they were drawn, leaders among them."""
    has_leaders: bool
    chunks: list[list[PageWord]]
    """Words that no wide gap parts."""
    gaps: list[Gap]
    """White space wider than between words, and that before the first word and after the last."""
    space: float
    """Usual white space between two words, in points."""

    @property
    def baseline(self) -> float:
        """Distance from the top of the page, in points."""
        return self.words[0].baseline

    @property
    def size(self) -> float:
        """Type size of the largest word."""
        return max(word.style.size for word in self.words)

    @property
    def is_parted(self) -> bool:
        """Has it several chunks?"""
        return len(self.chunks) > 1

    @property
    def is_bold(self) -> bool:
        """Is all of it bold?"""
        return all(word.style.bold for word in self.words)


def text_rows(words: list[PageWord]) -> list[TextRow]:
    """Group words into rows, top to bottom. Rows of nothing but leaders are left out."""
    rows = word_rows(words)
    gaps = sorted(
        (b.x0 - a.x1) / b.style.size
        for row in rows
        for a, b in pairwise(row)
        if 0 < b.x0 - a.x1 < CHUNK_GAP * b.style.size
    )
    # Most gaps of a table part its cells: those between words are the narrower ones.
    space = min(gaps[len(gaps) // 4], WIDEST_SPACE) if gaps else WIDEST_SPACE
    found = []
    for row in rows:
        shown, leaders = _without_leaders(row)
        if shown:
            found.append(_text_row(row, shown, leaders, space))
    return found


def _without_leaders(row: list[PageWord]) -> tuple[list[PageWord], list[PageWord]]:
    """The words of a row without dots that lead the eye, and these: at least three in all."""
    if not any(word.text[-1:] in _DOTS for word in row):
        return row, []
    leaders = [word for word in row if _LEADER.fullmatch(word.text)]
    shown = [word for word in row if not _LEADER.fullmatch(word.text)]
    if sum(len(word.text) for word in leaders) < 3:
        leaders, shown = [], row
    pitch = leaders[1].x0 - leaders[0].x0 if len(leaders) > 1 else 0.0
    cut = []
    for word in shown:
        text = word.text.rstrip(_DOTS)
        follows = any(0 <= one.x0 - word.x1 < word.style.size for one in leaders[:1])
        if follows or len(word.text) - len(text) > 2:
            width = (word.x1 - word.x0) * len(text) / len(word.text)
            cut.append(replace(word, text=text, x1=word.x0 + width))
            leaders = leaders or [word]
        elif pitch and abs(word.x0 - leaders[-1].x0 - pitch) < 0.2 * pitch:
            # The last dot of the leader touches the value; that of `.5` stands elsewhere.
            cut.append(replace(word, text=word.text.removeprefix(leaders[-1].text)))
        else:
            cut.append(word)
    return [word for word in cut if word.text], leaders


def _text_row(
    drawn: list[PageWord], words: list[PageWord], leaders: list[PageWord], space: float
) -> TextRow:
    chunks: list[list[PageWord]] = []
    end = float("-inf")
    led = sorted(word.x0 for word in leaders)
    for word in words:
        wide = word.x0 - end >= CHUNK_GAP * word.style.size
        if not chunks or wide or any(end - 1 < x < word.x0 for x in led):
            chunks.append([word])
        else:
            chunks[-1].append(word)
        end = max(end, word.x1)
    gaps = [(float("-inf"), words[0].x0)]
    end = words[0].x1
    for word in words[1:]:
        if word.x0 - end > OVER_SPACE * space * word.style.size:
            gaps.append((end, word.x0))
        end = max(end, word.x1)
    gaps.append((end, float("inf")))
    return TextRow(words, drawn, bool(leaders), chunks, gaps, space * words[0].style.size)


def shared_gaps(gutters: list[Gap], gaps: list[Gap], smallest: float) -> list[Gap]:
    """What stays open of the gutters in a row with these gaps."""
    found = []
    for low, high in gutters:
        for start, end in gaps:
            left, right = max(low, start), min(high, end)
            if right - left >= smallest:
                found.append((left, right))
    return found


def runs_of(rows: list[TextRow]) -> Iterator[tuple[int, int]]:
    """Yield the runs of rows, as start and end, through which at least one gutter stays open."""
    at = 0
    while at < len(rows):
        end = _run_end(rows, at) if rows[at].is_parted else at
        if end - at > 1:
            yield at, end
        at = max(end, at + 1)


def _run_end(rows: list[TextRow], start: int) -> int:
    first = rows[start]
    gutters = near = first.gaps[1:-1]  # of all rows, and of the last two
    steps: list[float] = []
    last, crossing, plain = start, 0, False
    for at in range(start + 1, len(rows)):
        row = rows[at]
        step = row.baseline - rows[at - 1].baseline
        if step > (max(LOOSER * max(steps), 2 * first.size) if steps else STEP * first.size):
            break
        if row.size > LARGER * first.size or (row.is_parted and LARGER * row.size < first.size):
            break
        if row.is_parted:
            shared = shared_gaps(gutters, row.gaps, SHARED * row.size)
            if not shared or (crossing and first.is_bold and plain and row.is_bold):
                break
            near = shared_gaps(rows[last].gaps[1:-1], row.gaps[1:-1], SHARED * row.size) or shared
            gutters, last, crossing = shared, at, 0
            plain = plain or not row.is_bold
        elif crossing or not _keeps_open(row, near):
            if steps and step > 1.15 * max(steps):
                break
            # A line across the gutters may title a group of rows; two of them are text.
            crossing += 1
            if crossing > 1 or (row.words[-1].text[-1:] in _SENTENCE_END and not row.is_bold):
                break
        steps.append(step)
    end = last + 1
    while start + 1 < end < len(rows) and _goes_on(rows, start, end, near):
        end += 1
    return end


def _keeps_open(row: TextRow, gutters: list[Gap]) -> bool:
    """Does the row write across none of the gutters?"""
    return all(shared_gaps([gutter], row.gaps, SHARED * row.size) for gutter in gutters)


def _goes_on(rows: list[TextRow], start: int, at: int, gutters: list[Gap]) -> bool:
    """Does a line with one chunk continue a cell of the last row?"""
    row, step = rows[at], rows[at].baseline - rows[at - 1].baseline
    if row.is_parted or row.size > LARGER * rows[start].size or len(gutters) == 0:
        return False
    if not _keeps_open(row, gutters):
        return False
    usual = median(b.baseline - a.baseline for a, b in pairwise(rows[start:at]))
    if row.words[0].x0 > gutters[0][0]:
        return step < 1.05 * usual
    after = rows[at + 1].baseline - row.baseline if at + 1 < len(rows) else float("inf")
    return step < 0.95 * usual or (step < 1.05 * usual and after > 1.3 * usual)
