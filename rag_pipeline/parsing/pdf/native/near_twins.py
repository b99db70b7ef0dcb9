"""Letters that PDFium takes for a double of the one before: the second "f" of "effect".

Text that is drawn twice to look bold or shaded is read once. PDFium tells such a double by its
letters and by an origin within nine tenths of their width. Where letters are drawn one by one and
set tight, the second of two equal ones is as near, and would be lost. A double lies upon its twin;
the next letter of a word lies beside it.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from struct import unpack

import pypdfium2.raw as c

from rag_pipeline.parsing.pdf.layout.geometry import Box
from rag_pipeline.parsing.pdf.native import pdfium_calls as calls
from rag_pipeline.parsing.pdf.native.graphics import Graphics
from rag_pipeline.parsing.pdf.native.pdfium_calls import Address, Pointer, Slots

UPON = 0.75
"""Share of its width from which an object lies upon another."""
BEFORE = 12
"""Objects before it among which PDFium looks for a twin, and some that are not text."""
STEP = 0.15
"""Share of its width by which such an object is moved on, so that PDFium sees no double."""


def near_twins(graphics: Graphics) -> dict[Address, float]:
    """Return the dropped text objects that lie beside their twin, each with its width."""
    if not graphics.repeated_objects:
        return {}
    orders = sorted((order, address) for address, order in graphics.text_order.items())
    slots = Slots(4, 4)
    found: dict[Address, float] = {}
    for address, box, order in zip(
        graphics.repeated_objects, graphics.repeated_text, graphics.repeated_order, strict=True
    ):
        end = bisect_left(orders, (order, 0))
        start = bisect_left(orders, (order - BEFORE, 0))
        shares = [_share(box, _bounds(twin, slots)) for _, twin in orders[start:end]]
        if shares and 0 < max(shares) < UPON:
            found[address] = box[2] - box[0]
    return found


@contextmanager
def moved_on(widths: Mapping[Address, float]) -> Iterator[None]:
    """Move text objects a little along the line, so that they are read, and put them back."""
    items = [(ctypes.cast(one, c.FPDF_PAGEOBJECT), STEP * width) for one, width in widths.items()]
    for item, by in items:
        c.FPDFPageObj_Transform(item, 1, 0, 0, 1, by, 0)
    try:
        yield
    finally:
        for item, by in items:
            c.FPDFPageObj_Transform(item, 1, 0, 0, 1, -by, 0)


def _bounds(address: Address, slots: Slots) -> Box:
    if not calls.object_bounds(Pointer(address), *slots.pointers):
        return (0.0, 0.0, 0.0, 0.0)
    left, bottom, right, top = unpack("4f", slots.memory)
    return left, bottom, right, top


def _share(box: Box, other: Box) -> float:
    """Return the share of a box's width that another one on its line covers."""
    if min(box[3], other[3]) - max(box[1], other[1]) < (box[3] - box[1]) / 2:
        return 0.0
    return max(0.0, min(box[2], other[2]) - max(box[0], other[0])) / (box[2] - box[0])
