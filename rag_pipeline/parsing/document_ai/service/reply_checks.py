"""Checks that a reply is complete before it is stored. Pure; takes the library's raw messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rag_pipeline.errors import ParseError, ParserServiceError
from rag_pipeline.parsing.document_ai.service.page_ranges import PageRange, describe_pages

MIN_COVERED = 0.9
"""Minimum share of a page's text in its lines or paragraphs (1.0 in all known replies)."""


def renumber(document: Any, pages: PageRange, name: str) -> None:
    """Give the pages of a reply, numbered from 1, their numbers in the source.

    Raises `ParserServiceError` if the reply mentions a page that was not sent.
    """

    def source_page(number: int) -> int:
        if not 1 <= number <= len(pages):
            raise ParserServiceError(
                f"Document AI's reply speaks of page {number} of {len(pages)} pages sent",
                document=name,
            )
        return pages[number - 1]

    for page in document.pages:
        page.page_number = source_page(page.page_number)
    for block in layout_blocks(document.document_layout.blocks):
        span = block.page_span
        if span.page_start:
            span.page_start = source_page(span.page_start)
            span.page_end = source_page(span.page_end or span.page_start)


def layout_blocks(blocks: Any) -> Iterator[Any]:
    """Every block of the layout parser's tree, depth first."""
    for block in blocks:
        yield block
        yield from layout_blocks(block.text_block.blocks)
        table = block.table_block
        for row in (*table.header_rows, *table.body_rows):
            for cell in row.cells:
                yield from layout_blocks(cell.blocks)
        for entry in block.list_block.list_entries:
            yield from layout_blocks(entry.blocks)


def check_reply(document: Any, pages: PageRange, name: str, *, is_layout: bool = False) -> None:
    """Check that a reply has the requested pages, and the text that its parts point to.

    With `is_layout` it comes from the layout parser, whose tree has no pages and no blocks for
    blank ones. Raises `ParserServiceError` if a reply is cut or has other pages, and `ParseError`
    if the processor returns no pages.
    """
    if document.error.code:
        raise ParserServiceError(
            f"Document AI's reply carries an error ({document.error.message})", document=name
        )
    if document.document_layout.blocks or (is_layout and not document.pages):
        got_pages = _layout_pages(document)
        # Blank pages have no blocks, so missing pages can only be found by their ink.
        if not got_pages <= set(pages):
            raise _wrong_pages(sorted(got_pages), pages, name)
        return
    if not document.pages and document.text:
        raise ParseError(
            "Document AI's reply has text but no pages: this processor splits or classifies",
            document=name,
            hint="use a processor of the type OCR, Form Parser or Layout Parser",
        )
    got = [page.page_number for page in document.pages]
    if got != list(pages):
        raise _wrong_pages(got, pages, name)
    length = len(document.text)
    for page in document.pages:
        _check_page(page, length, name)


def _layout_pages(document: Any) -> set[int]:
    """Pages with blocks. A heading's span covers everything below it, so only its start counts."""
    found: set[int] = set()
    for block in layout_blocks(document.document_layout.blocks):
        start, end = block.page_span.page_start, block.page_span.page_end
        found.update((start,) if block.text_block.blocks else range(start, max(start, end) + 1))
    return found - {0}


def _wrong_pages(got: Sequence[int], pages: PageRange, name: str) -> ParserServiceError:
    missing = [page for page in pages if page not in set(got)]
    what = f"page {describe_pages(missing)} missing" if missing else "other pages than asked for"
    shifted = bool(missing) and list(got) == list(range(1, len(pages) + 1))
    return ParserServiceError(
        f"Document AI's reply is not whole: {what}"
        f" (asked for {describe_pages(pages)}, got {describe_pages(got) or 'none'})",
        document=name,
        hint='the processor does not select pages; set document_ai.page_ranges = "split"'
        if shifted
        else "the next sync asks for these pages again",
    )


def _check_page(page: Any, length: int, name: str) -> None:
    covered = 0
    for layout in page_layouts(page):
        for segment in layout.text_anchor.text_segments:
            if not 0 <= segment.start_index <= segment.end_index <= length:
                raise ParserServiceError(
                    f"Document AI's reply is cut: it has {length} characters, and a part of the"
                    f" page points to {segment.start_index}-{segment.end_index}",
                    document=name,
                    page=page.page_number,
                    hint="the next sync asks for these pages again",
                )
    units = page.paragraphs or page.blocks or page.lines
    for unit in units:
        covered += _length(unit.layout)
    whole = _length(page.layout)
    if units and covered < MIN_COVERED * whole:
        raise ParserServiceError(
            f"Document AI's reply is cut: paragraphs hold {covered} of the page's {whole}"
            " characters",
            document=name,
            page=page.page_number,
            hint="the next sync asks for these pages again",
        )


def page_layouts(page: Any) -> Iterator[Any]:
    """Every layout of a page, including tokens: everything with an anchor in the text."""
    yield page.layout
    for group in (page.blocks, page.paragraphs, page.lines, page.tokens, page.visual_elements):
        for unit in group:
            yield unit.layout
    for table in page.tables:
        yield table.layout
        for row in (*table.header_rows, *table.body_rows):
            for cell in row.cells:
                yield cell.layout
    for form_field in page.form_fields:
        yield form_field.field_name
        yield form_field.field_value


def _length(layout: Any) -> int:
    return sum(
        segment.end_index - segment.start_index for segment in layout.text_anchor.text_segments
    )


def pages_without_text(document: Any, pages: PageRange) -> list[int]:
    """Pages for which the reply has no text at all."""
    if not document.pages:
        full = _layout_pages(document)
        return [page for page in pages if page not in full]
    text = document.text
    with_text = {
        page.page_number
        for page in document.pages
        if any(
            text[segment.start_index : segment.end_index].strip()
            for layout in page_layouts(page)
            for segment in layout.text_anchor.text_segments
        )
    }
    return [page for page in pages if page not in with_text]
