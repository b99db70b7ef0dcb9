"""The frames between the stages, as pandera schemas: what each column is, checked at every border.

Blocks frame → (structure) → structured frame → (chunking) → chunks frame. One row of the blocks
frame is one text block, in reading order. A stage calls `check(frame, Schema)` on what it returns.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
import pandera.pandas as pa
from pandera.typing import Series

from rag_pipeline.frame_checks import check

__all__ = [
    "BLOCK_KINDS",
    "CHUNK_KINDS",
    "FURNITURE_ROLES",
    "ROLES",
    "ROLE_COLORS",
    "SECTION",
    "Blocks",
    "Chunks",
    "StructuredBlocks",
    "blocks_frame",
    "check",
    "empty",
]

BLOCK_KINDS = ("text", "table", "figure", "code")
ROLES = (
    "title",
    "heading",
    "paragraph",
    "list_item",
    "procedure_step",
    "table",
    "caption",
    "admonition",
    "code",
    "figure",
    "page_header",
    "page_footer",
    "contents_entry",
    "footnote",
)
ROLE_COLORS = {
    "title": "#be123c",
    "heading": "#e11d48",
    "paragraph": "#64748b",
    "list_item": "#0891b2",
    "procedure_step": "#0d9488",
    "table": "#7c3aed",
    "caption": "#c026d3",
    "admonition": "#ea580c",
    "code": "#4d7c0f",
    "figure": "#a16207",
    "page_header": "#94a3b8",
    "page_footer": "#94a3b8",
    "contents_entry": "#2563eb",
    "footnote": "#78716c",
}
"""Of the boxes in pictures of pages."""
FURNITURE_ROLES = frozenset({"page_header", "page_footer", "contents_entry"})
"""Roles that never reach a chunk's text."""
SECTION = "section"
"""Kind of a chunk that is the parent of others: context for an answer, never searched itself."""
CHUNK_KINDS = ("text", "procedure", "list", "table", "code", SECTION)


class Blocks(pa.DataFrameModel):
    """One row a text block, in reading order."""

    block_index: Series[int] = pa.Field(ge=0, unique=True, description="Position in reading order")
    page_number: Series[int] = pa.Field(ge=1, description="Page in the source file, from 1")
    x0: Series[float] = pa.Field(ge=0, le=1, description="Left edge, share of the page's width")
    y0: Series[float] = pa.Field(ge=0, le=1, description="Top edge, share of the page's height")
    x1: Series[float] = pa.Field(ge=0, le=1, description="Right edge, share of the page's width")
    y1: Series[float] = pa.Field(ge=0, le=1, description="Bottom edge, share of the page's height")
    text: Series[str] = pa.Field(description="Cleaned text; lines are separated by newlines")
    kind: Series[str] = pa.Field(isin=BLOCK_KINDS, description="What the parser took the block for")
    font_size: Series[float] = pa.Field(
        ge=0, description="Dominant size in points, or relative to the page for OCR; 0 = unknown"
    )
    is_bold: Series[bool] = pa.Field(description="Most characters are bold")
    is_monospace: Series[bool] = pa.Field(description="Most characters are in a fixed-width font")
    table_cells: Series[object] = pa.Field(
        nullable=True, description="Rows of cells (list of lists of str) for a table, else null"
    )
    level_hint: Series[pd.Int64Dtype] = pa.Field(
        nullable=True, ge=1, description="Heading level where the format itself says so, from 1"
    )
    confidence: Series[float] = pa.Field(ge=0, le=1, description="1 for born-digital text")
    language: Series[str] = pa.Field(description="ISO 639-1 code of the document, or `und`")

    class Config:
        """Stages may add columns (a parser's own features), never change these."""

        strict = False
        coerce = True


class StructuredBlocks(Blocks):
    """The blocks frame with a role, a level and a breadcrumb trail for every block."""

    role: Series[str] = pa.Field(isin=ROLES, description="What the block is in the document")
    heading_level: Series[pd.Int64Dtype] = pa.Field(
        nullable=True, ge=1, description="Level of a heading, from 1; null for anything else"
    )
    list_level: Series[pd.Int64Dtype] = pa.Field(
        nullable=True, ge=1, description="Nesting of a list item or step, from 1; else null"
    )
    group_id: Series[pd.Int64Dtype] = pa.Field(
        nullable=True, description="Blocks of one procedure, list or table share it; else null"
    )
    section_id: Series[int] = pa.Field(ge=0, description="Section the block lies in, from 0")
    breadcrumb_trail: Series[str] = pa.Field(
        description="Headings above the block: `Maintenance > Engine > Replacing the oil filter`"
    )


class Chunks(pa.DataFrameModel):
    """One row a chunk, in reading order."""

    chunk_index: Series[int] = pa.Field(ge=0, unique=True, description="Position in the document")
    parent_index: Series[pd.Int64Dtype] = pa.Field(
        nullable=True, description="chunk_index of the parent chunk, where there is one"
    )
    kind: Series[str] = pa.Field(isin=CHUNK_KINDS, description="What the chunk mostly holds")
    breadcrumb_trail: Series[str] = pa.Field(description="Headings above the chunk's first block")
    content: Series[str] = pa.Field(description="The chunk's text, without the trail")
    context: Series[object] = pa.Field(
        nullable=True,
        description="A sentence by a language model that places the chunk in its document, or null",
    )
    token_count: Series[int] = pa.Field(
        ge=0, description="Tokens of trail and content in the embedding model's vocabulary"
    )
    page_start: Series[int] = pa.Field(ge=1, description="First page, from 1")
    page_end: Series[int] = pa.Field(ge=1, description="Last page, from 1")
    regions: Series[object] = pa.Field(
        description="Every page and box the text came from: [{page, x0, y0, x1, y1, start}]; "
        "start is the offset in `content` where the box's text begins"
    )
    content_hash: Series[str] = pa.Field(
        str_length={"min_value": 64, "max_value": 64},
        description="SHA-256 of trail and content, hexadecimal",
    )
    metadata: Series[object] = pa.Field(description="Further attributes, a JSON object")

    class Config:
        """A chunks frame has just these columns."""

        strict = "filter"
        coerce = True


def empty(schema: type[pa.DataFrameModel]) -> pd.DataFrame:
    """Return a frame with the schema's columns and no rows."""
    return pd.DataFrame(schema.empty())


def blocks_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Build a blocks frame from row dictionaries; absent columns get their neutral value.

    For parsers and hand-made frames in tests: only `page_number` and `text` are required.
    """
    neutral: dict[str, Any] = {
        "x0": 0.0,
        "y0": 0.0,
        "x1": 1.0,
        "y1": 1.0,
        "kind": "text",
        "font_size": 0.0,
        "is_bold": False,
        "is_monospace": False,
        "table_cells": None,
        "level_hint": None,
        "confidence": 1.0,
        "language": "und",
    }
    full = [{"block_index": index, **neutral, **row} for index, row in enumerate(rows)]
    return check(pd.DataFrame(full), Blocks) if full else empty(Blocks)
