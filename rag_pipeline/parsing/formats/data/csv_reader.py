"""CSV files: one table, with what stands above it as text."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter

from rag_pipeline.parsing.formats.decoding import decode
from rag_pipeline.parsing.formats.elements import Element, Reading, table

_DELIMITERS = ",;\t|"
_SEPARATOR_LINE = re.compile(r"^\ufeff?\"?sep=(.)\"?\r?\n", re.IGNORECASE)
MAX_TITLES = 20
"""Lines above a table that may be its title and notes."""
SAMPLE = 50_000
"""Characters that the delimiter is told from."""


def read_csv(data: bytes) -> Reading:
    """One table, with the lines above its header as text.

    The delimiter is what a first line `sep=;` says, which spreadsheets write and read; else the one
    that splits most lines into equally many cells. A space after it belongs to no cell.
    """
    decoded = decode(data)
    text = decoded.text
    stated = _SEPARATOR_LINE.match(text)
    if stated:
        text = text[stated.end() :]
    csv.field_size_limit(min(2**31 - 1, max(131_072, len(text) + 1)))
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=stated[1] if stated else _delimiter(text),
        skipinitialspace=True,
    )
    rows = [row for row in reader if any(cell.strip() for cell in row)]
    titles = _title_lines(rows)
    elements = [Element(", ".join(cell for cell in row if cell)) for row in rows[:titles]]
    if element := table(rows[titles:]):
        elements.append(element)
    furniture = [stated[0]] if stated else []
    return Reading(elements, warnings=decoded.warnings, furniture=furniture)


def _title_lines(rows: list[list[str]]) -> int:
    """How many rows at the top are no part of the table: far fewer cells than most rows have."""
    widths = Counter(_filled(row) for row in rows)
    if not widths:
        return 0
    usual = max(widths, key=lambda width: (widths[width], width))
    if usual < 2:
        return 0
    for at, row in enumerate(rows[:MAX_TITLES]):
        if _filled(row) > max(1, usual // 2):
            return at
    return 0


def _filled(row: list[str]) -> int:
    return sum(bool(cell.strip()) for cell in row)


def _delimiter(text: str) -> str:
    sample = [line for line in text[:SAMPLE].splitlines()[:100] if line.strip()]
    best, most = ",", 0.0
    for delimiter in _DELIMITERS:
        found = csv.reader(sample, delimiter=delimiter, skipinitialspace=True)
        widths = [len(row) for row in found]
        usual = max(set(widths), key=widths.count, default=1)
        score = widths.count(usual) / max(1, len(widths)) if usual > 1 else 0.0
        if score > most:
            best, most = delimiter, score
    return best
