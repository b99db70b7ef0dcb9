"""Opening a PDF, with one clear error for each reason it cannot be read."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from rag_pipeline.errors import (
    DamagedPdfError,
    EmptyFileError,
    EncryptedPdfError,
    NotAPdfError,
    ParseError,
)
from rag_pipeline.parsing.pdf.native.file_objects import file_facts, without_page_counts
from rag_pipeline.parsing.signatures import HEADER_WINDOW, describe_content, is_pdf
from rag_pipeline.text import clean_text, one_line

_TAIL_WINDOW = 2048
PDFIUM_LOCK = threading.RLock()
"""Held during PDFium calls while other threads may make some: PDFium is not thread-safe, not even
across documents."""


def check_header(path: Path, document: str) -> None:
    """Raise `EmptyFileError` or `NotAPdfError` where the content is no PDF."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(HEADER_WINDOW)
    except OSError as error:
        raise ParseError(
            f"the file cannot be read ({error.strerror or error})",
            document=document,
            hint="check that it exists and that you may read it",
        ) from error
    if size == 0:
        raise EmptyFileError(
            "the file is empty (zero bytes)", document=document, hint="copy or download it again"
        )
    if not is_pdf(head):
        raise NotAPdfError(
            f"the file is not a PDF; by its content it is {describe_content(head)}",
            document=document,
            hint="rename it by its true kind, or replace it by a PDF",
        )


def is_cut_short(path: Path) -> bool:
    """A whole PDF ends with `%%EOF`; a truncated one does not."""
    with path.open("rb") as file:
        file.seek(0, 2)
        file.seek(max(0, file.tell() - _TAIL_WINDOW))
        return b"%%EOF" not in file.read()


@contextmanager
def open_pdf(path: Path, document: str) -> Iterator[pdfium.PdfDocument]:
    """Open a PDF and close it again.

    Raises `EmptyFileError`, `NotAPdfError`, `EncryptedPdfError` or `DamagedPdfError`.
    """
    check_header(path, document)
    try:
        pdf = _with_all_pages(path, pdfium.PdfDocument(path))
    except pdfium.PdfiumError as error:
        raise _opening_error(path, document, error) from error
    try:
        if len(pdf) == 0:
            raise DamagedPdfError(
                "the PDF has no pages", document=document, hint="replace it by a whole copy"
            )
        yield pdf
    finally:
        pdf.close()


def _with_all_pages(path: Path, pdf: pdfium.PdfDocument) -> pdfium.PdfDocument:
    """Return the document, or one whose pages PDFium has counted if the file says too few."""
    if file_facts(path).pages <= len(pdf):
        return pdf
    counted = pdfium.PdfDocument(without_page_counts(path.read_bytes()))
    if len(counted) <= len(pdf):  # the others are no longer part of the document
        counted.close()
        return pdf
    pdf.close()
    return counted


def title_of(pdf: pdfium.PdfDocument) -> str | None:
    """Return the title in a PDF's properties; None where there is none."""
    size = pdfium_c.FPDF_GetMetaText(pdf.raw, b"Title", None, 0)
    buffer = ctypes.create_string_buffer(size)
    pdfium_c.FPDF_GetMetaText(pdf.raw, b"Title", buffer, size)
    # Halves of characters are no reason to refuse a document, as pypdfium2's own reading would.
    text = buffer.raw[: max(0, size - 2)].decode("utf-16-le", "replace")
    return one_line(clean_text(text)) or None


def count_pages(path: Path) -> int | None:
    """Return the number of pages without reading any; None where the file is no readable PDF."""
    try:
        with open_pdf(path, path.name) as pdf:
            return len(pdf)
    except ParseError:
        return None


def _opening_error(path: Path, document: str, cause: pdfium.PdfiumError) -> ParseError:
    code = cause.err_code
    if code in (pdfium_c.FPDF_ERR_PASSWORD, pdfium_c.FPDF_ERR_SECURITY):
        return EncryptedPdfError(
            "the PDF is encrypted and needs a password",
            document=document,
            hint="save a copy without a password",
        )
    reason = "truncated (its end is missing)" if is_cut_short(path) else "damaged"
    return DamagedPdfError(
        f"the PDF is {reason} and cannot be opened",
        document=document,
        hint="copy or download it again",
    )
