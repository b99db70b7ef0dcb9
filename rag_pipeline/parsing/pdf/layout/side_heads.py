"""Headings that stand beside their text, in a column of their own: each is read before its text."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from rag_pipeline.line_marks import starts_with_bullet, starts_with_number
from rag_pipeline.parsing.pdf.layout.geometry import Line, Style

FEWEST = 2
"""Headings of a page, at least."""
SAME_ROW = 2.0
"""Points between the baselines of a heading and of the first line of its text, at most."""
NEXT_LINE = 1.7
"""Sizes of type between the lines of one heading, at most."""
_WORD = re.compile(r"[^\W\d_]{3}|[\u3040-\u9fff\uac00-\ud7a3]{2}")
GAP = 1.28
"""Baseline distance, in usual ones, from which a paragraph ends."""


def side_head_parts(left: list[Line], right: list[Line]) -> list[list[Line]]:
    """The parts of a page by heading: the heading, then what stands beside it.

    Empty where what stands on the left are no headings: these look alike and unlike the text,
    begin where a paragraph begins, and have several paragraphs or list items each, which the
    cells of a table and the explanations of terms have not.
    """
    heads = _heads(left)
    right = sorted(right, key=lambda line: line.baseline)
    if len(heads) < FEWEST or not _look_apart(left, right):
        return []
    if not all(_WORD.search(head[0].text) for head in heads):
        return []  # numbers and bullets before the lines that they belong to
    tops = [head[0].baseline for head in heads]
    before = [line for line in right if line.baseline < tops[0] - SAME_ROW]
    texts = [
        [line for line in right if top - SAME_ROW <= line.baseline < following - SAME_ROW]
        for top, following in zip(tops, [*tops[1:], float("inf")], strict=True)
    ]
    distances = sorted(
        b.baseline - a.baseline for a, b in pairwise(right) if b.baseline > a.baseline + 1
    )
    if not distances or not all(texts):
        return []
    usual = distances[len(distances) // 4]
    for head, text in zip(heads, texts, strict=True):
        if abs(text[0].baseline - head[0].baseline) > SAME_ROW or len(text) <= len(head):
            return []
    for above, text in pairwise([before, *texts] if before else texts):
        if text[0].baseline - above[-1].baseline < GAP * usual:
            return []
    if not all(_has_parts(text, usual) for text in texts):
        return []
    return [before, *(part for both in zip(heads, texts, strict=True) for part in both)]


def _heads(left: list[Line]) -> list[list[Line]]:
    heads: list[list[Line]] = []
    for line in sorted(left, key=lambda one: one.baseline):
        last = heads[-1][-1] if heads else None
        if last and line.baseline - last.baseline <= NEXT_LINE * line.style.size:
            heads[-1].append(line)
        else:
            heads.append([line])
    return heads


def _look_apart(left: list[Line], right: list[Line]) -> bool:
    looks = {_look(line.style) for line in left}
    return len(looks) == 1 and looks.isdisjoint(
        look
        for look, count in Counter(_look(line.style) for line in right).items()
        if count > 0.2 * len(right)
    )


def _look(style: Style) -> tuple[float, bool, int]:
    return style.size, style.bold, style.color


def _has_parts(text: list[Line], usual: float) -> bool:
    """Are there several paragraphs or items of a list?"""
    return any(
        below.baseline - above.baseline > GAP * usual
        or starts_with_number(below.text)
        or starts_with_bullet(below.text)
        for above, below in pairwise(text)
    )
