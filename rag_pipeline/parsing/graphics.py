"""Rulings, filled areas and images of a page: what tables, notes and figures are drawn with.

Word processors draw table borders as thin filled rectangles rather than as lines, and some put a
whole grid into one path: both become rulings here. All boxes are in user space (origin at the
bottom left): left, bottom, right, top.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pypdfium2.raw as c

from rag_pipeline.parsing import calls
from rag_pipeline.parsing.calls import Address
from rag_pipeline.parsing.geometry import Box

THIN = 3.0
"""Points; a filled rectangle up to this thickness is a ruling."""
SHORTEST_RULING = 6.0
MAX_OBJECTS = 6000
"""A page of vector art may have tens of thousands of paths; its rulings mean nothing."""
MAX_SEGMENTS = 400
MAX_FORM_DEPTH = 4
TEXT = c.FPDF_PAGEOBJ_TEXT
Matrix = tuple[float, float, float, float, float, float]
IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@dataclass(slots=True)
class Graphics:
    """What a page draws besides text, in user space."""

    rulings: list[Box] = field(default_factory=list)
    fills: list[tuple[Box, int]] = field(default_factory=list)
    """Filled areas with their colour (0xRRGGBB), in drawing order."""
    images: list[Box] = field(default_factory=list)
    repeated_text: list[Box] = field(default_factory=list)
    """Text objects that the text page dropped as doubles: text printed twice to look bold."""


class _Reader:
    """Holds the buffers that the calls write to."""

    def __init__(self, known_text: set[int]) -> None:
        self.known_text = known_text
        self.graphics = Graphics()
        self.count = 0
        self.edges, self.edges_at = calls.buffers(ctypes.c_float, 4)
        self.colors, self.colors_at = calls.buffers(ctypes.c_uint, 4)
        (self.fill_mode, self.stroke), self.modes_at = calls.buffers(ctypes.c_int, 2)
        self.matrix = c.FS_MATRIX()
        self.matrix_at = ctypes.addressof(self.matrix)
        self.point, self.point_at = calls.buffers(ctypes.c_float, 2)

    def bounds(self, item: Address, form: Matrix) -> Box | None:
        if not calls.object_bounds(item, *self.edges_at):
            return None
        left, bottom, right, top = (edge.value for edge in self.edges)
        return transformed((left, bottom, right, top), form)

    def matrix_of(self, item: Address, form: Matrix) -> Matrix:
        if not calls.object_matrix(item, self.matrix_at):
            return form
        m = self.matrix
        return multiplied((m.a, m.b, m.c, m.d, m.e, m.f), form)

    def fill_color(self, item: Address) -> tuple[int, int]:
        """Colour (0xRRGGBB) and alpha of a fill."""
        calls.fill_color(item, *self.colors_at)
        red, green, blue, alpha = (color.value for color in self.colors)
        return red << 16 | green << 8 | blue, alpha

    def read(self, item: Address, form: Matrix, depth: int) -> None:
        kind = calls.object_type(item)
        if kind == TEXT:
            box = self.bounds(item, form) if item not in self.known_text else None
            if box and box[2] - box[0] > 1 and box[3] - box[1] > 1:  # not of spaces only
                self.graphics.repeated_text.append(box)
        elif kind == c.FPDF_PAGEOBJ_PATH:
            self.read_path(item, form)
        elif kind in (c.FPDF_PAGEOBJ_IMAGE, c.FPDF_PAGEOBJ_SHADING):
            if (box := self.bounds(item, form)) and kind == c.FPDF_PAGEOBJ_IMAGE:
                self.graphics.images.append(box)
        elif kind == c.FPDF_PAGEOBJ_FORM and depth < MAX_FORM_DEPTH:
            inner = self.matrix_of(item, form)
            for number in range(calls.form_count(item)):
                self.count += 1
                if self.count > MAX_OBJECTS:
                    return
                self.read(calls.form_object(item, number), inner, depth + 1)

    def read_path(self, item: Address, form: Matrix) -> None:
        calls.path_mode(item, *self.modes_at)
        filled, stroked = self.fill_mode.value != 0, self.stroke.value != 0
        if not (filled or stroked):
            return
        box = self.bounds(item, form)
        if box is None:
            return
        width, height = box[2] - box[0], box[3] - box[1]
        if max(width, height) < SHORTEST_RULING:
            return
        color, alpha = self.fill_color(item) if filled else (0, 255)
        if min(width, height) <= THIN:
            if not filled or (alpha > 0 and color < 0xF8F8F8):
                self.graphics.rulings.append(box)
            return
        segments = calls.path_count(item)
        if filled and segments <= 6:
            self.graphics.fills.append((box, color if alpha > 0 else 0xFFFFFF))
            if stroked:
                self.graphics.rulings.extend(sides(box))
            return
        if segments <= MAX_SEGMENTS:
            self.read_segments(item, form, segments, filled, color)

    def read_segments(
        self, item: Address, form: Matrix, segments: int, filled: bool, color: int
    ) -> None:
        """Break a path into straight pieces (stroked) or rectangles (filled)."""
        matrix = self.matrix_of(item, form)
        for points in self.subpaths(item, segments, matrix):
            xs, ys = [p[0] for p in points], [p[1] for p in points]
            box = (min(xs), min(ys), max(xs), max(ys))
            width, height = box[2] - box[0], box[3] - box[1]
            if filled and 4 <= len(points) <= 6:
                if min(width, height) <= THIN and max(width, height) >= SHORTEST_RULING:
                    self.graphics.rulings.append(box)
                elif min(width, height) > THIN:
                    self.graphics.fills.append((box, color))
            elif not filled:
                for (xa, ya), (xb, yb) in pairwise(points):
                    dx, dy = abs(xa - xb), abs(ya - yb)
                    if min(dx, dy) < 0.5 and max(dx, dy) >= SHORTEST_RULING:
                        self.graphics.rulings.append(
                            (min(xa, xb), min(ya, yb), max(xa, xb), max(ya, yb))
                        )

    def subpaths(
        self, item: Address, segments: int, matrix: Matrix
    ) -> Iterator[list[tuple[float, float]]]:
        """Yield the corners of each subpath that has straight pieces only, in user space."""
        a, b, cc, d, e, f = matrix
        points: list[tuple[float, float]] = []
        straight = True
        for number in range(segments):
            segment = calls.path_segment(item, number)
            kind = calls.segment_type(segment)
            calls.segment_point(segment, *self.point_at)
            x, y = self.point[0].value, self.point[1].value
            if kind == c.FPDF_SEGMENT_MOVETO:
                if straight and len(points) > 1:
                    yield points
                points, straight = [], True
            elif kind == c.FPDF_SEGMENT_BEZIERTO:
                straight = False
            points.append((a * x + cc * y + e, b * x + d * y + f))
            if calls.segment_closes(segment) and points:
                points.append(points[0])
        if straight and len(points) > 1:
            yield points


def read_graphics(page: Any, known_text: set[int]) -> Graphics:
    """Read what page draws besides text. `known_text`: addresses of text objects already read."""
    reader = _Reader(known_text)
    address = calls.address_of(page)
    for number in range(min(c.FPDFPage_CountObjects(page), MAX_OBJECTS)):
        reader.count += 1
        item = calls.page_object(address, number)
        if item not in known_text:
            reader.read(item, IDENTITY, 0)
        if reader.count > MAX_OBJECTS:
            break
    return reader.graphics


def sides(box: Box) -> list[Box]:
    """The four sides of a rectangle as rulings.

    >>> sides((0, 0, 4, 2))
    [(0, 0, 4, 0), (0, 2, 4, 2), (0, 0, 0, 2), (4, 0, 4, 2)]
    """
    x0, y0, x1, y1 = box
    return [(x0, y0, x1, y0), (x0, y1, x1, y1), (x0, y0, x0, y1), (x1, y0, x1, y1)]


def transformed(box: Box, matrix: Matrix) -> Box:
    """Bounding box of a box after a PDF matrix.

    >>> transformed((0, 0, 1, 2), (2, 0, 0, 2, 10, 0))
    (10, 0, 12, 4)
    """
    if matrix is IDENTITY:
        return box
    a, b, cc, d, e, f = matrix
    xs = [a * x + cc * y + e for x in (box[0], box[2]) for y in (box[1], box[3])]
    ys = [b * x + d * y + f for x in (box[0], box[2]) for y in (box[1], box[3])]
    return min(xs), min(ys), max(xs), max(ys)


def multiplied(m: Matrix, n: Matrix) -> Matrix:
    """Matrix product in PDF's row-vector order: first `m`, then `n`.

    >>> multiplied((1, 0, 0, 1, 5, 0), (2, 0, 0, 2, 0, 0))
    (2, 0, 0, 2, 10, 0)
    """
    if n is IDENTITY:
        return m
    return (
        m[0] * n[0] + m[1] * n[2],
        m[0] * n[1] + m[1] * n[3],
        m[2] * n[0] + m[3] * n[2],
        m[2] * n[1] + m[3] * n[3],
        m[4] * n[0] + m[5] * n[2] + n[4],
        m[4] * n[1] + m[5] * n[3] + n[5],
    )
