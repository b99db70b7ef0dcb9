"""The words of one page in place on it, for marks on its picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pypdfium2 as pdfium

from rag_pipeline.errors import ParseError
from rag_pipeline.parsing.pdf.native.file_objects import file_facts
from rag_pipeline.parsing.pdf.native.page_content import read_page
from rag_pipeline.parsing.pdf.native.pdf_opening import PDFIUM_LOCK, open_pdf


@dataclass(frozen=True)
class PlacedWord:
    """A word of a page, with its box in shares (0..1) of the page as seen, origin top left."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float


def page_words(path: Path, page: int, *, document: str | None = None) -> list[PlacedWord]:
    """Return the words of a page (1-based) as the parser reads them; none of a scanned one.

    Raises the errors of `open_pdf`, and `ParseError` where there is no such page or it cannot be
    loaded.
    """
    name = document or path.name
    with PDFIUM_LOCK, open_pdf(path, name) as pdf:
        if not 1 <= page <= len(pdf):
            raise ParseError(f"there is no page {page}, it has {len(pdf)}", document=name)
        content = read_page(pdf, page - 1, layers_off=file_facts(path).has_layers_off)
    if isinstance(content, pdfium.PdfiumError):
        raise ParseError("the page cannot be loaded", document=name, page=page)
    return [
        PlacedWord(word.text, *content.seen_box((word.x0, word.y0, word.x1, word.y1)))
        for word in (*content.words, *content.turned_words)
    ]
