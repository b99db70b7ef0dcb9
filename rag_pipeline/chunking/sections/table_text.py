"""Tables as text: one Markdown row with pipes for every row of cells."""

from __future__ import annotations

import re
from typing import Any

from rag_pipeline.text import one_line

_WORD = re.compile(r"\w+")


def cell_rows(cells: Any) -> list[tuple[str, ...]]:
    """Return the rows of a `table_cells` value, each cell on one line, without empty rows.

    Accepts lists and the nested arrays that Parquet returns; [] for null.
    """
    if cells is None or isinstance(cells, float):
        return []
    rows = (tuple(one_line("" if c is None else str(c)) for c in row) for row in cells)
    return [row for row in rows if any(row)]


def markdown_row(row: tuple[str, ...]) -> str:
    """Return a row with pipes. Pipes inside cells are not escaped: quoted commands stay exact."""
    return "| " + " | ".join(row) + " |"


def markdown_header(row: tuple[str, ...]) -> str:
    """Return the header row and the rule below it."""
    return markdown_row(row) + "\n|" + "---|" * len(row)


def lines_beside(text: str, rows: list[tuple[str, ...]]) -> list[str]:
    """Return the lines of a table block's text with a word that no cell has.

    Cells are a parser's guess; words it left out must not be lost.
    """
    held = {word for row in rows for cell in row for word in _WORD.findall(cell)}
    return [
        line for line in text.splitlines() if any(word not in held for word in _WORD.findall(line))
    ]
