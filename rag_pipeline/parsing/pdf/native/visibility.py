"""Words that a reader of the page cannot see, by what it shows with and without them.

Text is unseen where nothing on the drawn page changes once it is gone: white on white, painted
over, in a layer that is off. Drawing takes as long as all other reading of a page, so only words
with a cause for doubt are tried.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pypdfium2.raw as c

from rag_pipeline.parsing.pdf.layout.geometry import Box
from rag_pipeline.parsing.pdf.native import pdfium_calls as calls
from rag_pipeline.parsing.pdf.native.graphics import Graphics
from rag_pipeline.parsing.pdf.native.page_words import RawWords
from rag_pipeline.parsing.pdf.native.pdfium_calls import Address

NEARLY_WHITE = 0xF8
CONTRAST = 24
"""Levels (of 255) of a colour that a pixel changes by where a letter goes."""
CHANGED_SHARE = 0.01
"""Share of a character's pixels that change where it is seen; thin letters cover a tenth."""
SCALE = 1.5
"""Pixels a point: letters of five points still have strokes."""
MAX_PIXELS = 4_000_000
SAME_COLOR = 24
"""Levels by which each part of two colours differs at most where one cannot be read on the other.
"""
MAX_LAYERS = 12
"""Layers of a page that are looked at one by one."""
_Boxes = npt.NDArray[np.float64]
_Mask = npt.NDArray[np.bool_]


def unseen_words(
    page: Any, text_page: Any, words: RawWords, graphics: Graphics, *, layers_off: bool
) -> set[int]:
    """Numbers of the words that the drawn page does not show.

    `layers_off`: the file has layers that are not shown at first.
    """
    unseen = {at for at, run in enumerate(words.runs) if run.invisible}
    doubtful = [
        at for at in np.flatnonzero(_doubtful(words, graphics)).tolist() if at not in unseen
    ]
    objects = _Objects(text_page, words)
    groups = [sorted(doubtful)] if doubtful else []
    if layers_off:
        groups += objects.layers()[:MAX_LAYERS]
    if not groups:
        return unseen
    drawing = _Drawing(page)
    whole = drawing.pixels()
    for group in groups:
        drawn_by = chain.from_iterable(map(objects.of_word, group))
        with hidden(chain(drawn_by, graphics.repeated_objects)):
            changed = (np.abs(drawing.pixels() - whole) > CONTRAST).any(axis=2)
        unseen.update(
            at
            for at in group
            if not drawing.shows(
                changed, words.boxes[at], len(words.texts[at]), words.runs[at].turns
            )
        )
    return unseen


def objects_beneath(text_page: Any, words: RawWords, unseen: set[int]) -> set[Address]:
    """Text objects that draw nothing but words that are unseen, although they are painted."""
    painted = {at for at in unseen if not words.runs[at].invisible}
    if not painted:
        return set()
    objects = _Objects(text_page, words)
    seen = (at for at in range(len(words.texts)) if at not in painted)
    beneath = set(chain.from_iterable(map(objects.of_word, painted)))
    return beneath.difference(chain.from_iterable(map(objects.of_word, seen)))


def _doubtful(words: RawWords, graphics: Graphics) -> _Mask:
    """Words that are nearly white, painted over, or of the colour of the field that they are on."""
    colors = np.array([run.style.color for run in words.runs], dtype=np.int64)
    doubtful = _least(colors) >= NEARLY_WHITE
    x = (words.boxes[:, 0] + words.boxes[:, 2]) / 2
    y = (words.boxes[:, 1] + words.boxes[:, 3]) / 2
    if graphics.covers:
        order = np.array([graphics.text_order.get(run.address, 0) for run in words.runs])
        boxes = np.array([box for box, _ in graphics.covers])
        later = np.array([at for _, at in graphics.covers])[:, None] > order
        doubtful |= (_inside(boxes, x, y) & later).any(axis=0)
    fields = [(box, color) for box, color in graphics.fills if color < NEARLY_WHITE << 16]
    if fields:
        shades = np.array([color for _, color in fields])[:, None]
        same = _differ(shades, colors) <= SAME_COLOR
        if same.any():
            doubtful |= (same & _inside(np.array([box for box, _ in fields]), x, y)).any(axis=0)
    return doubtful


def _inside(boxes: _Boxes, x: _Boxes, y: _Boxes) -> _Mask:
    """A row for each box: which points it holds."""
    left, bottom, right, top = (edge[:, None] for edge in boxes.T)
    inside: _Mask = (left <= x) & (x <= right) & (bottom <= y) & (y <= top)
    return inside


