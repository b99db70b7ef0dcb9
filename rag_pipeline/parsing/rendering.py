"""A page of a PDF as a picture, and its words in place on it.

Pictures show the page as it is seen: cropped and turned. Shares of it (0..1, origin top left) are
what the boxes of blocks, chunks and citations are.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pypdfium2 as pdfium
from PIL import Image

from rag_pipeline.errors import ParseError
from rag_pipeline.parsing.opening import PDFIUM_LOCK, open_pdf
from rag_pipeline.parsing.reading import read_page

ImageFormat = Literal["PNG", "WEBP", "JPEG"]
MAX_PIXELS = 40_000_000
"""Of a picture; a page of extreme shape is drawn smaller than asked for."""
QUALITY = 80
"""Of WebP and JPEG."""
_EFFORT = 2
"""Of WebP, 0 to 6: the default, 4, takes twice as long to save a twentieth."""


@dataclass(frozen=True)
class PlacedWord:
    """A word of a page, with its box in shares of the page as seen."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float


def render_page(
    path: Path, page: int, width: int, *, kind: ImageFormat = "WEBP", document: str | None = None
) -> bytes:
    """Return a page (1-based) as a picture `width` pixels wide.

    Raises the errors of `open_pdf`, and `ParseError` where there is no such page or it cannot be
    drawn.
    """
    name = document or path.name
    with PDFIUM_LOCK, open_pdf(path, name) as pdf:
        return encode_page(pdf, _index(pdf, page, name), width, kind=kind, document=name)


def encode_page(
    pdf: pdfium.PdfDocument,
    index: int,
    width: int,
    *,
    kind: ImageFormat = "WEBP",
    document: str | None = None,
) -> bytes:
    """Return a page (from 0) of an open PDF as a picture; the caller holds `PDFIUM_LOCK`."""
    try:
        page = pdf[index]
        try:
            points_wide, points_high = page.get_size()
            scale = width / max(points_wide, 1.0)
            pixels = scale * scale * points_wide * points_high
            scale *= min(1.0, (MAX_PIXELS / max(pixels, 1.0)) ** 0.5)
            bitmap = page.render(scale=scale)
            try:
                picture = bitmap.to_pil().convert("RGB")
            finally:
                bitmap.close()
        finally:
            page.close()
    except pdfium.PdfiumError as error:
        raise ParseError(
            f"the page cannot be drawn ({error})", document=document, page=index + 1
        ) from error
    return _encoded(picture, kind)


def page_words(path: Path, page: int, *, document: str | None = None) -> list[PlacedWord]:
    """Return the words of a page (1-based) as the parser reads them; none of a scanned one.

    Raises like `render_page`.
    """
    name = document or path.name
    with PDFIUM_LOCK, open_pdf(path, name) as pdf:
        content = read_page(pdf, _index(pdf, page, name))
    if isinstance(content, pdfium.PdfiumError):
        raise ParseError("the page cannot be loaded", document=name, page=page)
    return [
        PlacedWord(word.text, *content.seen_box((word.x0, word.y0, word.x1, word.y1)))
        for word in (*content.words, *content.turned_words)
    ]


def _index(pdf: pdfium.PdfDocument, page: int, name: str) -> int:
    if not 1 <= page <= len(pdf):
        raise ParseError(f"there is no page {page}, it has {len(pdf)}", document=name)
    return page - 1


def _encoded(picture: Image.Image, kind: ImageFormat) -> bytes:
    buffer = io.BytesIO()
    if kind == "PNG":
        picture.save(buffer, kind)
    elif kind == "WEBP":
        picture.save(buffer, kind, quality=QUALITY, method=_EFFORT)
    else:
        picture.save(buffer, kind, quality=QUALITY)
    return buffer.getvalue()
