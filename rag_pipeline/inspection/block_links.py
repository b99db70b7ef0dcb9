"""Blocks for display, and the chunks each block went into, by position on the page or by text."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pandas as pd

from rag_pipeline.frames import FURNITURE_ROLES
from rag_pipeline.text import one_line

TOLERANCE = 0.002
"""Share of the page; regions are rounded to four digits."""
BEGINNING = 60
"""Characters of a block to look for in a chunk."""
AHEAD = 4
"""Chunks to look through, from the previous block's chunk on."""

Box = tuple[float, float, float, float]


def shown_blocks(structured: pd.DataFrame) -> list[dict[str, Any]]:
    """Return page, role, level, box, trail, rule and text of each row of a structured frame."""
    names = ("page_number", "role", "heading_level", "breadcrumb_trail", "rule", "text")
    boxes = structured[["x0", "y0", "x1", "y1"]].round(4).to_numpy().tolist()
    return [
        {
            "page": int(page),
            "role": role,
            "level": None if pd.isna(level) else int(level),
            "box": box,
            "breadcrumb_trail": trail,
            "rule": rule,
            "text": text,
        }
        for page, role, level, trail, rule, text, box in zip(
            *(structured[name] for name in names), boxes, strict=True
        )
    ]


def chunks_of_blocks(structured: pd.DataFrame, chunks: pd.DataFrame) -> list[list[int]]:
    """Return for each block the positions (from 0) of the chunks that hold it, ascending.

    A chunk holds a block if one of the chunk's regions covers its box. Formats without pages have
    no boxes: there the block's first characters are looked up in the chunks, in reading order.
    """
    boxes = list(
        zip(*(structured[edge].tolist() for edge in ("x0", "y0", "x1", "y1")), strict=True)
    )
    if all(box == (0.0, 0.0, 1.0, 1.0) for box in boxes):
        return _by_text(structured, chunks)
    regions: dict[int, list[tuple[int, Box]]] = {}
    for position, found in enumerate(chunks["regions"]):
        for region in found:
            box = (region["x0"], region["y0"], region["x1"], region["y1"])
            regions.setdefault(region["page"], []).append((position, box))
    return [
        []
        if role in FURNITURE_ROLES
        else sorted({place for place, region in regions.get(page, []) if _covers(region, box)})
        for page, role, box in zip(
            structured["page_number"], structured["role"], boxes, strict=True
        )
    ]


def _covers(region: Box, box: Box) -> bool:
    return (
        region[0] <= box[0] + TOLERANCE
        and region[1] <= box[1] + TOLERANCE
        and region[2] >= box[2] - TOLERANCE
        and region[3] >= box[3] - TOLERANCE
    )


def _by_text(structured: pd.DataFrame, chunks: pd.DataFrame) -> list[list[int]]:
    contents = [one_line(content) for content in chunks["content"]]
    links: list[list[int]] = []
    current = 0
    for role, text, cells in zip(
        structured["role"], structured["text"], structured["table_cells"], strict=True
    ):
        sought = (
            next(iter(one_line(cell) for row in cells for cell in row if cell), "")
            if (cells is not None and len(cells))
            else one_line(text)
        )
        sought = sought[:BEGINNING]
        found: list[int] = []
        if sought and role not in FURNITURE_ROLES:
            near = islice(enumerate(contents), current, current + AHEAD)
            found = [position for position, content in near if sought in content][:1]
        if found:
            current = found[0]
        links.append(found)
    return links
