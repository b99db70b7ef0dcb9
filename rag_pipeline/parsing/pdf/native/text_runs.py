"""Text objects of a page → the style and direction that their words share."""

from __future__ import annotations

import ctypes
import math
import re
import struct
from functools import lru_cache
from typing import Any, NamedTuple

import pypdfium2.raw as c

from rag_pipeline.parsing.pdf.layout.geometry import Style
from rag_pipeline.parsing.pdf.layout.right_to_left import RIGHT_TO_LEFT
from rag_pipeline.parsing.pdf.native import pdfium_calls as calls
from rag_pipeline.parsing.pdf.native.fonts import (
    is_bold_font,
    is_italic_font,
    is_monospace_font,
    plain_font_name,
)
from rag_pipeline.parsing.pdf.native.pdfium_calls import Address, Pointer, Slots

MIN_FONT_SIZE = 1.0
"""Text below one point is not meant to be read."""
FILL_AND_STROKE = c.FPDF_TEXTRENDERMODE_FILL_STROKE
CLIP_ONLY = c.FPDF_TEXTRENDERMODE_CLIP
INVISIBLE = c.FPDF_TEXTRENDERMODE_INVISIBLE
_NAME_LENGTH = 256
_ASIAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_LOOK = struct.Struct("f4I4f")  # size, colour and opacity, matrix without its place
_LOOK_AND_ORIGIN = struct.Struct("36s2f")


class Run(NamedTuple):
    """What the words of one text object share."""

    style: Style
    turns: int  # quarter turns of the text's direction, in user space
    upright: bool  # close to an axis
    hidden: bool
    invisible: bool  # render mode 3: an OCR layer, or hidden
    origin: tuple[float, float]  # a point on the baseline
    unmapped: bool  # the font does not say which characters it draws
    address: Address  # of the text object


class _Look(NamedTuple):
    """The part of a run that does not change with its place."""

    style: Style
    turns: int
    upright: bool
    hidden: bool
    invisible: bool


class PageRuns:
    """What is known of the text of one page while it is read."""

    def __init__(self, text_page: Any, text: str) -> None:
        self.pointer = calls.pointer_to(text_page)
        self.text = text
        self.asian = not text.isascii() and bool(_ASIAN.search(text))
        """The page has Chinese, Japanese or Korean text."""
        self.right_to_left = not text.isascii() and bool(RIGHT_TO_LEFT.search(text))
        """The page has Hebrew, Arabic or another script that runs from right to left."""
        self.runs: dict[Address, Run] = {}
        self.seen: set[Address] = set()
        """Text objects whose characters were read, beyond those in `runs`."""
        self.looks: dict[tuple[Address, int, bytes], _Look] = {}


class RunReader:
    """Reads the runs of the pages of one document; holds the memory that calls write to."""

    def __init__(self) -> None:
        self.styles: dict[tuple[Any, ...], Style] = {}
        self.item = Pointer()
        # Size, colour and matrix of a text object, side by side: what tells its look.
        self.facts = Slots(4, 11)
        self.size_at, *self.colors_at = self.facts.pointers[:5]
        self.matrix_at = self.facts.pointers[5]
        self.name = Slots(_NAME_LENGTH, 1)

    def clear(self) -> None:
        """Forget the text object that was read last."""
        self.facts.memory[:] = bytes(len(self.facts.memory))

    def run(self, page: PageRuns, address: Address, index: int) -> Run:
        """Style and direction of a text object, asked once. `index`: one of its characters."""
        item = self.item
        item.value = address
        font = calls.font_of(item)
        mode = calls.render_mode(item)
        calls.font_size(item, self.size_at)
        calls.fill_color(item, *self.colors_at)
        calls.char_matrix(page.pointer, index, self.matrix_at)
        raw, x, y = _LOOK_AND_ORIGIN.unpack(self.facts.memory)
        key = (font, mode, raw)
        look = page.looks.get(key)
        if look is None:
            look = page.looks[key] = self._look(page, font, mode)
        unmapped = calls.has_map_error(page.pointer, index) == 1
        run = page.runs[address] = Run._make((*look, (x, y), unmapped, address))
        return run

    def _look(self, page: PageRuns, font: Address, mode: int) -> _Look:
        size, red, green, blue, alpha, a, b, shear, height = _LOOK.unpack_from(self.facts.memory)
        name, bold, italic, monospace = self._font_facts(font, page.asian)
        upright_scale = b == 0.0 and shear == 0.0
        size = abs(size * (height if upright_scale else math.hypot(shear, height)))
        turns, upright = (0, True) if b == 0.0 and a > 0 else _direction(a, b)
        slanted = abs(shear) > 0.15 * abs(height) > 0 and turns in (0, 2)
        values = (
            round(size, 1),
            bold or mode == FILL_AND_STROKE,
            italic or (slanted and upright),
            monospace,
            red << 16 | green << 8 | blue,
            name,
        )
        # One object for equal styles, so that comparing them is fast.
        style = self.styles.get(values) or self.styles.setdefault(values, Style(*values))
        hidden = size < MIN_FONT_SIZE or mode == CLIP_ONLY or alpha == 0
        return _Look(style, turns, upright, hidden, mode == INVISIBLE)

    def _font_facts(self, address: Address, asian: bool) -> tuple[str, bool, bool, bool]:
        font = Pointer(address)
        length = calls.font_name(font, *self.name.pointers, ctypes.c_size_t(_NAME_LENGTH))
        name = bytes(self.name.memory[: max(0, min(length, _NAME_LENGTH) - 1)])
        return _font_style(name, calls.font_weight(font), max(0, calls.font_flags(font)), asian)


@lru_cache(maxsize=4096)
def _font_style(
    raw_name: bytes, weight: int, flags: int, asian: bool
) -> tuple[str, bool, bool, bool]:
    """Plain name, bold, italic, fixed width."""
    name = plain_font_name(raw_name.decode("utf-8", "replace"))
    return (
        name,
        is_bold_font(name, weight, flags),
        is_italic_font(name, flags),
        is_monospace_font(name, flags, asian=asian),
    )


def _direction(a: float, b: float) -> tuple[int, bool]:
    """Quarter turns of a text direction, and whether it is close to an axis.

    >>> _direction(1, 0), _direction(0, 1), _direction(-1, 0), _direction(0.7, 0.7)
    ((0, True), (1, True), (2, True), (0, False))
    """
    turns = round(math.atan2(b, a) / (math.pi / 2)) % 4
    straight = max(abs(a), abs(b)) > 12 * min(abs(a), abs(b))
    return turns, straight
