"""The PDFium functions that are called thousands of times a page, bound for speed.

The generated bindings convert every pointer through Python objects, and declared argument types
are converted one by one. Bound without declared types a call takes a third of the time, and asks
for care: **every pointer is passed as a `Pointer` instance**, never as a plain integer, which
would be cut to 32 bits. Pointers come back as plain integers, 0 for null.

PDFium is not thread-safe, so keeping the interpreter's lock during these short calls costs nothing.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pypdfium2.raw as c

Address = int
Pointer = ctypes.c_void_p


def _bound(function: Any, result: Any = ctypes.c_int) -> Callable[..., Any]:
    address = ctypes.cast(function, ctypes.c_void_p).value or 0
    return ctypes.PYFUNCTYPE(result)(address)


_address = ctypes.c_size_t

text_length = _bound(c.FPDFText_CountChars)
text_of = _bound(c.FPDFText_GetText)
text_object_at = _bound(c.FPDFText_GetTextObject, _address)
loose_char_box = _bound(c.FPDFText_GetLooseCharBox)
has_map_error = _bound(c.FPDFText_HasUnicodeMapError)
char_matrix = _bound(c.FPDFText_GetMatrix)
font_of = _bound(c.FPDFTextObj_GetFont, _address)
font_name = _bound(c.FPDFFont_GetBaseFontName, ctypes.c_size_t)
font_flags = _bound(c.FPDFFont_GetFlags)
font_weight = _bound(c.FPDFFont_GetWeight)
font_size = _bound(c.FPDFTextObj_GetFontSize)
render_mode = _bound(c.FPDFTextObj_GetTextRenderMode)
fill_color = _bound(c.FPDFPageObj_GetFillColor)
page_object = _bound(c.FPDFPage_GetObject, _address)
object_type = _bound(c.FPDFPageObj_GetType)
object_bounds = _bound(c.FPDFPageObj_GetBounds)
object_matrix = _bound(c.FPDFPageObj_GetMatrix)
form_object = _bound(c.FPDFFormObj_GetObject, _address)
form_count = _bound(c.FPDFFormObj_CountObjects)
path_mode = _bound(c.FPDFPath_GetDrawMode)
path_count = _bound(c.FPDFPath_CountSegments)
path_segment = _bound(c.FPDFPath_GetPathSegment, _address)
segment_type = _bound(c.FPDFPathSegment_GetType)
segment_point = _bound(c.FPDFPathSegment_GetPoint)
segment_closes = _bound(c.FPDFPathSegment_GetClose)


def pointer_to(generated: Any) -> Pointer:
    """A pointer of the generated bindings as one that the functions above take."""
    return ctypes.cast(generated, Pointer)


class Slots:
    """Places of `size` bytes each that calls write results to, with a pointer to each."""

    def __init__(self, size: int, count: int) -> None:
        self.size = size
        self.memory = bytearray(size * count)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.pointers = [Pointer(start + size * at) for at in range(count)]

    def __len__(self) -> int:
        """How many places there are."""
        return len(self.pointers)
