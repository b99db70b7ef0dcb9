"""What Dagster's UI shows of one document: its first pages with boxes, its chunks as rows."""

from __future__ import annotations

import base64
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from PIL import Image, ImageDraw

from rag_pipeline.errors import RagError
from rag_pipeline.frames import ROLE_COLORS, SECTION
from rag_pipeline.parsing.pdf.native.page_pictures import encoded, has_pictures, open_renderer

WIDTH = 240
"""Pixels."""
QUALITY = 45
"""Of JPEG: a fifth of WebP's time, which counts here more than bytes."""
MAX_BYTES = 40_000
"""Of a document's pictures together, before base64: they stay in Dagster's event log."""
MAX_SECONDS = 0.04
"""Of the CPU, after which no further page is begun."""
MAX_CHUNKS = 100


def page_previews(paths: Sequence[str], structured: pd.DataFrame, pages: int) -> list[str]:
    """Return the first pages of a PDF as data URIs, boxes in the colours of their roles.

    Fewer, down to none, where pages are costly, cannot be drawn, or the file is no PDF: a preview
    fails no document. `structured` is a StructuredBlocks frame.
    """
    path = next((Path(path) for path in paths if has_pictures(Path(path))), None)
    if path is None or pages == 0:
        return []
    found: list[str] = []
    start, size = time.thread_time(), 0
    try:
        with open_renderer(path) as renderer:
            for page in range(1, min(pages, renderer.page_count) + 1):
                picture = renderer.draw(page, WIDTH)
                _draw_boxes(picture, structured[structured["page_number"] == page])
                data = encoded(picture, "JPEG", quality=QUALITY)
                size += len(data)
                if size > MAX_BYTES:
                    break
                found.append(f"data:image/jpeg;base64,{base64.b64encode(data).decode('ascii')}")
                if time.thread_time() - start > MAX_SECONDS:
                    break
    except (RagError, OSError):
        return found
    return found


def _draw_boxes(picture: Image.Image, blocks: pd.DataFrame) -> None:
    pen = ImageDraw.Draw(picture)
    columns = (blocks[name] for name in ("role", "x0", "y0", "x1", "y1"))
    for role, x0, y0, x1, y1 in zip(*columns, strict=True):
        left, right = sorted((x0 * picture.width - 1, x1 * picture.width + 1))
        top, bottom = sorted((y0 * picture.height - 1, y1 * picture.height + 1))
        pen.rectangle((left, top, right, bottom), outline=ROLE_COLORS[role])


def chunk_rows(chunks: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the first chunks as rows: chunk, trail, kind, tokens, pages; parents left out."""
    rows = chunks[chunks["kind"] != SECTION].head(MAX_CHUNKS)
    names = ("chunk_index", "breadcrumb_trail", "kind", "token_count", "page_start", "page_end")
    return [
        {
            "chunk": int(number),
            "trail": trail,
            "kind": kind,
            "tokens": int(tokens),
            "pages": str(first) if first == last else f"{first}–{last}",
        }
        for number, trail, kind, tokens, first, last in zip(
            *(rows[name] for name in names), strict=True
        )
    ]
