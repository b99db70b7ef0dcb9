"""Pages of a PDF as pictures.

Pictures show the page as it is seen: cropped and turned. Shares of it (0..1, origin top left) are
what the boxes of blocks, chunks and citations are.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pypdfium2 as pdfium
from PIL import Image

from rag_pipeline.errors import ParseError
from rag_pipeline.parsing.pdf.native.pdf_opening import PDFIUM_LOCK, open_pdf
from rag_pipeline.parsing.signatures import HEADER_WINDOW, is_pdf

ImageFormat = Literal["PNG", "WEBP", "JPEG"]
MAX_SIDE = 8000
"""Pixels of a picture's longer side: a page of extreme shape is drawn smaller than asked for."""
QUALITY = 80
"""Of WebP and JPEG."""
EFFORT = 2
"""Of WebP, 0 to 6: the default, 4, takes twice as long to save a twentieth."""


def has_pictures(path: Path) -> bool:
    """Tell by a file's content whether its pages can be drawn: those of a PDF can."""
    try:
        with path.open("rb") as file:
            return is_pdf(file.read(HEADER_WINDOW))
    except OSError:
        return False


class PageRenderer:
    """Draws pages of one open PDF, from any thread."""

    def __init__(self, pdf: pdfium.PdfDocument, document: str) -> None:
        self.page_count = len(pdf)
        self._pdf = pdf
        self._document = document
        # A page stays open until the next is drawn: PDFium drops fonts that no open page uses.
        self._page: pdfium.PdfPage | None = None

    def draw(self, page: int, width: int) -> Image.Image:
        """Draw a page (1-based) in RGB, `width` pixels wide.

        Raises `ParseError` where there is no such page or it cannot be drawn.
        """
        index = _index(self._pdf, page, self._document)
        with PDFIUM_LOCK:
            try:
                opened = self._pdf[index]
                self.close()
                self._page = opened
                points_wide, points_high = opened.get_size()
                scale = min(width / points_wide, MAX_SIDE / points_high)
                if not math.isfinite(scale):
                    raise ValueError("it has no size")
                drawn = opened.render(scale=scale, rev_byteorder=True).to_pil()
                assert isinstance(drawn, Image.Image)
                return drawn.convert("RGB")
            except (pdfium.PdfiumError, ValueError, ZeroDivisionError, MemoryError) as error:
                raise ParseError(
                    f"the page cannot be drawn ({error})", document=self._document, page=page
                ) from error

    def close(self) -> None:
        """Close the page that is kept open."""
        with PDFIUM_LOCK:
            if self._page is not None:
                self._page.close()
                self._page = None


@contextmanager
def open_renderer(path: Path, document: str | None = None) -> Iterator[PageRenderer]:
    """Open a PDF to draw several pages of it. Raises the errors of `open_pdf`."""
    name = document or path.name
    opening = open_pdf(path, name)
    with PDFIUM_LOCK:
        renderer = PageRenderer(opening.__enter__(), name)
    try:
        yield renderer
    finally:
        with PDFIUM_LOCK:
            renderer.close()
            opening.__exit__(None, None, None)


def render_page(
    path: Path, page: int, width: int, *, kind: ImageFormat = "WEBP", document: str | None = None
) -> bytes:
    """Return a page (1-based) as a picture `width` pixels wide.

    Raises the errors of `open_pdf`, and `ParseError` where there is no such page or it cannot be
    drawn.
    """
    with open_renderer(path, document) as renderer:
        picture = renderer.draw(page, width)
    return encoded(picture, kind)


def encoded(
    picture: Image.Image,
    kind: ImageFormat = "WEBP",
    *,
    quality: int = QUALITY,
    effort: int = EFFORT,
) -> bytes:
    """Return a picture as the bytes of an image file; `effort` is WebP's (0 to 6)."""
    buffer = io.BytesIO()
    if kind == "PNG":
        picture.save(buffer, kind)
    elif kind == "WEBP":
        picture.save(buffer, kind, quality=quality, method=effort)
    else:
        picture.save(buffer, kind, quality=quality)
    return buffer.getvalue()


def _index(pdf: pdfium.PdfDocument, page: int, name: str) -> int:
    if not 1 <= page <= len(pdf):
        raise ParseError(f"there is no page {page}, it has {len(pdf)}", document=name)
    return page - 1
