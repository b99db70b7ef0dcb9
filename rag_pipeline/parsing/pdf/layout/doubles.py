"""Words that are drawn twice in nearly one place: a shadow, or a second print that looks bold."""

from __future__ import annotations

from collections import Counter

from rag_pipeline.parsing.pdf.layout.geometry import PageWord, overlap_share

SHADOW_OVERLAP = 0.5
"""Share of a word's box that its double covers; neighbours overlap by next to nothing."""
SHADOW_SHIFT = 0.35
"""Ems between a word and its double in either direction, at most."""


def without_doubles(words: list[PageWord]) -> tuple[list[PageWord], list[str]]:
    """Keep of equal words in nearly one place the last, which lies on top; the others apart."""
    counts = Counter([word.text for word in words])
    if len(counts) == len(words):
        return words, []
    rows: dict[tuple[str, float, int], list[PageWord]] = {}
    dropped: set[int] = set()
    for word in words:
        if counts[word.text] == 1:
            continue
        text, size = word.text, word.style.size
        row = int(word.baseline / (SHADOW_SHIFT * size)) if size else 0
        for near in (row - 1, row, row + 1):
            for other in rows.get((text, size, near), ()):
                if _is_double(other, word):
                    dropped.add(id(other))
        rows.setdefault((text, size, row), []).append(word)
    if not dropped:
        return words, []
    kept = [word for word in words if id(word) not in dropped]
    return kept, [word.text for word in words if id(word) in dropped]


def _is_double(a: PageWord, b: PageWord) -> bool:
    reach = SHADOW_SHIFT * a.style.size
    if abs(a.x0 - b.x0) > reach or abs(a.baseline - b.baseline) > reach:
        return False
    boxes = [(word.x0, word.y0, word.x1, word.y1) for word in (a, b)]
    return overlap_share(*boxes) > SHADOW_OVERLAP
