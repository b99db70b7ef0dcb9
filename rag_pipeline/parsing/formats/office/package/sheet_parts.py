"""Parts of a workbook that openpyxl does not read, and cells where it cannot open the file."""

from __future__ import annotations

import re

from lxml import etree

from rag_pipeline.errors import DamagedFileError
from rag_pipeline.parsing.formats.elements import Element, Reading, table
from rag_pipeline.parsing.formats.office.package.mending import OfficePackage
from rag_pipeline.parsing.formats.office.package.plain_reading import paragraph_texts, unstructured

_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_BOOK = "xl/workbook.xml"
_COLUMN = re.compile(r"^([A-Z]{1,3})\d")
MAX_COLUMN = 16_384


def sheet_parts(package: OfficePackage) -> dict[str, str]:
    """Return the part of each sheet by the sheet's name."""
    book = package.root(_BOOK)
    relations = package.relations.get(_BOOK, {})
    sheets = book.iter("{*}sheet") if book is not None else ()
    return {
        str(sheet.get("name") or ""): relations[sheet.get(_RELATION)]
        for sheet in sheets
        if sheet.get(_RELATION) in relations
    }


def drawn_texts(package: OfficePackage, sheet: str) -> list[str]:
    """Return the texts of a sheet's text boxes and charts."""
    texts = []
    for drawing in package.relations.get(sheet, {}).values():
        if "/drawings/" not in drawing or not drawing.endswith(".xml"):
            continue
        charts = [
            part
            for part in package.relations.get(drawing, {}).values()
            if "/charts/" in part or "/diagrams/data" in part
        ]
        for part in (drawing, *charts):
            if (root := package.root(part)) is not None:
                texts.extend(paragraph_texts(root))
    return texts


def plain_sheets(package: OfficePackage, error: DamagedFileError) -> Reading:
    """Read the stored cells of all sheets. Raises `error` where there are none."""
    shared = package.root("xl/sharedStrings.xml")
    strings = ["".join(one.itertext("{*}t")) for one in shared] if shared is not None else []
    elements = []
    for page, (name, part) in enumerate(sheet_parts(package).items(), start=1):
        root = package.root(part)
        rows = root.iter("{*}row") if root is not None else ()
        if element := table([_row(row, strings) for row in rows], page=page):
            elements += [Element(name, level=1, page=page), element]
    if not elements:
        raise error
    return Reading(
        elements,
        page_count=elements[-1].page,
        warnings=[*package.warnings, unstructured(error)],
    )


def _row(row: etree._Element, strings: list[str]) -> list[str]:
    texts: list[str] = []
    for cell in row.iter("{*}c"):
        match = _COLUMN.match(cell.get("r") or "")
        at = len(texts)
        if match:
            at = 0
            for letter in match[1]:
                at = at * 26 + ord(letter) - 64
            at = min(at, MAX_COLUMN) - 1
        texts.extend([""] * (at - len(texts)))
        value = "".join(cell.itertext("{*}v", "{*}t"))
        if cell.get("t") == "s" and value.isdigit() and int(value) < len(strings):
            value = strings[int(value)]
        texts.append(value)
    return texts
