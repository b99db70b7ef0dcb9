"""Regions: the boxes on pages that a chunk's text comes from."""

from __future__ import annotations

from collections.abc import Sequence

Box = tuple[int, float, float, float, float]
"""Page from 1, x0, y0, x1, y1 as shares of the page, origin top left."""

_COLUMN_OVERLAP = 0.7
_LARGEST_GAP = 0.02


def merge_boxes(boxes: Sequence[Box], starts: Sequence[int]) -> list[dict[str, float | int]]:
    """Return the boxes as regions, merging neighbours in one column of a page.

    `starts`: where the text of each box begins in the chunk's content; a region's text extends to
    the start of the next one.

    Consecutive boxes merge if they share a page, their horizontal ranges agree (intersection over
    union ≥ .7) and the second begins below the first's top and at most 2 % of the page below its
    bottom.
    """
    merged: list[list[float]] = []
    begins: list[int] = []
    for (page, left, top, right, bottom), start in zip(boxes, starts, strict=True):
        box = [page, *(min(1.0, max(0.0, edge)) for edge in (left, top, right, bottom))]
        if merged and _continues(merged[-1], box):
            last = merged[-1]
            merged[-1] = [
                page,
                min(last[1], box[1]),
                min(last[2], box[2]),
                max(last[3], box[3]),
                max(last[4], box[4]),
            ]
        elif box not in merged[-8:]:
            merged.append(box)
            begins.append(start)
    return [
        {
            "page": int(page),
            "x0": round(left, 4),
            "y0": round(top, 4),
            "x1": round(right, 4),
            "y1": round(bottom, 4),
            "start": start,
        }
        for (page, left, top, right, bottom), start in zip(merged, begins, strict=True)
    ]


def _continues(first: list[float], second: list[float]) -> bool:
    if first[0] != second[0] or second[2] < first[2] or second[2] - first[4] > _LARGEST_GAP:
        return False
    union = max(first[3], second[3]) - min(first[1], second[1])
    intersection = min(first[3], second[3]) - max(first[1], second[1])
    return union <= 0 or intersection / union >= _COLUMN_OVERLAP
