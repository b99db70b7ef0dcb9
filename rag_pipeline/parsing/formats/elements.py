"""What a reader finds, element by element, and how elements become a blocks frame.

Formats without a layout of their own get boxes as a plain typesetter would give them: one column,
lists further in, down the page in reading order. So chunk regions are true about order and nesting,
and the rules of structure, which look at boxes, need not know about formats.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from typing import Any, Literal

import pandas as pd

from rag_pipeline.frames import Blocks, check, empty
from rag_pipeline.parsing.table_grid import Cells, Spans, table_text
from rag_pipeline.text import clean_text, detect_language

Box = tuple[float, float, float, float]

BODY_SIZE = 10.0
"""Nominal size in points, headings included: their levels are given, not read from sizes."""
LEFT, RIGHT = 0.1, 0.9
TOP, BOTTOM = 0.15, 0.85
"""Blocks stand clear of the edges, where running heads are looked for."""
INDENT = 0.03
"""Share of the page's width by which each level of a list stands further in."""
LINE = 1.25 * BODY_SIZE / 792
"""Height of a line, as a share of the height of US Letter, where all lines fit on the page."""
LINE_CHARACTERS = 90
BULLET = "- "


@dataclass(slots=True)
class Element:
    """One heading, paragraph, list item, table, listing or figure."""

    text: str
    kind: Literal["text", "table", "figure", "code"] = "text"
    level: int | None = None
    """Level of a heading, from 1."""
    depth: int = 0
    """Levels of lists or quotations that it lies in."""
    hanging: bool = False
    """It goes on below an item of a list, under the item's text."""
    page: int = 1
    bold: bool = False
    cells: Cells | None = None
    spans: Spans | None = None
    box: Box | None = None
    """Place on the page, where the format has one."""
    code_language: str = ""


@dataclass(slots=True)
class Reading:
    """All that a reader found in a file."""

    elements: list[Element]
    title: str | None = None
    page_count: int = 1
    warnings: list[str] = field(default_factory=list)
    furniture: list[str] = field(default_factory=list)
    """Text that was left out on purpose: menus, deleted text and the like."""


def list_item(text: str, depth: int, number: int | None = None) -> Element:
    """An item of a list with its marker: a bullet, or a number.

    >>> list_item("oil", 1).text, list_item("turn", 2, 3).text
    ('- oil', '3. turn')
    """
    marker = BULLET if number is None else f"{number}. "
    return Element(marker + text, depth=depth)


def table(cells: Cells, spans: Spans | None = None, **values: Any) -> Element | None:
    """A table's element; None where no cell has text. Rows are padded to one width."""
    width = max(map(len, cells), default=0)
    full = [[clean_text(cell).strip() for cell in row] + [""] * (width - len(row)) for row in cells]
    if not any(map(any, full)):
        return None
    marks = spans or [[(1, 1)] * len(row) for row in cells]
    marks = [[*row, *[(1, 1)] * (width - len(row))] for row in marks]
    return Element(table_text(full), kind="table", cells=full, spans=marks, **values)


def blocks_of(elements: list[Element]) -> tuple[pd.DataFrame, str]:
    """The checked blocks frame of elements in reading order, and the document's language."""
    kept = [element for element in map(_cleaned, elements) if element.text]
    if not kept:
        return empty(Blocks), "und"
    sample = "\n".join(element.text for element in kept if element.kind != "code")
    language = detect_language(sample or kept[0].text)
    boxes = _boxes(kept)
    columns: dict[str, Any] = {
        "block_index": range(len(kept)),
        "page_number": [element.page for element in kept],
        **{name: [box[at] for box in boxes] for at, name in enumerate(("x0", "y0", "x1", "y1"))},
        "text": [element.text for element in kept],
        "kind": [element.kind for element in kept],
        "font_size": BODY_SIZE,
        "is_bold": [element.bold for element in kept],
        "is_monospace": [element.kind == "code" for element in kept],
        "table_cells": [element.cells for element in kept],
        "level_hint": pd.array([element.level for element in kept], dtype="Int64"),
        "confidence": 1.0,
        "language": language,
        "level_is_given": [element.level is not None for element in kept],
        "table_spans": [element.spans for element in kept],
        "line_count": [_lines(element) for element in kept],
        "column_x0": LEFT,
        "column_x1": RIGHT,
        "code_language": [element.code_language for element in kept],
    }
    return check(pd.DataFrame(columns), Blocks), language


def _cleaned(element: Element) -> Element:
    text = clean_text(element.text)
    # Code keeps its indentation and blank lines within; other text has none that means anything.
    element.text = text.strip("\n").rstrip() if element.kind == "code" else text.strip()
    return element


def _lines(element: Element) -> int:
    """Lines that a typesetter would need."""
    if element.kind != "text":
        return element.text.count("\n") + 1
    return sum(max(1, ceil(len(line) / LINE_CHARACTERS)) for line in element.text.split("\n"))


def _boxes(elements: list[Element]) -> list[Box]:
    """Boxes in 0..1: the format's own, else down each page, half a line apart."""
    totals: dict[int, float] = {}
    for element in elements:
        totals[element.page] = totals.get(element.page, 0.0) + _lines(element) + 0.5
    heights = {page: min(LINE, (BOTTOM - TOP) / total) for page, total in totals.items()}
    at = dict.fromkeys(totals, TOP)
    boxes = []
    for element in elements:
        line = heights[element.page]
        top = at[element.page]
        bottom = top + _lines(element) * line
        at[element.page] = bottom + 0.5 * line
        steps = element.depth + 0.5 * element.hanging
        left = min(LEFT + INDENT * steps, RIGHT - INDENT)
        boxes.append(element.box or (left, top, RIGHT, min(1.0, bottom)))
    return boxes
