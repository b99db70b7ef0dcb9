"""Rows of the blocks frame while they are collected, and the frame they become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from rag_pipeline.frames import Blocks, check, empty
from rag_pipeline.parsing.pdf.layout.geometry import Box
from rag_pipeline.parsing.pdf.layout.joining import mend_breaks, spelling_of
from rag_pipeline.parsing.pdf.ocr.recognized import snapped_size
from rag_pipeline.parsing.pdf.pdf_parser import COLUMNS
from rag_pipeline.text import clean_text, detect_language

_LANGUAGE_SAMPLE = 40_000
BODY_TOLERANCE = 1.15
"""Measured sizes of the same text differ by up to this factor in recorded replies."""
_OLD_CODES = {"iw": "he", "in": "id", "ji": "yi"}


@dataclass
class ReplyRow:
    """One block of a page; fields have the names and units of the blocks frame's columns."""

    page_number: int
    box: Box
    text: str
    page_size: tuple[float, float]
    """Points."""
    kind: Literal["text", "table", "figure"] = "text"
    font_size: float = 0.0
    """Points, as measured; 0 = unknown."""
    confidence: float = 1.0
    is_bold: bool = False
    is_italic: bool = False
    is_upright: bool = True
    line_count: int = 1
    indent: float = 0.0
    column: tuple[float, float] = (0.0, 1.0)
    bold_lead: str = ""
    table_cells: list[list[str]] | None = None
    table_spans: list[list[tuple[int, int]]] | None = None
    level_hint: int | None = None
    start: int = 0
    """Where its text begins in the text of the reply."""

    def columns(self) -> dict[str, object]:
        """Values by column of the blocks frame."""
        values = {"is_monospace": False, "color": 0, "font_name": "", **vars(self)}
        values |= zip(("x0", "y0", "x1", "y1"), self.box, strict=True)
        values |= zip(("column_x0", "column_x1"), self.column, strict=True)
        values |= zip(("page_width", "page_height"), self.page_size, strict=True)
        return values


def best_language(votes: Mapping[str, float]) -> str:
    """ISO 639-1 code of the language with most of the votes, or `und`.

    `votes` are characters by the service's language tags.

    >>> best_language({"sk-Latn": 90, "en": 10}), best_language({})
    ('sk', 'und')
    """
    sums: dict[str, float] = {}
    for tag, weight in votes.items():
        code = tag.replace("_", "-").split("-")[0].lower()
        code = _OLD_CODES.get(code, code)
        if len(code) == 2:
            sums[code] = sums.get(code, 0.0) + weight
    best = max(sums, key=lambda code: sums[code], default="und")
    return best if 2 * sums.get(best, 0.0) > sum(votes.values()) else "und"


def to_frame(rows: Sequence[ReplyRow], votes: Mapping[str, float]) -> tuple[pd.DataFrame, str]:
    """The checked blocks frame, with the local parser's columns, and the language."""
    language = best_language(votes)
    if not rows:
        return empty(Blocks), language
    texts = [clean_text(row.text).strip() for row in rows]
    spelling = spelling_of(texts)
    texts = [mend_breaks(text, spelling) for text in texts]
    if language == "und":
        language = detect_language(_sample(texts))
    body = _body_size(rows)
    frame = pd.DataFrame([row.columns() for row in rows])[list(COLUMNS)]
    frame["text"] = texts
    frame["font_size"] = [_known_size(row.font_size, body) for row in rows]
    frame["confidence"] = [min(1.0, max(0.0, round(row.confidence, 3))) for row in rows]
    frame.insert(0, "block_index", range(len(frame)))
    frame["level_hint"] = pd.array([row.level_hint for row in rows], dtype="Int64")
    frame["level_is_given"] = frame["level_hint"].notna()
    frame["language"] = language
    return check(frame, Blocks), language


def _body_size(rows: Sequence[ReplyRow]) -> float:
    """The size of most characters, to which other sizes are compared."""
    sized = [row for row in rows if row.font_size]
    sized = [row for row in sized if row.kind == "text"] or sized
    weights = [(row.font_size, len(row.text)) for row in sized]
    return max(0.1, round(weighted_median(weights), 1)) if weights else 0.0


def weighted_median(values: Sequence[tuple[float, int]]) -> float:
    """The median of (value, weight) pairs; 0 if there are none."""
    half = sum(weight for _, weight in values) / 2
    for value, weight in sorted(values):
        half -= weight
        if half <= 0:
            return value
    return 0.0


def _known_size(size: float, body: float) -> float:
    """A size as precisely as line heights allow: the body size, or some steps from it."""
    if not (size and body):
        return 0.0
    if 1 / BODY_TOLERANCE <= size / body <= BODY_TOLERANCE:
        return body
    return snapped_size(size, body)


def _sample(texts: list[str]) -> str:
    start = len(texts) // 4
    return "\n".join([*texts[start:], *texts[:start]])[:_LANGUAGE_SAMPLE]
