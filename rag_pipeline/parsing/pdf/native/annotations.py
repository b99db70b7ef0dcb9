"""What is written on a page beside its content: values of forms, typed notes, stamps.

PDFium extracts the text of a page's content only. So these are drawn into the content first, where
they are text like any other, at their place.
"""

from __future__ import annotations

from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as c

from rag_pipeline.text import one_line

_WRITTEN = frozenset({c.FPDF_ANNOT_WIDGET, c.FPDF_ANNOT_FREETEXT, c.FPDF_ANNOT_STAMP})
_MOST_CHARACTERS = 200


def load_page(pdf: pdfium.PdfDocument, index: int) -> tuple[Any, list[str]]:
    """Return PDFium's handle of a page with its annotations in the content; None if it fails.

    The second part are notes on what could not be drawn: typed notes without an appearance, and
    boxes that are checked.
    """
    page = c.FPDF_LoadPage(pdf.raw, index)
    if not page:
        return page, []
    is_written, notes = _look_at(page)
    if not is_written or c.FPDFPage_Flatten(page, c.FLAT_NORMALDISPLAY) != c.FLATTEN_SUCCESS:
        return page, notes
    c.FPDF_ClosePage(page)
    return c.FPDF_LoadPage(pdf.raw, index), notes


def _look_at(page: Any) -> tuple[bool, list[str]]:
    """Return whether annotations show text (links and marks do not), and notes on the others."""
    is_written = False
    notes: list[str] = []
    checked = 0
    for number in range(c.FPDFPage_GetAnnotCount(page)):
        annotation = c.FPDFPage_GetAnnot(page, number)
        if not annotation:
            continue
        kind = c.FPDFAnnot_GetSubtype(annotation)
        if kind in _WRITTEN:
            is_written = True
            text = _string(annotation, b"Contents")
            if kind == c.FPDF_ANNOT_FREETEXT and text and not c.FPDFAnnot_HasKey(annotation, b"AP"):
                notes.append(f"a typed note was not read as text: {text[:_MOST_CHARACTERS]}")
            checked += _string(annotation, b"AS") not in ("", "Off")
        c.FPDFPage_CloseAnnot(annotation)
    if checked:
        notes.append(f"checked boxes of a form that were not read: {checked}")
    return is_written, notes


def _string(annotation: Any, key: bytes) -> str:
    """Return a text of an annotation, on one line."""
    size = c.FPDFAnnot_GetStringValue(annotation, key, None, 0)
    buffer = (c.FPDF_WCHAR * (size // 2 + 1))()
    c.FPDFAnnot_GetStringValue(annotation, key, buffer, size)
    return one_line(bytes(buffer)[:size].decode("utf-16-le", "replace").strip("\0"))
