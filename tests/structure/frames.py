"""Hand-made blocks frames for the rules' tests."""

from __future__ import annotations

from typing import Any

import pandas as pd

from rag_pipeline.frames import blocks_frame
from rag_pipeline.settings import StructureSettings
from rag_pipeline.structure import infer_structure

LINE = 0.016
"""Height of a line of 10 points, as a share of the page."""


class Pages:
    """Builds a frame block by block, from top to bottom, page by page."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.page = 1
        self.y = 0.1

    def add(self, text: str, **values: Any) -> Pages:
        """Append a block below the last; keywords override its columns."""
        lines = text.count("\n") + 1
        size = values.pop("font_size", 10.0)
        x0 = values.pop("x0", 0.12)
        y0 = values.pop("y0", self.y)
        y1 = y0 + LINE * lines * size / 10
        right = x0 + max(len(line) for line in text.split("\n")) * 0.0085 * size / 10
        self.rows.append(
            {
                "page_number": self.page,
                "text": text,
                "x0": x0,
                "y0": min(y0, 1.0),
                "x1": min(values.pop("x1", right), 0.97),
                "y1": min(y1, 1.0),
                "font_size": size,
                "line_count": lines,
                "column_x0": 0.12,
                "column_x1": 0.88,
                "font_name": "Serif",
                "bold_lead": "",
                **values,
            }
        )
        self.y = y1 + LINE * 0.8
        return self

    def heading(self, text: str, size: float = 14.0, **values: Any) -> Pages:
        """A bold line."""
        return self.add(text, font_size=size, is_bold=True, **values)

    def body(self, text: str = "Running text that fills the page with words.", n: int = 2) -> Pages:
        """Paragraphs of two lines."""
        for _ in range(n):
            self.add(f"{text} It goes on and on, line after line,\nuntil the paragraph ends here.")
        return self

    def next_page(self) -> Pages:
        """Go on at the top of a new page."""
        self.page += 1
        self.y = 0.1
        return self

    def blocks(self) -> pd.DataFrame:
        """The blocks frame."""
        return blocks_frame(self.rows)

    def infer(self, **settings: Any) -> pd.DataFrame:
        """The structured frame."""
        return infer_structure(self.blocks(), StructureSettings(**settings))


def roles(frame: pd.DataFrame) -> dict[str, str]:
    """Role by the beginning of the text."""
    return {
        text.split("\n")[0]: role for text, role in zip(frame["text"], frame["role"], strict=True)
    }


def trails(frame: pd.DataFrame) -> list[str]:
    """Trails of the headings."""
    return frame.loc[frame["role"] == "heading", "breadcrumb_trail"].tolist()
