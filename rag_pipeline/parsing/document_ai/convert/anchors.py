"""Text anchors, boxes and sizes of a reply's layouts. Pure; takes the library's raw messages."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rag_pipeline.parsing.pdf.layout.geometry import Box

Span = tuple[int, int]
"""Start and end in the reply's text."""
PAGE_UP, PAGE_RIGHT, PAGE_DOWN, PAGE_LEFT = 1, 2, 3, 4
"""Values of `Document.Page.Layout.Orientation`; 0 is unknown."""
LONG_SIDE = 792.0
"""Points assumed for the long side of a page of unknown size (a letter page)."""
_TALL = frozenset("bdfhklt0123456789ß()[]{}/|!?&%$#@\"'")
_DEEP = frozenset("gjpqy")
_HALF_DEEP = frozenset(",;()[]{}/|@Q")
WHOLE_PAGE: Box = (0.0, 0.0, 1.0, 1.0)


@dataclass(frozen=True)
class PageSize:
    """Width and height in points, and in the pixels of the reply."""

    width: float
    height: float
    pixel_width: float
    pixel_height: float


def page_size(page: Any, points: tuple[float, float] | None) -> PageSize:
    """The page's size, from the file or else from the reply's pixels.

    The service turns a sideways scan upright before reading it, and boxes refer to the turned page,
    whose width is the file's height.
    """
    pixel_width, pixel_height = page.dimension.width, page.dimension.height
    if not (pixel_width > 0 and pixel_height > 0):
        width, height = points or (LONG_SIDE * 0.75, LONG_SIDE)
        return PageSize(width, height, width, height)
    if points is None:
        scale = LONG_SIDE / max(pixel_width, pixel_height)
        points = (pixel_width * scale, pixel_height * scale)
    elif (points[0] > points[1]) != (pixel_width > pixel_height):
        points = (points[1], points[0])
    return PageSize(*points, pixel_width, pixel_height)


def spans_of(layout: Any) -> list[Span]:
    """Where the layout's text is in the reply's."""
    return [
        (segment.start_index, segment.end_index)
        for segment in layout.text_anchor.text_segments
        if segment.end_index > segment.start_index
    ]


def text_of(text: str, spans: Iterable[Span]) -> str:
    """The text of spans, joined."""
    return "".join(text[start:end] for start, end in spans)


def without(spans: list[Span], taken: list[Span]) -> list[Span]:
    """The rest of spans after others are cut out.

    >>> without([(0, 10)], [(2, 4), (8, 12)])
    [(0, 2), (4, 8)]
    """
    left = spans
    for start, end in taken:
        rest: list[Span] = []
        for a, b in left:
            if end <= a or b <= start:
                rest.append((a, b))
            else:
                rest += [one for one in ((a, start), (end, b)) if one[1] > one[0]]
        left = rest
    return left


def length(spans: Iterable[Span]) -> int:
    """Characters of spans."""
    return sum(end - start for start, end in spans)


def corners(poly: Any, size: PageSize) -> list[tuple[float, float]]:
    """Corners as shares of the page, in the direction of the text."""
    if poly.normalized_vertices:
        return [(vertex.x, vertex.y) for vertex in poly.normalized_vertices]
    return [(vertex.x / size.pixel_width, vertex.y / size.pixel_height) for vertex in poly.vertices]


def box_of(poly: Any, size: PageSize) -> Box | None:
    """The box around a polygon, as shares of the page; None if the polygon is empty.

    The first corner is where the text begins, which is not the top left for turned text.
    """
    points = corners(poly, size)
    if not points:
        return None
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return _inside(min(xs)), _inside(min(ys)), _inside(max(xs)), _inside(max(ys))


def _inside(share: float) -> float:
    return min(1.0, max(0.0, round(share, 6)))


def font_size(poly: Any, size: PageSize, text: str) -> float:
    """Font size in points of a line, from the height of its box and the letters in it.

    Boxes are tight around the ink: a line of capitals is lower than one with descenders. The height
    is the distance from the first corner to the last, whichever way the text is turned.
    """
    points = corners(poly, size)
    if len(points) != 4:
        return 0.0
    (x0, y0), (x3, y3) = points[0], points[3]
    height = math.hypot((x3 - x0) * size.width, (y3 - y0) * size.height)
    return height / ink_height(text)


def ink_height(text: str) -> float:
    """Height of a line's ink in font sizes.

    Capitals, digits and ascenders rise about .72 above the baseline, small letters .5; descenders
    reach .21 below it, brackets and commas about half of that. Hangul and Chinese fill .9.

    >>> round(ink_height("OIL"), 2), round(ink_height("Oil pump"), 2), round(ink_height("sea"), 2)
    (0.72, 0.93, 0.5)
    """
    letters = set(text)
    if any(letter > "\u2e80" for letter in letters):
        return 0.9
    rise = 0.72 if any(letter.isupper() or letter in _TALL for letter in letters) else 0.5
    if letters & _DEEP:
        return rise + 0.21
    return rise + 0.1 if letters & _HALF_DEEP else rise
