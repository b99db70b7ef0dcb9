"""Hand-made structured frames: a small writer, and counters that can be worked out by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from rag_pipeline.frames import SECTION, StructuredBlocks, blocks_frame, check
from rag_pipeline.text import TRAIL_SEPARATOR

LINES_PER_PAGE = 40


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def count_characters(texts: Sequence[str]) -> list[int]:
    return [len(text) for text in texts]


def count_marked(texts: Sequence[str]) -> list[int]:
    """As a vocabulary that adds a begin and an end mark."""
    return [2 + len(text.split()) for text in texts]


def count_pairs(texts: Sequence[str]) -> list[int]:
    """As a byte-pair vocabulary: runs of up to four characters with the space before; newlines."""
    return [len(re.findall(r"\n+| ?[^\s]{1,4}|\s", text)) for text in texts]


def count_quarters(texts: Sequence[str]) -> list[int]:
    """The rule of thumb, which does not add up: the sum of the parts is below the whole."""
    return [len(text) // 4 for text in texts]


def embed_letters(texts: Sequence[str]) -> np.ndarray:
    """How often each letter (modulo 16) stands in a text, as a vector of unit norm."""
    vectors = np.zeros((len(texts), 16), dtype=np.float32)
    for row, text in enumerate(texts):
        for letter in text:
            vectors[row, ord(letter) % 16] += 1
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def children(chunks: pd.DataFrame) -> pd.DataFrame:
    """The chunks that are searched: without the parents."""
    return chunks[chunks["kind"] != SECTION]


class Writer:
    """Writes blocks down the page; headings keep the trail and the section as structure would."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.trail: list[tuple[int, str]] = []
        self.section = 0
        self.groups = 0
        self.page = 1
        self.line = 0

    def new_page(self) -> None:
        self.page += 1
        self.line = 0

    def group(self) -> int:
        self.groups += 1
        return self.groups

    def add(self, role: str, text: str = "", **columns: Any) -> None:
        if self.line >= LINES_PER_PAGE:
            self.new_page()
        top = self.line / LINES_PER_PAGE
        self.line += 1
        self.rows.append(
            {
                "page_number": self.page,
                "x0": 0.1,
                "y0": top,
                "x1": 0.9,
                "y1": top + 0.02,
                "text": text,
                "role": role,
                "heading_level": None,
                "list_level": None,
                "group_id": None,
                "section_id": self.section,
                "breadcrumb_trail": TRAIL_SEPARATOR.join(name for _, name in self.trail),
                **columns,
            }
        )

    def heading(self, level: int, text: str) -> None:
        self.trail = [*(item for item in self.trail if item[0] < level), (level, text)]
        self.section += 1
        self.add("heading", text, heading_level=level)

    def paragraph(self, text: str) -> None:
        self.add("paragraph", text)

    def steps(self, texts: Sequence[str], group: int | None = None) -> None:
        group = group or self.group()
        for text in texts:
            self.add("procedure_step", text, list_level=1, group_id=group)

    def table(self, rows: list[list[str]], group: int | None = None, **columns: Any) -> None:
        self.add(
            "table",
            "\n".join(" ".join(row) for row in rows),
            kind="table",
            table_cells=rows,
            group_id=group or self.group(),
            **columns,
        )

    def frame(self) -> pd.DataFrame:
        frame = blocks_frame(self.rows)
        for name in ("heading_level", "list_level", "group_id"):
            frame[name] = frame[name].astype("Int64")
        return check(frame, StructuredBlocks)
