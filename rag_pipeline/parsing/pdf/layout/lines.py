"""Words → segments (runs without a wide gap) → lines within one column."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from operator import attrgetter

from rag_pipeline.parsing.pdf.layout.geometry import (
    OVERPRINT,
    SPACE_GAP,
    Line,
    PageWord,
    Style,
)
from rag_pipeline.parsing.pdf.layout.right_to_left import (
    RIGHT_TO_LEFT,
    runs_right_to_left,
    text_from_right,
)

SEGMENT_GAP = 0.85
"""Ems; a wider gap may part columns or cells. Justified lines stretch spaces up to about 0.8."""
RAISED_SIZE = 0.85
"""Share of the size of the word before that an exponent or the mark of a note has at most."""
UNIT_LETTERS = 2
"""Letters of a unit that has a power: m, mm, cm, s."""
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZµμΩ"
_DIGITS = "0123456789+-\u2212"
_RAISED = str.maketrans(f"{_DIGITS}()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾")
_CLOSING = ".,;:!?%)]}»”’\"'。、，）"
"""Signs that the mark of a note may follow."""
_BY_BASELINE, _BY_LEFT_EDGE = attrgetter("baseline", "x0"), attrgetter("x0")


def segments_of(words: Iterable[PageWord]) -> list[Line]:
    """Group words into runs that no wide gap interrupts, in the order of the content stream.

    Neighbours in the stream are joined first; pieces of a row that were drawn out of order after.
    """
    runs: list[list[PageWord]] = []
    last: PageWord | None = None
    for word in words:
        if last is not None and (
            # Nearly always the next word of a row, which needs no closer look.
            (
                word.style is last.style
                and word.baseline == last.baseline
                and 0 <= word.x0 - last.x1 <= SEGMENT_GAP * word.style.size
            )
            or _continues(last, word)
        ):
            runs[-1].append(word)
        else:
            runs.append([word])
        last = word
    return _join_neighbours([make_line(run) for run in runs])


def _continues(last: PageWord, word: PageWord) -> bool:
    """Does `word` follow `last` on the same row without a wide gap?"""
    size = word.style.size
    if word.style is not last.style:
        size = max(last.style.size, size)
    if word.x0 < last.x0 and RIGHT_TO_LEFT.search(last.text + word.text):
        gap = last.x0 - word.x1
        return abs(last.baseline - word.baseline) < 0.3 * size and abs(gap) < SEGMENT_GAP * size
    gap = word.x0 - last.x1
    if gap > SEGMENT_GAP * size or word.x0 < last.x0 - 0.1 * size or gap < -1.2 * size:
        return False
    shift = abs(last.baseline - word.baseline)
    if shift < 0.02 * size:
        return True
    overlap = min(last.y1, word.y1) - max(last.y0, word.y0)
    lower = min(last.y1 - last.y0, word.y1 - word.y0)
    return overlap > 0.4 * lower and shift < 0.6 * size


def _join_neighbours(segments: list[Line]) -> list[Line]:
    """Join segments of a row that touch although the stream drew them apart."""
    order = sorted(range(len(segments)), key=lambda i: (segments[i].y0, segments[i].x0))
    absorbed: set[int] = set()
    joined: dict[int, Line] = {}
    for at, i in enumerate(order):
        if i in absorbed:
            continue
        line = segments[i]
        for k in order[at + 1 :]:
            other = segments[k]
            if other.y0 > line.y1:
                break
            if k not in absorbed and _touches(line, other):
                first, second = sorted((line, other), key=lambda one: one.x0)
                line = make_line([*first.words, *second.words])
                absorbed.add(k)
        joined[i] = line
    return [joined[i] for i in range(len(segments)) if i in joined]


def _touches(a: Line, b: Line) -> bool:
    first, second = (a, b) if a.x0 <= b.x0 else (b, a)
    size = max(first.style.size, second.style.size, 1.0)
    gap = second.x0 - first.x1
    overlap = min(a.y1, b.y1) - max(a.y0, b.y0)
    return (
        -0.5 * size < gap < 0.4 * size
        and overlap > 0.5 * min(a.y1 - a.y0, b.y1 - b.y0)
        and abs(a.baseline - b.baseline) < 0.45 * size
    )


def make_line(words: list[PageWord]) -> Line:
    """Put words of one row, from left to right, into a line."""
    first = words[0]
    if len(words) == 1:
        box = (first.x0, first.y0, first.x1, first.y1)
        return Line(*box, first.baseline, first.text, first.style, words)
    style = main_style(words)
    return Line(
        min([word.x0 for word in words]),
        min([word.y0 for word in words]),
        max([word.x1 for word in words]),
        max([word.y1 for word in words]),
        first.baseline if first.style is style else _baseline(words, style.size),
        line_text(words),
        style,
        words,
    )


def _baseline(words: list[PageWord], size: float) -> float:
    """That of the first word of the line's size; raised and lowered words are smaller."""
    return next((word.baseline for word in words if word.style.size == size), words[0].baseline)


