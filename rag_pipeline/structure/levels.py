"""Levels of headings: numbering depth over style over size, the same over the whole document."""

from __future__ import annotations

from collections import Counter

from rag_pipeline.structure.headings import is_capitals
from rag_pipeline.structure.items import Document, Item

StyleKey = tuple[float, bool, bool, bool]


def style_key(item: Item) -> StyleKey:
    """What makes headings of one level look alike: size, bold, italic, capitals."""
    return (round(item.size * 2) / 2, item.bold, item.italic, is_capitals(item.title))


def set_levels(document: Document) -> None:
    """Give every heading a level from 1, without gaps."""
    headings = [item for item in document.items if item.role == "heading"]
    if not headings:
        return
    styles = Counter(style_key(item) for item in headings)
    ranked = sorted(styles, key=lambda key: (-key[0], not key[1], not key[3], key[2]))
    rank = {key: at for at, key in enumerate(ranked)}
    for item in headings:
        item.level = rank[style_key(item)] + 1
    _close_gaps(headings)


def _close_gaps(headings: list[Item]) -> None:
    """A heading is at most one level deeper than the one before it."""
    stack: list[int] = []
    for item in headings:
        raw = item.level or 1
        while stack and stack[-1] >= raw:
            stack.pop()
        stack.append(raw)
        item.level = len(stack)
