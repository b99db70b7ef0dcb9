"""A PDF → its blocks frame, or one clear error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pypdfium2 as pdfium

from rag_pipeline.errors import NoTextError
from rag_pipeline.frames import Blocks, check
from rag_pipeline.parsing.contract import ParsedDocument
from rag_pipeline.parsing.file_limits import active_content, check_pages
from rag_pipeline.parsing.pdf.layout.geometry import PageContent
from rag_pipeline.parsing.pdf.layout.joining import mend_breaks, spelling_of
from rag_pipeline.parsing.pdf.layout.page_layout import page_blocks
from rag_pipeline.parsing.pdf.layout.paragraphs import PageBlock
from rag_pipeline.parsing.pdf.native.bookmarks import Entry, add_level_hints, read_outline
from rag_pipeline.parsing.pdf.native.file_objects import file_facts
from rag_pipeline.parsing.pdf.native.page_content import read_pages
from rag_pipeline.parsing.pdf.native.pdf_opening import is_cut_short, open_pdf, title_of
from rag_pipeline.parsing.pdf.native.second_engine import SecondEngine
from rag_pipeline.parsing.pdf.native.tags import is_tagged, sensible_headings
from rag_pipeline.parsing.pdf.ocr.picture_pages import confidence_in
from rag_pipeline.parsing.pdf.ocr.tesseract import PageOcr
from rag_pipeline.settings import ParsingSettings
from rag_pipeline.text import counted, detect_language

_LANGUAGE_SAMPLE = 40_000


def parse_pdf(
    path: Path, settings: ParsingSettings, *, document: str | None = None
) -> ParsedDocument:
    """Read a PDF into a blocks frame, in reading order.

    Raises `EmptyFileError`, `NotAPdfError`, `EncryptedPdfError`, `DamagedPdfError` (also where no
    page can be loaded), `UnsafeFileError` (too many pages) or `NoTextError`; each names `document`
    (by default the file's name).
    """
    path = Path(path)
    name = document or path.name
    warnings: list[str] = []
    rows = _Rows()
    second = SecondEngine(path)
    ocr = PageOcr(settings.ocr)
    with open_pdf(path, name) as pdf:
        page_count = len(pdf)
        check_pages(page_count, settings, name)
        outline = [] if settings.ignore_outline else read_outline(pdf)
        has_tags = not (outline or settings.ignore_outline) and is_tagged(pdf)
        tagged: list[Entry] | None = [] if has_tags else None
        title = title_of(pdf)
        if is_cut_short(path):
            warnings.append("the file's end is missing; the text may be incomplete")
        warnings.extend(active_content(pdf))
        layers_off = file_facts(path).has_layers_off
        pages = read_pages(pdf, tagged=tagged, layers_off=layers_off)
        for number, content in enumerate(pages, start=1):
            if isinstance(content, pdfium.PdfiumError):
                rows.failed.append(number)
            else:
                second.mend(content)
                ocr.mend(pdf, content, rows.sample)
                rows.add_page(content, page_blocks(content))
    if not rows.has_text():
        raise NoTextError(
            f"none of its {page_count} pages has text that can be read"
            + (" (images only)" if rows.pages_with_images else ""),
            document=name,
            hint=ocr.hint(),
        )
    warnings.extend([*rows.warnings(), *second.warnings(), *ocr.warnings()])
    blocks, language = rows.frame()
    if outline:
        blocks, share = add_level_hints(blocks, outline, settings.outline_min_agreement)
        if share < settings.outline_min_agreement:
            warnings.append(f"bookmarks ignored: {share:.0%} of their titles stand in the text")
    elif tagged:
        blocks, _ = add_level_hints(
            blocks, sensible_headings(tagged), settings.outline_min_agreement
        )
    return ParsedDocument(blocks, page_count, title, language, warnings, left_out=rows.apart)


class _Rows:
    """Rows of the blocks frame, filled page by page."""

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []
        self.texts: list[str] = []
        self.failed: list[int] = []
        self.silent_pages: list[int] = []
        self.pages_with_images = 0
        self.left_out: list[str] = []
        self.apart: dict[int, str] = {}
        """Words by page that are in no block."""
        self.line_numbers = 0
        self.unreadable = 0
        self.notes: list[str] = []

    def add_page(self, content: PageContent, blocks: list[PageBlock]) -> None:
        """Append the blocks of a page."""
        if not any(block.text for block in blocks):
            self.silent_pages.append(content.number)
        self.pages_with_images += bool(content.images)
        self.left_out += content.left_out
        self.line_numbers += len(content.line_numbers)
        if apart := content.left_out + content.doubles + content.line_numbers:
            self.apart[content.number] = " ".join(apart)
        self.unreadable += content.unreadable_characters
        self.notes += [f"page {content.number}: {note}" for note in content.notes]
        for block in blocks:
            self._add(content, block)

    def _add(self, content: PageContent, block: PageBlock) -> None:
        x0, y0, x1, y1 = content.seen_box(block.box)
        width = content.width or 1.0
        values = (
            content.number,
            x0,
            y0,
            x1,
            y1,
            block.text,
            block.kind,
            block.style.size,
            block.style.bold,
            block.style.monospace,
            block.cells,
            block.spans,
            block.style.italic,
            block.style.color,
            block.style.font,
            block.line_count,
            block.indent,
            block.column[0] / width,
            block.column[1] / width,
            block.bold_lead,
            block.upright,
            content.width,
            content.height,
            confidence_in(content, block.box),
        )
        self.rows.append(values)
        self.texts.append(block.text)

    def sample(self) -> str:
        """Some of the text up to here, to tell the language from."""
        return _sample(self.texts)

    def has_text(self) -> bool:
        """Is there a block with text?"""
        return any(self.texts)

    def warnings(self) -> list[str]:
        """What went unread, in words."""
        found = []
        if self.failed:
            found.append(f"{_pages(self.failed)} cannot be loaded")
        if self.silent_pages:
            found.append(f"{_pages(self.silent_pages)} without text (images or blank)")
        if self.left_out:
            hidden = sum(map(len, self.left_out))
            found.append(f"{counted(hidden, 'character')} of hidden text left out")
        if self.line_numbers:
            found.append(f"{counted(self.line_numbers, 'line number')} beside the text left out")
        if self.unreadable:
            found.append(
                f"{counted(self.unreadable, 'character')} with no Unicode value in the font"
            )
        return found + self.notes

    def frame(self) -> tuple[pd.DataFrame, str]:
        """The checked blocks frame and the document's language."""
        columns = dict(zip(COLUMNS, map(list, zip(*self.rows, strict=True)), strict=True))
        spelling = spelling_of(self.texts)
        columns["text"] = [
            text if kind == "code" else mend_breaks(text, spelling).rstrip("\n")
            for text, kind in zip(self.texts, columns["kind"], strict=True)
        ]
        language = detect_language(_sample(columns["text"]))
        count = len(self.rows)
        hints = pd.array([None] * count, dtype="Int64")
        whole = {"block_index": range(count), **columns, "level_hint": hints, "language": language}
        return check(pd.DataFrame(whole), Blocks), language


COLUMNS = (
    "page_number",
    "x0",
    "y0",
    "x1",
    "y1",
    "text",
    "kind",
    "font_size",
    "is_bold",
    "is_monospace",
    "table_cells",
    "table_spans",
    "is_italic",
    "color",
    "font_name",
    "line_count",
    "indent",
    "column_x0",
    "column_x1",
    "bold_lead",
    "is_upright",
    "page_width",
    "page_height",
    "confidence",
)
"""Columns that the local parser fills page by page; those after `table_cells` are its own."""


def _sample(texts: list[str]) -> str:
    """Text from the middle of the document: front matter is often in another language."""
    start = len(texts) // 4
    parts: list[str] = []
    length = 0
    for text in [*texts[start:], *texts[:start]]:
        parts.append(text)
        length += len(text)
        if length > _LANGUAGE_SAMPLE:
            break
    return "\n".join(parts)


def _pages(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:10])) + (" …" if len(numbers) > 10 else "")
    return f"page {shown}" if len(numbers) == 1 else f"{len(numbers)} pages ({shown})"
