"""Excel workbooks by openpyxl: each sheet is a page, its filled areas are tables."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

from rag_pipeline.errors import DamagedFileError
from rag_pipeline.parsing.formats.containers import core_title, open_container
from rag_pipeline.parsing.formats.flow import Element, Reading, table
from rag_pipeline.parsing.formats.optional import load_library
from rag_pipeline.settings import ParsingSettings
from rag_pipeline.text import one_line

Span = tuple[int, int]


def read_xlsx(path: Path, settings: ParsingSettings, document: str) -> Reading:
    """Elements of a workbook: a heading with its name for every sheet, then tables and notes.

    Values are those that the program which saved it had computed. Hidden sheets are left out.
    Raises `DamagedFileError`, `UnsafeFileError` and `MissingLibraryError`.
    """
    with open_container(path, settings, document) as container:
        title = core_title(container, document)
    library = load_library("openpyxl", document)
    try:
        book = library.load_workbook(path, data_only=True)
    except (KeyError, ValueError, TypeError, AttributeError, IndexError, OSError) as error:
        raise DamagedFileError(
            f"the workbook is damaged ({error})",
            document=document,
            hint="copy or download it again",
        ) from error
    reading = Reading([], title=title)
    hidden = [sheet.title for sheet in book.worksheets if sheet.sheet_state != "visible"]
    sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    for page, sheet in enumerate(sheets, start=1):
        found = _sheet_elements(sheet)
        if found:
            reading.elements.append(Element(one_line(sheet.title), level=1, page=page))
            for element in found:
                element.page = page
            reading.elements.extend(found)
    reading.page_count = max(1, len(sheets))
    if hidden:
        reading.warnings.append(f"hidden sheets were left out: {', '.join(hidden[:10])}")
    return reading


def _sheet_elements(sheet: Any) -> list[Element]:
    """Areas between empty rows: one with a single filled column is text, any other a table."""
    values: dict[tuple[int, int], str] = {}
    for row in sheet.iter_rows():
        for cell in row:
            if cell.value is not None and (text := _shown(cell)):
                values[cell.row, cell.column] = text
    merged: dict[tuple[int, int], Span] = {}
    for area in sheet.merged_cells.ranges:
        for row in range(area.min_row, area.max_row + 1):
            for column in range(area.min_col, area.max_col + 1):
                merged[row, column] = (0, 0)
        size = (area.max_col - area.min_col + 1, area.max_row - area.min_row + 1)
        merged[area.min_row, area.min_col] = size
    elements: list[Element] = []
    for rows in _areas(values, merged):
        elements.extend(_area_elements(rows, values, merged))
    return elements


def _areas(
    values: dict[tuple[int, int], str], merged: dict[tuple[int, int], Span]
) -> list[list[int]]:
    """Runs of rows that follow each other; cells merged downwards hold rows together."""
    filled = {row for row, _ in values}
    for (row, column), (_, high) in merged.items():
        if high > 1 and (row, column) in values:
            filled.update(range(row, row + high))
    areas: list[list[int]] = []
    for row in sorted(filled):
        if areas and row == areas[-1][-1] + 1:
            areas[-1].append(row)
        else:
            areas.append([row])
    return areas


def _area_elements(
    rows: list[int], values: dict[tuple[int, int], str], merged: dict[tuple[int, int], Span]
) -> list[Element]:
    inside = set(rows)
    columns = {column for row, column in values if row in inside}
    for (row, column), (wide, _) in merged.items():
        if row in inside and (row, column) in values:
            columns.update(range(column, column + wide))
    # Rows with one filled cell above a table are its title.
    notes: list[Element] = []
    while rows and sum((rows[0], column) in values for column in columns) == 1:
        first = next(column for column in sorted(columns) if (rows[0], column) in values)
        if merged.get((rows[0], first), (1, 1))[1] > 1:
            break
        notes.append(Element(values[rows[0], first]))
        rows = rows[1:]
    if not rows:
        return notes
    left, right = min(columns), max(columns)
    places = [[(row, column) for column in range(left, right + 1)] for row in rows]
    element = table(
        [[values.get(place, "") for place in line] for line in places],
        [[merged.get(place, (1, 1)) for place in line] for line in places],
    )
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
