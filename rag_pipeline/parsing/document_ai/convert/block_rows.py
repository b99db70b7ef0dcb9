"""Rows of the blocks frame while they are collected, and the frame they become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from rag_pipeline.frames import Blocks, check, empty
from rag_pipeline.parsing.pdf.layout.geometry import Box
from rag_pipeline.parsing.pdf.layout.joining import BREAK_MARK, mend_breaks, words_of
from rag_pipeline.parsing.pdf.ocr.recognized import snapped_size
from rag_pipeline.parsing.pdf.pdf_parser import COLUMNS
from rag_pipeline.text import clean_text, detect_language

_LANGUAGE_SAMPLE = 40_000
BODY_TOLERANCE = 1.15
"""Measured sizes of the same text differ by up to this factor in recorded replies."""
_OLD_CODES = {"iw": "he", "in": "id", "ji": "yi"}


@dataclass
class ReplyRow:
    """One block of a page."""

    page: int
    box: Box
    text: str
    page_size: tuple[float, float]
    """Points."""
    kind: Literal["text", "table", "figure"] = "text"
    size: float = 0.0
    """Points, as measured; 0 = unknown."""
    confidence: float = 1.0
    bold: bool = False
    italic: bool = False
    upright: bool = True
    lines: int = 1
    indent: float = 0.0
    column: tuple[float, float] = (0.0, 1.0)
    bold_lead: str = ""
    cells: list[list[str]] | None = None
    spans: list[list[tuple[int, int]]] | None = None
    level: int | None = None
    start: int = 0
    """Where its text begins in the text of the reply."""


@dataclass
class LanguageVotes:
    """Languages that the service detected, weighted by characters."""

    votes: dict[str, float]

    def best(self) -> str:
        """ISO 639-1 code that has most of the votes, or `und`.

        >>> LanguageVotes({"sk-Latn": 90, "en": 10}).best(), LanguageVotes({}).best()
        ('sk', 'und')
        """
        sums: dict[str, float] = {}
        for tag, weight in self.votes.items():
            code = tag.replace("_", "-").split("-")[0].lower()
            code = _OLD_CODES.get(code, code)
            if len(code) == 2:
                sums[code] = sums.get(code, 0.0) + weight
        best = max(sums, key=lambda code: sums[code], default="und")
        return best if 2 * sums.get(best, 0.0) > sum(self.votes.values()) else "und"


def to_frame(rows: Sequence[ReplyRow], votes: LanguageVotes) -> tuple[pd.DataFrame, str]:
    """The checked blocks frame, with the local parser's columns, and the language."""
    if not rows:
        return empty(Blocks), votes.best()
    texts = [clean_text(row.text).strip() for row in rows]
    vocabulary: set[str] = set()
    if any(BREAK_MARK in text for text in texts):
        vocabulary.update(*map(words_of, texts))
    texts = [mend_breaks(text, vocabulary) for text in texts]
    language = votes.best()
    if language == "und":
        language = detect_language(_sample(texts))
    body = _body_size(rows)
    values: dict[str, list[Any]] = {
        "page_number": [row.page for row in rows],
        "x0": [row.box[0] for row in rows],
        "y0": [row.box[1] for row in rows],
        "x1": [row.box[2] for row in rows],
        "y1": [row.box[3] for row in rows],
        "text": texts,
        "kind": [row.kind for row in rows],
        "font_size": [_known_size(row.size, body) for row in rows],
        "is_bold": [row.bold for row in rows],
        "is_monospace": [False] * len(rows),
        "table_cells": [row.cells for row in rows],
        "table_spans": [row.spans for row in rows],
        "is_italic": [row.italic for row in rows],
        "color": [0] * len(rows),
        "font_name": [""] * len(rows),
        "line_count": [row.lines for row in rows],
        "indent": [row.indent for row in rows],
        "column_x0": [row.column[0] for row in rows],
        "column_x1": [row.column[1] for row in rows],
        "bold_lead": [row.bold_lead for row in rows],
        "is_upright": [row.upright for row in rows],
        "page_width": [row.page_size[0] for row in rows],
        "page_height": [row.page_size[1] for row in rows],
        "confidence": [min(1.0, max(0.0, round(row.confidence, 3))) for row in rows],
    }
    frame = pd.DataFrame({name: pd.Series(values[name]) for name in COLUMNS})
    frame.insert(0, "block_index", range(len(frame)))
    frame["level_hint"] = pd.array([row.level for row in rows], dtype="Int64")
    frame["level_is_given"] = frame["level_hint"].notna()
    frame["language"] = language
    return check(frame, Blocks), language


def _body_size(rows: Sequence[ReplyRow]) -> float:
    """The size of most characters, to which other sizes are compared."""
    weights = [(row.size, len(row.text)) for row in rows if row.kind == "text" and row.size]
    weights = weights or [(row.size, len(row.text)) for row in rows if row.size]
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
