"""Outlines and sections of a document, from its headings or from the trails of its chunks. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rag_pipeline.serve.reply_models import OutlineEntry
from rag_pipeline.text import TRAIL_SEPARATOR


@dataclass(frozen=True)
class ChunkTrail:
    """The breadcrumb trail of a chunk: a row of the statement `list_trails`."""

    chunk_index: int
    breadcrumb_trail: str
    page_start: int


def chunks_under(trails: Sequence[ChunkTrail], section: str) -> list[int]:
    """Return the indexes of the chunks under a trail, or else under the first heading so named.

    `trails` are those of all chunks, in order.
    """
    deeper = section + TRAIL_SEPARATOR
    found = [
        one.chunk_index
        for one in trails
        if one.breadcrumb_trail == section or one.breadcrumb_trail.startswith(deeper)
    ]
    if found:
        return found
    for one in trails:
        parts = one.breadcrumb_trail.split(TRAIL_SEPARATOR)
        if section in parts:
            return chunks_under(trails, TRAIL_SEPARATOR.join(parts[: parts.index(section) + 1]))
    return []


def outline_entries(headings: list[list[Any]]) -> Iterator[OutlineEntry]:
    """Yield headings, given as [level, title, page], with the trail that leads to each."""
    above: list[tuple[int, str]] = []
    for level, title, page in headings:
        above = [one for one in above if one[0] < level]
        above.append((level, title))
        trail = TRAIL_SEPARATOR.join(name for _, name in above)
        yield OutlineEntry(level=level, title=title, page=page, breadcrumb_trail=trail)


def outline_of_trails(trails: Sequence[ChunkTrail]) -> list[OutlineEntry]:
    """Return the outline that the trails of all chunks, in order, imply."""
    first_pages: dict[str, int] = {}
    for one in trails:
        parts = one.breadcrumb_trail.split(TRAIL_SEPARATOR) if one.breadcrumb_trail else []
        for depth in range(1, len(parts) + 1):
            first_pages.setdefault(TRAIL_SEPARATOR.join(parts[:depth]), one.page_start)
    return [
        OutlineEntry(
            level=trail.count(TRAIL_SEPARATOR),
            title=trail.split(TRAIL_SEPARATOR)[-1],
            page=page,
            breadcrumb_trail=trail,
        )
        for trail, page in first_pages.items()
    ]
