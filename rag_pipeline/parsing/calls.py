"""The PDFium functions that are called thousands of times a page, bound for speed.

The generated bindings convert every pointer through Python objects; bound by address with plain
integers a call takes half the time. PDFium is not thread-safe, so keeping the interpreter's lock
during these short calls costs nothing.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pypdfium2.raw as c

Address = int


def _bound(function: Any, result: Any, *arguments: Any) -> Callable[..., Any]:
    address = ctypes.cast(function, ctypes.c_void_p).value or 0
    return ctypes.PYFUNCTYPE(result, *arguments)(address)


_pointer, _int = ctypes.c_void_p, ctypes.c_int

text_object_at = _bound(c.FPDFText_GetTextObject, _pointer, _pointer, _int)
loose_char_box = _bound(c.FPDFText_GetLooseCharBox, _int, _pointer, _int, _pointer)
has_map_error = _bound(c.FPDFText_HasUnicodeMapError, _int, _pointer, _int)
char_matrix = _bound(c.FPDFText_GetMatrix, _int, _pointer, _int, _pointer)
font_of = _bound(c.FPDFTextObj_GetFont, _pointer, _pointer)
font_size = _bound(c.FPDFTextObj_GetFontSize, _int, _pointer, _pointer)
render_mode = _bound(c.FPDFTextObj_GetTextRenderMode, _int, _pointer)
fill_color = _bound(c.FPDFPageObj_GetFillColor, _int, *[_pointer] * 5)
page_object = _bound(c.FPDFPage_GetObject, _pointer, _pointer, _int)
object_type = _bound(c.FPDFPageObj_GetType, _int, _pointer)
object_bounds = _bound(c.FPDFPageObj_GetBounds, _int, *[_pointer] * 5)
object_matrix = _bound(c.FPDFPageObj_GetMatrix, _int, _pointer, _pointer)
form_object = _bound(c.FPDFFormObj_GetObject, _pointer, _pointer, ctypes.c_ulong)
form_count = _bound(c.FPDFFormObj_CountObjects, _int, _pointer)
path_mode = _bound(c.FPDFPath_GetDrawMode, _int, _pointer, _pointer, _pointer)
path_count = _bound(c.FPDFPath_CountSegments, _int, _pointer)
path_segment = _bound(c.FPDFPath_GetPathSegment, _pointer, _pointer, _int)
segment_type = _bound(c.FPDFPathSegment_GetType, _int, _pointer)
segment_point = _bound(c.FPDFPathSegment_GetPoint, _int, _pointer, _pointer, _pointer)
segment_closes = _bound(c.FPDFPathSegment_GetClose, _int, _pointer)


def address_of(pointer: Any) -> Address:
    """Address that a generated pointer holds; 0 for null."""
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


def buffers(kind: Any, count: int) -> tuple[list[Any], list[Address]]:
    """Variables for results, and their addresses."""
    values = [kind() for _ in range(count)]
    return values, [ctypes.addressof(value) for value in values]
