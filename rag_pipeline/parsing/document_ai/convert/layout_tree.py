"""The layout parser's tree → rows. Pure; messages are the library's raw ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rag_pipeline.line_marks import starts_with_bullet, starts_with_number
from rag_pipeline.parsing.document_ai.convert.anchors import (
    LONG_SIDE,
    WHOLE_PAGE,
    PageSize,
    box_of,
)
from rag_pipeline.parsing.document_ai.convert.block_rows import Row
from rag_pipeline.parsing.pdf.layout.geometry import Box
from rag_pipeline.parsing.table_grid import covered_grid, table_text
from rag_pipeline.text import one_line

_HEADING = re.compile(r"^heading-(\d+)$")
_PAGE_NUMBER = re.compile(
    r"^\W*(?:page|seite|p\.|pagina|página|페이지|第)?\s*(?:\d{1,4}|[ivxl]{1,7})"
    r"(?:\s*(?:/|of|von|de|sur)\s*\d{1,4})?\s*(?:쪽|페이지|页|頁|ページ)?\W*$",
    re.IGNORECASE,
)
_EDGE_BOXES: dict[str, Box] = {"header": (0.0, 0.0, 1.0, 0.05), "footer": (0.0, 0.95, 1.0, 1.0)}
"""Where running heads and feet stand when no box is given: structure knows them by their place."""
RUNNING_DEPTH = 3
RUNNING_LENGTH = 80
RUNNING_PAGES = 3
RUNNING_SHARE = 0.2
"""A running head is one of so many outermost blocks, at most so long, on so many of the pages."""
PageSizes = Mapping[int, tuple[float, float]]


def layout_rows(blocks: Sequence[Any], sizes: PageSizes) -> list[Row]:
    """Rows of a reply's whole tree; running heads stand at the edge of their pages."""
    rows = list(tree_rows(blocks, sizes))
    _place_running_heads(rows)
    return rows


def _place_running_heads(rows: Sequence[Row]) -> None:
    """Short texts that begin or end many pages are no headings, whatever the tree says.

    Where the reply has no boxes, their place is told by the order of blocks.
    """
    pages: dict[int, list[Row]] = {}
    for row in rows:
        pages.setdefault(row.page, []).append(row)
    edges = [
        (row, at < RUNNING_DEPTH)
        for page in pages.values()
        for at, row in enumerate(page)
        if (at < RUNNING_DEPTH or at >= len(page) - RUNNING_DEPTH)
        and row.kind == "text"
        and len(row.text) <= RUNNING_LENGTH
    ]
    found: dict[str, set[int]] = {}
    for row, _ in edges:
        found.setdefault(_key(row.text), set()).add(row.page)
    needed = max(RUNNING_PAGES, RUNNING_SHARE * len(pages))
    for row, is_top in edges:
        if len(found[_key(row.text)]) >= needed:
            row.level = None
            if row.box == WHOLE_PAGE:
                row.box = _EDGE_BOXES["header" if is_top else "footer"]


def _key(text: str) -> str:
    """What repeats: the same words; page numbers are all alike, while `Step 2` is not `Step 3`."""
    return "#" if _PAGE_NUMBER.match(text) else text.lower()


def tree_rows(blocks: Sequence[Any], sizes: PageSizes) -> Iterator[Row]:
    """Rows of some blocks, depth first, which is their reading order."""
    for block in blocks:
        yield from _block_rows(block, sizes)


def _block_rows(block: Any, sizes: PageSizes) -> Iterator[Row]:
    kind = block.WhichOneof("block")
    if kind == "text_block":
        text = block.text_block
        if text.text.strip():
            yield _row(block, text.text, sizes, text.type_)
        yield from tree_rows(text.blocks, sizes)
    elif kind == "table_block":
        yield from _table_rows(block, sizes)
    elif kind == "list_block":
        yield from _list_rows(block, sizes)
    elif kind == "image_block":
        image = block.image_block
        text = "\n".join(part for part in (image.image_text, image.annotations.description) if part)
        row = _row(block, text, sizes, "")
        row.kind = "figure"
        yield row


def _row(block: Any, text: str, sizes: PageSizes, kind: str) -> Row:
    page = block.page_span.page_start or 1
    width, height = sizes.get(page, (LONG_SIDE * 0.75, LONG_SIDE))
    box = box_of(block.bounding_box, PageSize(width, height, width, height))
    lines = [one_line(line) for line in text.splitlines() if line.strip()]
    return Row(
        page,
        box or _EDGE_BOXES.get(kind, WHOLE_PAGE),
        "\n".join(lines),
        (width, height),
        lines=max(1, len(lines)),
        level=_level(kind),
        column=(box[0], box[2]) if box else (0.0, 1.0),
    )


def _level(kind: str) -> int | None:
    if kind == "title":
        return 1
    match = _HEADING.match(kind)
    return int(match[1]) if match else None


def _table_rows(block: Any, sizes: PageSizes) -> Iterator[Row]:
    table = block.table_block
    if table.caption.strip():
        yield _row(block, table.caption, sizes, "caption")
    cells, spans = covered_grid(
        [
            [(_words(cell.blocks), cell.col_span, cell.row_span) for cell in row.cells]
            for row in (*table.header_rows, *table.body_rows)
        ]
    )
    text = table_text(cells)
    if not text.strip():
        return
    row = _row(block, text, sizes, "table")
    row.kind, row.text, row.cells, row.spans, row.lines = "table", text, cells, spans, len(cells)
    yield row


def _list_rows(block: Any, sizes: PageSizes) -> Iterator[Row]:
    """A row for each entry, with a marker where its text has none of its own."""
    ordered = block.list_block.type_ == "ordered"
    for number, entry in enumerate(block.list_block.list_entries, start=1):
        rows = list(tree_rows(entry.blocks, sizes))
        if not rows:
            continue
        first = rows[0]
        if first.kind == "text" and not _has_marker(first.text):
            first.text = f"{f'{number}.' if ordered else '•'} {first.text}"
        yield from rows


def _has_marker(text: str) -> bool:
    return starts_with_bullet(text) or starts_with_number(text)


def _words(blocks: Sequence[Any]) -> str:
    """All text below some blocks, on one line: what a cell holds."""
    return one_line(" ".join(row.text for row in tree_rows(blocks, {})))
