"""Rulings, filled areas and images of a page: what tables, notes and figures are drawn with.

Word processors draw table borders as thin filled rectangles rather than as lines, and some put a
whole grid into one path: both become rulings here. All boxes are in user space (origin at the
bottom left): left, bottom, right, top.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise, repeat
from struct import unpack
from typing import Any

import pypdfium2.raw as c

from rag_pipeline.parsing.pdf.layout.geometry import Box
from rag_pipeline.parsing.pdf.native import pdfium_calls as calls
from rag_pipeline.parsing.pdf.native.pdfium_calls import Address, Pointer, Slots

THIN = 3.0
"""Points; a filled rectangle up to this thickness is a ruling."""
SHORTEST_RULING = 6.0
MAX_OBJECTS = 6000
"""A page of vector art may have tens of thousands of paths; its rulings mean nothing."""
MAX_SEGMENTS = 400
MAX_FORM_DEPTH = 4
TEXT, PATH = c.FPDF_PAGEOBJ_TEXT, c.FPDF_PAGEOBJ_PATH
IMAGE, FORM = c.FPDF_PAGEOBJ_IMAGE, c.FPDF_PAGEOBJ_FORM
SHADING = c.FPDF_PAGEOBJ_SHADING
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
    repeated_objects: list[Address] = field(default_factory=list)
    """Their addresses."""
    repeated_order: list[int] = field(default_factory=list)
    """Their places in the drawing order."""
    blank_objects: Counter[Address] = field(default_factory=Counter)
    """By font, text objects of no width that the text page left out: spaces, or letters of a font
    that is not there."""
    text_order: dict[Address, int] = field(default_factory=dict)
    """Text objects by address, with their place in the drawing order."""
    covers: list[tuple[Box, int]] = field(default_factory=list)
    """Areas painted after some text, with their place in the drawing order."""


class GraphicsReader:
    """Reads what the pages of one document draw; holds the memory that calls write to."""

    def __init__(self) -> None:
        self.known_text: set[Address] = set()
        self.graphics = Graphics()
        self.count = 0
        self.item = Pointer()
        self.segment = Pointer()
        self.edges = Slots(4, 4)
        self.colors = Slots(4, 4)
        self.modes = Slots(4, 2)
        self.matrix = Slots(24, 1)
        self.point = Slots(4, 2)

    def read(self, page: Any, known_text: set[Address]) -> Graphics:
        """Read what a page draws besides text. `known_text`: text objects already read."""
        self.known_text, self.graphics, self.count = known_text, Graphics(), 0
        pointer = calls.pointer_to(page)
        numbers = range(min(c.FPDFPage_CountObjects(page), MAX_OBJECTS))
        for item in map(calls.page_object, repeat(pointer), numbers):
            self.count += 1
            if item in known_text:
                self.graphics.text_order[item] = self.count
            else:
                self._read(item, IDENTITY, 0)
            if self.count > MAX_OBJECTS:
                break
        return self.graphics

    def _bounds(self, item: Pointer, form: Matrix) -> Box | None:
        if not calls.object_bounds(item, *self.edges.pointers):
            return None
        return transformed(unpack("4f", self.edges.memory), form)

    def _matrix_of(self, item: Pointer, form: Matrix) -> Matrix:
        if not calls.object_matrix(item, *self.matrix.pointers):
            return form
        return multiplied(unpack("6f", self.matrix.memory), form)

    def _fill_color(self, item: Pointer) -> tuple[int, int]:
        """Colour (0xRRGGBB) and alpha of a fill."""
        calls.fill_color(item, *self.colors.pointers)
        red, green, blue, alpha = unpack("4I", self.colors.memory)
        return red << 16 | green << 8 | blue, alpha

    def _read(self, address: Address, form: Matrix, depth: int) -> None:
        item = self.item
        item.value = address
        kind = calls.object_type(item)
        if kind == TEXT:
            if address in self.known_text:
                self.graphics.text_order[address] = self.count
                return
            box = self._bounds(item, form)
            if box and box[2] - box[0] > 1 and box[3] - box[1] > 1:  # not of spaces only
                self.graphics.repeated_text.append(box)
                self.graphics.repeated_objects.append(address)
                self.graphics.repeated_order.append(self.count)
            elif box and box[2] - box[0] <= 0:
                self.graphics.blank_objects[calls.font_of(item)] += 1
        elif kind == PATH:
            self._read_path(item, form)
        elif kind == IMAGE:
            if box := self._bounds(item, form):
                self.graphics.images.append(box)
                self._cover(box)
        elif kind == SHADING:
            if box := self._bounds(item, form):
                self._cover(box)
        elif kind == FORM and depth < MAX_FORM_DEPTH:
            outer = Pointer(address)
            inner = self._matrix_of(outer, form)
            for number in range(calls.form_count(outer)):
                self.count += 1
                if self.count > MAX_OBJECTS:
                    return
                self._read(calls.form_object(outer, ctypes.c_ulong(number)), inner, depth + 1)

    def _cover(self, box: Box) -> None:
        """Note an area that may hide the text drawn before it."""
        if self.graphics.text_order:
            self.graphics.covers.append((box, self.count))

    def _read_path(self, item: Pointer, form: Matrix) -> None:
        calls.path_mode(item, *self.modes.pointers)
        fill_mode, stroked = unpack("2i", self.modes.memory)
        filled = fill_mode != 0
        if not (filled or stroked):
            return
        box = self._bounds(item, form)
        if box is None:
            return
        width, height = box[2] - box[0], box[3] - box[1]
        if max(width, height) < SHORTEST_RULING:
            return
        color, alpha = self._fill_color(item) if filled else (0, 255)
        if min(width, height) <= THIN:
            if not filled or (alpha > 0 and color < 0xF8F8F8):
                self.graphics.rulings.append(box)
            return
        if filled and alpha > 0:
            self._cover(box)
        segments = calls.path_count(item)
        if filled and segments <= 6:
            self.graphics.fills.append((box, color if alpha > 0 else 0xFFFFFF))
            if stroked:
                self.graphics.rulings.extend(sides(box))
            return
        if segments <= MAX_SEGMENTS:
            self._read_segments(item, form, segments, filled, color)

    def _read_segments(
        self, item: Pointer, form: Matrix, segments: int, filled: bool, color: int
    ) -> None:
        """Break a path into straight pieces (stroked) or rectangles (filled)."""
        matrix = self._matrix_of(item, form)
        for points in self._subpaths(item, segments, matrix):
            if not filled:
                self.graphics.rulings += _straight_pieces(points)
            elif 4 <= len(points) <= 6:
                xs, ys = [p[0] for p in points], [p[1] for p in points]
                box = (min(xs), min(ys), max(xs), max(ys))
                width, height = box[2] - box[0], box[3] - box[1]
                if min(width, height) > THIN:
                    self.graphics.fills.append((box, color))
                elif max(width, height) >= SHORTEST_RULING:
                    self.graphics.rulings.append(box)

    def _subpaths(
        self, item: Pointer, segments: int, matrix: Matrix
    ) -> Iterator[list[tuple[float, float]]]:
        """Yield the corners of each subpath that has straight pieces only, in user space."""
        a, b, cc, d, e, f = matrix
        points: list[tuple[float, float]] = []
        straight = True
        segment = self.segment
        for address in map(calls.path_segment, repeat(item), range(segments)):
            segment.value = address
            kind = calls.segment_type(segment)
            if kind == c.FPDF_SEGMENT_MOVETO:
                if straight and len(points) > 1:
                    yield points
                points, straight = [], True
            elif kind == c.FPDF_SEGMENT_BEZIERTO:
                straight = False
            if not straight:
                continue
            calls.segment_point(segment, *self.point.pointers)
            x, y = unpack("2f", self.point.memory)
            points.append((a * x + cc * y + e, b * x + d * y + f))
            if calls.segment_closes(segment):
                points.append(points[0])
        if straight and len(points) > 1:
            yield points


def _straight_pieces(points: list[tuple[float, float]]) -> Iterator[Box]:
    """Horizontal and vertical pieces of a polygon that are long enough to be rulings."""
    for (xa, ya), (xb, yb) in pairwise(points):
        dx, dy = abs(xa - xb), abs(ya - yb)
        if min(dx, dy) < 0.5 and max(dx, dy) >= SHORTEST_RULING:
            yield min(xa, xb), min(ya, yb), max(xa, xb), max(ya, yb)


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
