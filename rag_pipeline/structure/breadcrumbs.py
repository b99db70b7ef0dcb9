"""Sections and breadcrumb trails: the headings above each block."""

from __future__ import annotations

from rag_pipeline.structure.items import Document
from rag_pipeline.text import TRAIL_SEPARATOR


def trails_of(document: Document) -> tuple[list[int], list[str]]:
    """Section number and breadcrumb trail of every block, in order.

    A heading's trail ends with the heading itself. Blocks before the first heading are in section
    0 with an empty trail.
    """
    sections: list[int] = []
    trails: list[str] = []
    stack: list[tuple[int, str]] = []
    section, trail = 0, ""
    for item in document.items:
        if item.role in ("heading", "title") and item.level is not None:
            while stack and stack[-1][0] >= item.level:
                stack.pop()
            stack.append((item.level, item.title.replace(TRAIL_SEPARATOR, " › ")))
            section += 1
            trail = TRAIL_SEPARATOR.join(title for _, title in stack)
        sections.append(section)
        trails.append(trail)
    return sections, trails
