"""The layout parser's tree → rows. Pure; takes the library's raw messages."""

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
from rag_pipeline.parsing.document_ai.convert.block_rows import ReplyRow
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
"""Boxes of running heads and feet without one: structure recognises them by their place."""
RUNNING_DEPTH = 3
RUNNING_LENGTH = 80
RUNNING_PAGES = 3
RUNNING_SHARE = 0.2
"""A running head is among the first or last `RUNNING_DEPTH` blocks of a page, at most
`RUNNING_LENGTH` characters long, and on at least this number and share of the pages."""
PageSizes = Mapping[int, tuple[float, float]]


def layout_rows(blocks: Sequence[Any], sizes: PageSizes) -> list[ReplyRow]:
    """Rows of a reply's whole tree; running heads are moved to the edge of their pages."""
    rows = list(tree_rows(blocks, sizes))
    _place_running_heads(rows)
    return rows


def _place_running_heads(rows: Sequence[ReplyRow]) -> None:
    """Short texts that begin or end many pages are not headings, whatever the tree says.

    If the reply has no boxes, the order of the blocks tells where they are.
    """
    pages: dict[int, list[ReplyRow]] = {}
    for row in rows:
        pages.setdefault(row.page_number, []).append(row)
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
        found.setdefault(_key(row.text), set()).add(row.page_number)
    needed = max(RUNNING_PAGES, RUNNING_SHARE * len(pages))
    for row, is_top in edges:
        if len(found[_key(row.text)]) >= needed:
            row.level_hint = None
            if row.box == WHOLE_PAGE:
                row.box = _EDGE_BOXES["header" if is_top else "footer"]


def _key(text: str) -> str:
    """Equal for repeated texts: all page numbers are equal, but `Step 2` is not `Step 3`."""
    return "#" if _PAGE_NUMBER.match(text) else text.lower()


def tree_rows(blocks: Sequence[Any], sizes: PageSizes) -> Iterator[ReplyRow]:
    """Rows of some blocks in reading order, which is depth first."""
    for block in blocks:
        yield from _block_rows(block, sizes)


def _block_rows(block: Any, sizes: PageSizes) -> Iterator[ReplyRow]:
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


def _row(block: Any, text: str, sizes: PageSizes, kind: str) -> ReplyRow:
    page = block.page_span.page_start or 1
    width, height = sizes.get(page, (LONG_SIDE * 0.75, LONG_SIDE))
    box = box_of(block.bounding_box, PageSize(width, height, width, height))
    lines = [one_line(line) for line in text.splitlines() if line.strip()]
    return ReplyRow(
        page,
        box or _EDGE_BOXES.get(kind, WHOLE_PAGE),
        "\n".join(lines),
        (width, height),
        line_count=max(1, len(lines)),
        level_hint=_level(kind),
        column=(box[0], box[2]) if box else (0.0, 1.0),
    )


def _level(kind: str) -> int | None:
    if kind == "title":
        return 1
    match = _HEADING.match(kind)
    return int(match[1]) if match else None


def _table_rows(block: Any, sizes: PageSizes) -> Iterator[ReplyRow]:
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
    row.kind, row.text, row.line_count = "table", text, len(cells)
    row.table_cells, row.table_spans = cells, spans
    yield row


def _list_rows(block: Any, sizes: PageSizes) -> Iterator[ReplyRow]:
    """A row for each entry, with a marker if its text has none."""
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
    """All text below some blocks, on one line: the content of a cell."""
    return one_line(" ".join(row.text for row in tree_rows(blocks, {})))
