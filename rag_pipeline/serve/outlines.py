"""Outlines and sections of a document, from its headings or from the trails of its chunks. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rag_pipeline.frames import TRAIL_SEPARATOR
from rag_pipeline.serve.reply_models import OutlineEntry


def chunks_under(trails: list[tuple[int, str]], section: str) -> list[int]:
    """Return the indexes of the chunks under a trail, or else under the first heading so named.

    `trails`: chunk index and breadcrumb trail of every chunk, in order.
    """
    deeper = section + TRAIL_SEPARATOR
    found = [index for index, trail in trails if trail == section or trail.startswith(deeper)]
    if found:
        return found
    for _, trail in trails:
        parts = trail.split(TRAIL_SEPARATOR)
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


def outline_of_trails(trails: list[tuple[str, int]]) -> list[OutlineEntry]:
    """Return the outline that trails of chunks imply; `trails`: trail and page, in order."""
    first_pages: dict[str, int] = {}
    for trail, page in trails:
        parts = trail.split(TRAIL_SEPARATOR) if trail else []
        for depth in range(1, len(parts) + 1):
            first_pages.setdefault(TRAIL_SEPARATOR.join(parts[:depth]), page)
    return [
        OutlineEntry(
            level=trail.count(TRAIL_SEPARATOR),
            title=trail.split(TRAIL_SEPARATOR)[-1],
            page=page,
            breadcrumb_trail=trail,
        )
        for trail, page in first_pages.items()
    ]
