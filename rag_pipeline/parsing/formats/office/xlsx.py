"""Excel workbooks by openpyxl: each sheet is a page, its filled areas are tables."""

from __future__ import annotations

import re
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from rag_pipeline.errors import DamagedFileError, UnsafeFileError
from rag_pipeline.parsing.formats.containers import core_title, library_errors, open_container
from rag_pipeline.parsing.formats.elements import Element, Reading, table
from rag_pipeline.parsing.formats.extra_libraries import load_library
from rag_pipeline.parsing.formats.office.openpyxl_cells import stored_cells
from rag_pipeline.parsing.formats.office.package.mending import OfficePackage, read_package
from rag_pipeline.parsing.formats.office.package.sheet_parts import (
    drawn_texts,
    plain_sheets,
    sheet_parts,
)
from rag_pipeline.parsing.formats.office.xlsx_values import shown_formula, shown_value, uncomputed
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

    Values are those that the program which saved it had computed; a formula that was never computed
    stands as such. Hidden sheets are left out. A workbook that openpyxl cannot open is read cell by
    cell, with a warning.
    Raises `DamagedFileError`, `UnsafeFileError` and `MissingLibraryError`.
    """
    with open_container(path, settings, document) as container:
        _check_merged(container, document)
        package = read_package(container, document, thorough=False)
        try:
            book = _book(package, document)
        except DamagedFileError as error:
            package = read_package(container, document)
            try:
                book = _book(package, document)
            except DamagedFileError:
                return plain_sheets(package, error)
    title = core_title(package.parts.get("docProps/core.xml"), document)
    reading = Reading([], title=title, warnings=package.warnings)
    formulas = _formulas(package, document)
    hidden = [sheet.title for sheet in book.worksheets if sheet.sheet_state != "visible"]
    sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    parts = sheet_parts(package)
    for page, sheet in enumerate(sheets, start=1):
        found = _sheet_elements(sheet, formulas.get(sheet.title, {}), document)
        found.extend(map(Element, drawn_texts(package, parts.get(sheet.title, ""))))
        if found:
            found.insert(0, Element(one_line(sheet.title), level=1))
        reading.elements.extend(replace(element, page=page) for element in found)
    reading.page_count = max(1, len(sheets))
    if hidden:
        reading.warnings.append(f"hidden sheets were left out: {', '.join(hidden[:10])}")
    if count := sum(map(len, formulas.values())):
        were = "1 formula was" if count == 1 else f"{count} formulas were"
        places = [f"{name}!{place}" for name, found in formulas.items() for place in found]
        reading.warnings.append(
            f"{were} never computed; the formula stands in its cell: {', '.join(places[:10])}"
        )
    return reading


def _book(package: OfficePackage, document: str, *, values: bool = True) -> Any:
    """Open the workbook with the values that were computed last, or with its formulas."""
    library = load_library("openpyxl", document)
    with library_errors(document):
        return library.load_workbook(package.file(), data_only=values)


def _formulas(package: OfficePackage, document: str) -> dict[str, dict[str, str]]:
    """Return formulas without a value by sheet and place; most workbooks have none."""
    found: dict[str, dict[str, str]] = {}
    book = None
    for name, part in sheet_parts(package).items():
        if not (places := uncomputed(package.parts.get(part, b""))):
            continue
        try:
            book = book or _book(package, document, values=False)
            sheet = book[name]
        except (DamagedFileError, KeyError):
            continue
        found[name] = {place: shown_formula(sheet[place].value or "") for place in places}
    return found


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


def _sheet_elements(sheet: Any, formulas: dict[str, str], document: str) -> list[Element]:
    """Read the areas between empty rows: rows with a single cell are text, the rest is a table."""
    values: Values = {}
    notes: list[Element] = []
    for place, cell in stored_cells(sheet, document):
        if cell.coordinate in formulas:
            values[place] = formulas[cell.coordinate]
        elif cell.value is not None and (text := shown_value(cell)):
            values[place] = text
        if cell.comment is not None and (note := one_line(cell.comment.text or "")):
            notes.append(Element(f"Comment on {cell.coordinate}: {note}"))
    merged: dict[Place, Place] = {}
    for area in sheet.merged_cells.ranges:
        merged[area.min_row, area.min_col] = (area.max_row, area.max_col)
    merged = {place: last for place, last in merged.items() if place in values}
    elements: list[Element] = []
    for rows in _areas(values, merged):
        elements.extend(_area_elements(rows, values, merged))
    return elements + notes


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