def line_text(words: list[PageWord]) -> str:
    """Text of a row of words, with spaces where there is white space."""
    if runs_right_to_left([word.text for word in words]):
        return text_from_right(words)
    joined = [
        at
        for at, (last, word) in enumerate(pairwise(words), start=1)
        # Words that stand apart in order are two; only the others need a closer look.
        if (word.x0 < last.x1 or word.glued or word.position < last.position)
        and _is_joined(last, word, word.x0 - last.x1)
    ]
    texts = [word.text for word in words]
    if not joined:
        return " ".join(texts)
    for at in reversed(joined):
        if is_raised(words[at - 1], words[at]):
            texts[at] = raised_text(words[at - 1].text, texts[at])
        texts[at - 1 : at + 1] = [texts[at - 1] + texts[at]]
    return " ".join(texts)


def _is_joined(last: PageWord, word: PageWord, gap: float) -> bool:
    if gap > 0.3 * word.style.size:
        return False
    size = max(last.style.size, word.style.size)
    if gap < -OVERPRINT * size and last.text[-1:].isdigit() and word.text[:1].isdigit():
        return is_raised(last, word)
    return gap < (0.3 if word.glued else SPACE_GAP) * size


def is_raised(before: PageWord, word: PageWord) -> bool:
    """Does a word stand higher than the one before, and in smaller type?"""
    size = before.style.size
    shift = before.baseline - word.baseline
    return word.style.size < RAISED_SIZE * size and 0.15 * size < shift < size


def raised_text(before: str, raised: str) -> str:
    """A raised text, so that it changes no number or word that it is an exponent or a note of.

    Marks of notes stand apart; powers of short units get raised digits, those of numbers and words
    a caret, after a full stop too ("0.58." with note 3); letters after a number belong to it (1st).

    >>> raised_text("10", "-6"), raised_text("25", "1)"), raised_text("Nm", "2)")
    ('^-6', ' ¹⁾', ' ²⁾')
    >>> raised_text("m", "3"), raised_text("valve", "1"), raised_text("1", "st")
    ('³', '^1', 'st')
    >>> raised_text("0.58.", "3"), raised_text("(", "3")
    ('^3', '3')
    """
    last = before[-1:]
    if not any(map(str.isdigit, raised)) or not (last.isalnum() or last in _CLOSING):
        return raised
    if raised.endswith(")"):
        return f" {raised.translate(_RAISED)}"
    letters = before[len(before.rstrip(_LETTERS)) :]
    if 0 < len(letters) <= UNIT_LETTERS and set(raised) <= set(_DIGITS):
        return raised.translate(_RAISED)
    return f"^{raised}"


def main_style(words: list[PageWord]) -> Style:
    """The style of most characters.

    Flags are taken by majority each, so that a bold line with one plain word stays bold.
    """
    counts: dict[Style, int] = {}
    style, characters = words[0].style, 0
    for word in words:
        # Most styles are one object; to hash each word's by its values would take longer.
        if word.style is not style:
            counts[style] = counts.get(style, 0) + characters
            style, characters = word.style, 0
        characters += len(word.text)
    if not counts:
        return style
    counts[style] = counts.get(style, 0) + characters
    most = max(counts, key=counts.__getitem__)
    total = sum(counts.values())
    bold = italic = monospace = 0
    for style, characters in counts.items():
        bold += characters * style.bold
        italic += characters * style.italic
        monospace += characters * style.monospace
    flags = (2 * bold > total, 2 * italic > total, 2 * monospace > total)
    # The style itself where it has the flags, so that lines of one style share one object.
    return most if flags == most[1:4] else Style(most.size, *flags, most.color, most.font)


def rows_of(segments: list[Line]) -> list[list[Line]]:
    """Group segments into rows by baseline, top to bottom, each from left to right."""
    rows: list[list[Line]] = []
    bottom = 0.0
    for segment in sorted(segments, key=_BY_BASELINE):
        if rows and _in_row(rows[-1], segment, bottom):
            rows[-1].append(segment)
        else:
            rows.append([segment])
            bottom = segment.baseline
    for row in rows:
        if len(row) > 1:
            row.sort(key=_BY_LEFT_EDGE)
    return rows


def _in_row(row: list[Line], segment: Line, baseline: float) -> bool:
    size = min(row[0].style.size, segment.style.size)
    if abs(segment.baseline - baseline) > 0.4 * size:
        return False
    return all(segment.x0 >= other.x1 - size or segment.x1 <= other.x0 + size for other in row)


def column_lines(segments: list[Line]) -> list[Line]:
    """Lines of one column: the segments of each row become one line."""
    if not segments:
        return []
    edges = (min(s.x0 for s in segments), max(s.x1 for s in segments))
    lines = [segment for segment in segments if segment.table is not None]
    for row in rows_of([segment for segment in segments if segment.table is None]):
        line = row[0] if len(row) == 1 else make_line([word for one in row for word in one.words])
        lines.append(line)
    for line in lines:
        line.column = edges
    return sorted(lines, key=attrgetter("baseline"))
