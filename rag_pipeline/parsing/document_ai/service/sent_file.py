"""The file to send: its type, its number of pages, and files with some of its pages."""

from __future__ import annotations

import hashlib
import io
import struct
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pypdfium2 as pdfium

from rag_pipeline.errors import DamagedPdfError, EmptyFileError, ParseError
from rag_pipeline.parsing.pdf.native.bookmarks import Entry, read_outline
from rag_pipeline.parsing.pdf.native.pdf_opening import (
    HEADER_WINDOW,
    PDFIUM_LOCK,
    open_pdf,
    title_of,
)
from rag_pipeline.parsing.pdf.ocr.tesseract import has_ink

PDF = "application/pdf"
TIFF = "image/tiff"
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"II*\x00", TIFF),
    (b"MM\x00*", TIFF),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
TEXT_LAYER_CHARACTERS = 5
"""Letters and digits that a PDF page needs to count as having a text layer."""


def mime_type_of(head: bytes) -> str | None:
    """MIME type that Document AI takes, by the first `HEADER_WINDOW` bytes; None for others.

    >>> mime_type_of(b"%PDF-1.7"), mime_type_of(b"II*\\x00"), mime_type_of(b"PK")
    ('application/pdf', 'image/tiff', None)
    """
    if b"%PDF-" in head:
        return PDF
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head[:2] == b"BM" and head[6:10] == bytes(4):  # reserved, so that plain text is no bitmap
        return "image/bmp"
    return next((mime for signature, mime in _SIGNATURES if head.startswith(signature)), None)


def is_readable(path: Path) -> bool:
    """Whether Document AI reads the file, judged by its content: a PDF or an image."""
    with path.open("rb") as file:
        return mime_type_of(file.read(HEADER_WINDOW)) is not None


def tiff_pages(content: bytes) -> int:
    """Number of images in a TIFF file; 1 if its chain of directories is broken.

    >>> tiff_pages(b"II*\\x00" + (8).to_bytes(4, "little") + bytes(6))
    1
    """
    order = "<" if content[:2] == b"II" else ">"
    count, seen = 0, set()
    try:
        (at,) = struct.unpack_from(f"{order}I", content, 4)
        while at and at not in seen:
            seen.add(at)
            (entries,) = struct.unpack_from(f"{order}H", content, at)
            (at,) = struct.unpack_from(f"{order}I", content, at + 2 + 12 * entries)
            count += 1
    except struct.error:
        pass
    return max(1, count)


@dataclass
class SentFile:
    """An open file. Methods that read its pages may be called from any thread."""

    name: str
    mime_type: str
    content: bytes
    page_count: int
    source_hash: str
    """SHA-256 of the bytes, hexadecimal."""
    page_sizes: dict[int, tuple[float, float]] = field(default_factory=dict)
    """Width and height in points, as displayed, by page number; empty for images."""
    title: str | None = None
    outline: list[Entry] = field(default_factory=list)
    pdf: pdfium.PdfDocument | None = None

    @property
    def is_pdf(self) -> bool:
        """A PDF can be split, an image cannot."""
        return self.pdf is not None

    def with_pages(self, pages: Sequence[int]) -> bytes:
        """A PDF of only these pages, in this order, numbered from 1."""
        if self.pdf is None:
            raise ParseError("an image cannot be split", document=self.name)
        with PDFIUM_LOCK:
            part = pdfium.PdfDocument.new()
            try:
                part.import_pages(self.pdf, [page - 1 for page in pages])
                target = io.BytesIO()
                part.save(target)
                return target.getvalue()
            except pdfium.PdfiumError as error:
                raise DamagedPdfError(
                    f"pages {pages[0]} to {pages[-1]} cannot be copied ({error})",
                    document=self.name,
                ) from error
            finally:
                part.close()

    def has_ink(self, page: int) -> bool:
        """Whether the page is not blank; images are assumed to show something."""
        if self.pdf is None:
            return True
        with self._opened(page) as opened:
            return opened is not None and has_ink(opened)

    def has_text_layer(self, page: int) -> bool:
        """Whether the page of a PDF has text that needs no OCR."""
        with self._opened(page) as opened:
            if opened is None:
                return False
            text_page = opened.get_textpage()
            text = text_page.get_text_bounded()  # text outside the page is invisible
            text_page.close()
        return sum(map(str.isalnum, text)) >= TEXT_LAYER_CHARACTERS

    @contextmanager
    def _opened(self, page: int) -> Iterator[pdfium.PdfPage | None]:
        """Lend a page of the PDF to one thread at a time; None if it cannot be loaded."""
        with PDFIUM_LOCK:
            try:
                opened = self.pdf[page - 1] if self.pdf is not None else None
            except pdfium.PdfiumError:
                opened = None
            try:
                yield opened
            finally:
                if opened is not None:
                    opened.close()


@contextmanager
def open_source(path: Path, document: str) -> Iterator[SentFile]:
    """Open a PDF or an image.

    Raises `EmptyFileError`, `EncryptedPdfError` or `DamagedPdfError`, and `ParseError` for other
    types than Document AI reads.
    """
    content = path.read_bytes()
    if not content:
        raise EmptyFileError("the file is empty", document=document, hint="replace it")
    mime_type = mime_type_of(content[:HEADER_WINDOW])
    if mime_type is None:
        raise ParseError(
            "it is neither a PDF nor an image that Document AI reads",
            document=document,
            hint="images are PNG, JPEG, TIFF, GIF, BMP or WebP",
        )
    source_hash = hashlib.sha256(content).hexdigest()
    with ExitStack() as stack:
        if mime_type != PDF:
            pages = tiff_pages(content) if mime_type == TIFF else 1
            yield SentFile(document, mime_type, content, pages, source_hash)
            return
        pdf = stack.enter_context(open_pdf(path, document))
        sizes = {}
        for number in range(len(pdf)):
            try:
                sizes[number + 1] = pdf.get_page_size(number)
            except pdfium.PdfiumError:
                continue
        yield SentFile(
            document,
            mime_type,
            content,
            len(pdf),
            source_hash,
            sizes,
            title_of(pdf),
            read_outline(pdf),
            pdf,
        )
