"""Structured frame → Markdown, and the list of its headings."""

from __future__ import annotations

import html
from typing import Any

import pandas as pd

from rag_pipeline.frames import FURNITURE_ROLES
from rag_pipeline.line_marks import without_bullet
from rag_pipeline.structure.table_groups import joined_parts
from rag_pipeline.text import one_line

MAX_ATX_LEVEL = 6
Cells = list[list[str]]
Spans = list[list[tuple[int, int]]]


def headings_of(structured: pd.DataFrame) -> list[list[Any]]:
    """Headings as [[level, title, page], …]: level from 0, page from 1, in reading order."""
    rows = structured[structured["role"].isin(["heading", "title"])]
    return [
        [int(level) - 1, one_line(text), int(page)]
        for level, text, page in zip(
            rows["heading_level"], rows["text"], rows["page_number"], strict=True
        )
    ]


def to_markdown(structured: pd.DataFrame, *, keep_furniture: bool = False) -> str:
    """Write a structured frame as Markdown.

    Headings are ATX headings; tables are pipe tables, or HTML where cells span several columns or
    rows; items of lists are indented by their level. Running heads, page numbers and contents
    entries are left out unless `keep_furniture`.
    """
    parts: list[str] = []
    columns = ("role", "text", "heading_level", "list_level", "table_cells", "group_id")
    spans = structured["table_spans"] if "table_spans" in structured else [None] * len(structured)
    table: tuple[Cells, Spans] | None = None
    table_group = None
    for role, text, level, nesting, cells, group, span in zip(
        *(structured[name] for name in columns), spans, strict=True
    ):
        if role in FURNITURE_ROLES and not keep_furniture:
            continue
        if cells is not None and len(cells):
            part = _cells_and_spans(cells, span)
            if table is not None and group == table_group:
                table = joined_parts(table, part)
                parts.pop()
            else:
                table, table_group = part, group
            parts.append(table_markdown(*table))
            continue
        if block := _block(role, text, level, nesting):
            parts.append(block)
            table = None
    return "\n\n".join(parts) + "\n" if parts else ""


def _cells_and_spans(cells: Any, spans: Any) -> tuple[Cells, Spans]:
    """Plain lists of what may have been through Parquet."""
    rows = [list(row) for row in cells]
    if spans is None:
        return rows, [[(1, 1)] * len(row) for row in rows]
    return rows, [list(map(tuple, row)) for row in spans]


def _block(role: str, text: str, level: Any, nesting: Any) -> str:
    if role in ("heading", "title"):
        depth = min(MAX_ATX_LEVEL, int(level) if pd.notna(level) else 1)
        return f"{'#' * depth} {one_line(text)}"
    if role == "code":
        return f"```\n{text}\n```" if text.strip() else ""
    if role in ("list_item", "procedure_step"):
        indent = "  " * (int(nesting) - 1 if pd.notna(nesting) else 0)
        first, *rest = text.split("\n")
        marked = first if role == "procedure_step" else f"- {without_bullet(first)}"
        return "\n".join(indent + line for line in [marked, *rest])
    return text


def table_markdown(rows: Cells, spans: list[list[tuple[int, int]]] | None = None) -> str:
    """A table: pipes where every cell is of one row and column, else HTML.

    `spans` has (columns, rows) a cell; (0, 0) is a cell that another one covers.

    >>> print(table_markdown([["a", "b"], ["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    >>> table_markdown([["a", ""], ["1", "2"]], [[(2, 1), (0, 0)], [(1, 1), (1, 1)]])
    '<table>\\n<tr><th colspan="2">a</th></tr>\\n<tr><td>1</td><td>2</td></tr>\\n</table>'
    """
    if spans and any(span != (1, 1) for row in spans for span in row):
        return _table_html(rows, spans)
    width = max(map(len, rows))
    lines = [_pipe_row(row, width) for row in rows]
    lines.insert(1, "|" + "---|" * width)
    return "\n".join(lines)


def _pipe_row(row: list[str], width: int) -> str:
    cells = [one_line(cell).replace("|", "\\|") for cell in row] + [""] * (width - len(row))
    return "| " + " | ".join(cells) + " |"


def _table_html(rows: Cells, spans: list[list[tuple[int, int]]]) -> str:
    lines = ["<table>"]
    for number, (row, marks) in enumerate(zip(rows, spans, strict=True)):
        tag = "td" if number else "th"
        cells = []
        for cell, (columns, height) in zip(row, marks, strict=True):
            if not columns:
                continue
            attributes = f' colspan="{columns}"' if columns > 1 else ""
            attributes += f' rowspan="{height}"' if height > 1 else ""
            cells.append(f"<{tag}{attributes}>{html.escape(one_line(cell))}</{tag}>")
        lines.append("<tr>" + "".join(cells) + "</tr>")
    return "\n".join([*lines, "</table>"])