def _least(colors: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    least: npt.NDArray[np.int64] = np.minimum(
        np.minimum(colors >> 16, colors >> 8 & 255), colors & 255
    )
    return least


def _differ(a: npt.NDArray[np.int64], b: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The most that two colours differ by in red, green or blue."""
    parts = [np.abs((a >> shift & 255) - (b >> shift & 255)) for shift in (0, 8, 16)]
    most: npt.NDArray[np.int64] = np.maximum(np.maximum(parts[0], parts[1]), parts[2])
    return most


class _Objects:
    """The text objects that draw the words of a page."""

    def __init__(self, text_page: Any, words: RawWords) -> None:
        self._pointer = calls.pointer_to(text_page)
        self._words = words

    def of_word(self, at: int) -> Iterator[Address]:
        """Addresses of the objects that draw a word."""
        for index in range(self._words.positions[at], self._words.lasts[at] + 1):
            if address := calls.text_object_at(self._pointer, index):
                yield address

    def layers(self) -> list[list[int]]:
        """Words by the layer that their marks name."""
        found: dict[str, list[int]] = {}
        for at, run in enumerate(self._words.runs):
            found.setdefault(_layer_of(run.address), []).append(at)
        return list(found.values())


def _layer_of(address: Address) -> str:
    """Name of the optional content that a page object is marked as part of; empty for none."""
    item = ctypes.cast(address, c.FPDF_PAGEOBJECT)
    names = []
    for number in range(max(0, c.FPDFPageObj_CountMarks(item))):
        mark = c.FPDFPageObj_GetMark(item, number)
        if _read_text(c.FPDFPageObjMark_GetName, mark) == "OC":
            names.append(_read_text(c.FPDFPageObjMark_GetParamStringValue, mark, b"Name"))
    return "/".join(names)


def _read_text(function: Any, mark: Any, *given: Any) -> str:
    buffer = (ctypes.c_ushort * 128)()
    size = ctypes.c_ulong()
    if not function(mark, *given, buffer, 256, ctypes.byref(size)):
        return ""
    return bytes(buffer)[: max(0, min(size.value, 256) - 2)].decode("utf-16-le", "replace")


@contextmanager
def hidden(addresses: Iterable[Address]) -> Iterator[None]:
    """Take text objects out of the drawing, and put them back."""
    items = [ctypes.cast(address, c.FPDF_PAGEOBJECT) for address in dict.fromkeys(addresses)]
    for item in items:
        c.FPDFPageObj_SetIsActive(item, False)
    try:
        yield
    finally:
        for item in items:
            c.FPDFPageObj_SetIsActive(item, True)


class _Drawing:
    """Draws one page several times over."""

    def __init__(self, page: Any) -> None:
        self._page = page
        width, height = c.FPDF_GetPageWidthF(page), c.FPDF_GetPageHeightF(page)
        scale = min(SCALE, math.sqrt(MAX_PIXELS / max(1.0, width * height)))
        self._size = max(1, int(width * scale)), max(1, int(height * scale))

    def pixels(self) -> npt.NDArray[np.int16]:
        """The page as seen: rows of pixels, each blue, green, red."""
        width, height = self._size
        pixels = np.full((height, width, 4), 255, dtype=np.uint8)
        bitmap = c.FPDFBitmap_CreateEx(
            width, height, c.FPDFBitmap_BGRx, pixels.ctypes.data_as(ctypes.c_void_p), 4 * width
        )
        c.FPDF_RenderPageBitmap(bitmap, self._page, 0, 0, width, height, 0, 0)
        c.FPDFBitmap_Destroy(bitmap)
        return pixels[:, :, :3].astype(np.int16)

    def shows(self, changed: _Mask, box: _Boxes, characters: int, turns: int) -> bool:
        """Do pixels change at most characters of a word?

        `box` is in user space, in which the word runs in a direction of so many quarter turns.
        """
        corners = [self._place(x, y) for x in (box[0], box[2]) for y in (box[1], box[3])]
        xs, ys = zip(*corners, strict=True)
        found = changed[max(0, min(ys)) : max(ys) + 1, max(0, min(xs)) : max(xs) + 1]
        if not found.size:
            return False
        along = 1 - (turns + c.FPDFPage_GetRotation(self._page)) % 2
        parts = np.array_split(found, min(characters, found.shape[along]), axis=along)
        return 2 * sum(bool(part.mean() >= CHANGED_SHARE) for part in parts) > len(parts)

    def _place(self, x: float, y: float) -> tuple[int, int]:
        """The pixel of a point in user space."""
        across, down = ctypes.c_int(), ctypes.c_int()
        width, height = self._size
        c.FPDF_PageToDevice(
            self._page, 0, 0, width, height, 0, x, y, ctypes.byref(across), ctypes.byref(down)
        )
        return across.value, down.value


def covered_share(images: list[Box], page: Box) -> float:
    """Sum of the images' areas over that of the page."""
    area = (page[2] - page[0]) * (page[3] - page[1])
    covered = sum((x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in images)
    return covered / area if area > 0 else 0.0
