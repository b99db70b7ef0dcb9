"""Replies → the blocks frame of the local parser. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from rag_pipeline.parsing.document_ai.convert.anchors import length, spans_of
from rag_pipeline.parsing.document_ai.convert.block_rows import ReplyRow, to_frame
from rag_pipeline.parsing.document_ai.convert.layout_tree import layout_rows
from rag_pipeline.parsing.document_ai.convert.reply_pages import page_rows

CONVERSION_VERSION = "1"
"""Part of the fingerprint: a new value converts all stored replies again, without new requests."""


def to_blocks(
    documents: Iterable[Any], page_sizes: Mapping[int, tuple[float, float]] | None = None
) -> tuple[pd.DataFrame, str]:
    """Convert raw `Document` messages, in order of pages, into one blocks frame.

    Returns the frame and the language (ISO 639-1 or `und`). `page_sizes` are the pages' widths and
    heights in points, if the file gives them; otherwise sizes are relative to a letter page. The
    frame has the local parser's columns; `font_size` is the body size times a power of 1.2,
    because line heights are no more precise; `level_hint` comes from the layout parser.
    """
    sizes = page_sizes or {}
    rows: list[ReplyRow] = []
    votes: dict[str, float] = {}
    blocks: list[Any] = []
    for document in documents:
        for page in document.pages:
            rows += page_rows(document.text, page, sizes.get(page.page_number))
            _count_languages(page, votes)
        blocks += document.document_layout.blocks
    rows += layout_rows(blocks, sizes)
    rows.sort(key=lambda row: row.page_number)  # stable: the order within a page stays
    return to_frame(rows, votes)


def _count_languages(page: Any, votes: dict[str, float]) -> None:
    for line in page.lines:
        for language in line.detected_languages:
            weight = length(spans_of(line.layout)) * (language.confidence or 1.0)
            votes[language.language_code] = votes.get(language.language_code, 0.0) + weight
