"""Excel workbooks by openpyxl: each sheet is a page, its filled areas are tables."""

from __future__ import annotations

import datetime
import re
import zipfile
from pathlib import Path
from typing import Any

from rag_pipeline.errors import UnsafeFileError
from rag_pipeline.parsing.formats.containers import core_title, library_errors, open_container
from rag_pipeline.parsing.formats.elements import Element, Reading, table
from rag_pipeline.parsing.formats.office.office_extra import load_library
from rag_pipeline.parsing.formats.office.openpyxl_cells import stored_cells
from rag_pipeline.settings import ParsingSettings
from rag_pipeline.text import one_line

CHUNK = 1_000_000
MAX_MERGED = 2_000_000
"""Cells; whole rows that are merged have 16,384 each."""
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml$", re.IGNORECASE)
_MERGED = re.compile(
    rb'<(?:\w+:)?mergeCell\s[^>]*?ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"'
)
Place = tuple[int, int]
"""Row and column, from 1."""
Values = dict[Place, str]


def read_xlsx(path: Path, settings: ParsingSettings, document: str) -> Reading:
    """Elements of a workbook: a heading with its name for every sheet, then tables and notes.

    Values are those that the program which saved it had computed. Hidden sheets are left out.
    Raises `DamagedFileError`, `UnsafeFileError` and `MissingLibraryError`.
    """
    with open_container(path, settings, document) as container:
        title = core_title(container, document)
        _check_merged(container, document)
    library = load_library("openpyxl", document)
    # By handle: by path, openpyxl would go by the ending of the name.
    with library_errors(document), path.open("rb") as file:
        book = library.load_workbook(file, data_only=True)
    reading = Reading([], title=title)
    hidden = [sheet.title for sheet in book.worksheets if sheet.sheet_state != "visible"]
    sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    for page, sheet in enumerate(sheets, start=1):
        found = _sheet_elements(sheet, document)
        if found:
            reading.elements.append(Element(one_line(sheet.title), level=1, page=page))
            for element in found:
                element.page = page
            reading.elements.extend(found)
    reading.page_count = max(1, len(sheets))
    if hidden:
        reading.warnings.append(f"hidden sheets were left out: {', '.join(hidden[:10])}")
    return reading


def _check_merged(container: zipfile.ZipFile, document: str) -> None:
    """Raise `UnsafeFileError` where merged cells cover millions: openpyxl makes each of them."""
    covered = 0
    for name in container.namelist():
        if not _SHEET.match(name):
            continue
        rest = b""
        with container.open(name) as file:
            while piece := file.read(CHUNK):
                rest += piece
                for left, top, right, bottom in _MERGED.findall(rest):
                    wide = _column(right) - _column(left) + 1
                    covered += max(0, wide) * max(0, int(bottom) - int(top) + 1)
                rest = rest[rest.rfind(b"<") :] if b"<" in rest else b""
    if covered > MAX_MERGED:
        raise UnsafeFileError(
            f"its merged cells cover {covered:,} cells",
            document=document,
            hint="take the merging out of empty rows and columns",
        )


def _column(letters: bytes) -> int:
    """Number of a column by its letters.

    >>> _column(b"A"), _column(b"XFD")
    (1, 16384)
    """
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def _sheet_elements(sheet: Any, document: str) -> list[Element]:
    """Read the areas between empty rows: rows with a single cell are text, the rest is a table."""
    values: Values = {}
    for place, cell in stored_cells(sheet, document):
        if cell.value is not None and (text := _shown(cell)):
            values[place] = text
    merged: dict[Place, Place] = {}
    for area in sheet.merged_cells.ranges:
        merged[area.min_row, area.min_col] = (area.max_row, area.max_col)
    merged = {place: last for place, last in merged.items() if place in values}
    elements: list[Element] = []
    for rows in _areas(values, merged):
        elements.extend(_area_elements(rows, values, merged))
    return elements


def _areas(values: Values, merged: dict[Place, Place]) -> list[list[int]]:
    """Runs of rows that follow each other; cells merged downwards hold rows together."""
    last = max((row for row, _ in values), default=0)
    filled = {row for row, _ in values}
    for (row, _), (bottom, _) in merged.items():
        filled.update(range(row, min(bottom, last) + 1))
    areas: list[list[int]] = []
    for row in sorted(filled):
        if areas and row == areas[-1][-1] + 1:
            areas[-1].append(row)
        else:
            areas.append([row])
    return areas


def _area_elements(rows: list[int], values: Values, merged: dict[Place, Place]) -> list[Element]:
    by_row: dict[int, list[int]] = {row: [] for row in rows}
    for row, column in values:
        if row in by_row:
            by_row[row].append(column)
    # Rows with one filled cell above a table are its title.
    notes: list[Element] = []
    while rows and len(by_row[rows[0]]) == 1:
        place = (rows[0], by_row[rows[0]][0])
        if merged.get(place, place)[0] > rows[0]:
            break
        notes.append(Element(values[place]))
        rows = rows[1:]
    if not rows:
        return notes
    # Empty columns say nothing.
    columns = sorted({column for row in rows for column in by_row[row]})
    cells = [[values.get((row, column), "") for column in columns] for row in rows]
    spans = [[(1, 1)] * len(columns) for _ in rows]
    for at, row in enumerate(rows):
        for number, column in enumerate(columns):
            if (row, column) not in merged:
                continue
            bottom, right = merged[row, column]
            wide = sum(column <= other <= right for other in columns)
            high = sum(row <= other <= bottom for other in rows)
            for i in range(high):
                for j in range(wide):
                    spans[at + i][number + j] = (0, 0)
            spans[at][number] = (wide, high)
    element = table(cells, spans)
    return [*notes, element] if element else notes


def _shown(cell: Any) -> str:
    """A value about as the sheet shows it."""
    value = cell.value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat(" ", "minutes")
    if isinstance(value, float):
        if cell.number_format.endswith("%"):
            return f"{value * 100:.10g}%"
        return f"{value:.15g}"
    if isinstance(value, int) and cell.number_format.endswith("%"):
        return f"{value * 100}%"
    if isinstance(value, int) and set(cell.number_format) == {"0"}:
        return str(value).zfill(len(cell.number_format))  # part numbers with leading zeros
    text = str(value).strip()
    link = cell.hyperlink
    target = link.target if link is not None else None
    if target and target.startswith(("http://", "https://")) and target not in text:
        return f"{text} ({target})"
    return text
