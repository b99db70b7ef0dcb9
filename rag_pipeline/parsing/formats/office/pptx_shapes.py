"""Parts of PowerPoint shapes: runs with links and signs, bullets, tables, charts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rag_pipeline.parsing.formats.containers import LIBRARY_ERRORS
from rag_pipeline.parsing.formats.elements import Box, Element, table
from rag_pipeline.parsing.formats.inline.symbol_fonts import with_signs
from rag_pipeline.parsing.formats.markup import add_link
from rag_pipeline.text import one_line

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_BULLETS = (f"{A}buNone", f"{A}buChar", f"{A}buAutoNum", f"{A}buBlip")
_MONOSPACE = re.compile(r"courier|mono|consolas|menlo|typewriter", re.IGNORECASE)
LINE_BREAKS = re.compile(r"[\v\n]")


def bullet_of(properties: Any) -> str | None:
    """Kind of the bullet that a paragraph's properties state; None where they state none."""
    if properties is None:
        return None
    for child in properties:
        if child.tag in _BULLETS:
            return str(child.tag).removeprefix(A)
    return None


def is_code(paragraph: Any) -> bool:
    """Are all runs in a fixed-width font?"""
    runs = [run for run in paragraph.runs if run.text.strip()]
    return bool(runs) and all(_MONOSPACE.search(run.font.name or "") for run in runs)


def linked(paragraph: Any) -> str:
    """A paragraph's text with the addresses of its links."""
    parts = []
    for child in paragraph._p:
        if child.tag == f"{A}br":
            parts.append("\n")
        elif child.tag in (f"{A}r", f"{A}fld"):
            text = child.findtext(f"{A}t") or ""
            run = next((one for one in paragraph.runs if one._r is child), None)
            parts.append(add_link(_signs(child, text), _address(run)))
    return "".join(parts).strip()


def _address(run: Any) -> str | None:
    try:
        return str(run.hyperlink.address or "") if run is not None else None
    except LIBRARY_ERRORS:  # links to actions have no relationship
        return None


def _signs(run: Any, text: str) -> str:
    """A run's text; codes of a symbol font become the signs that they show."""
    font = run.find(f"{A}rPr/{A}sym")
    if font is None:
        font = run.find(f"{A}rPr/{A}latin")
    return with_signs(text, font.get("typeface") or "") if font is not None else text


def table_of(found: Any, box: Box) -> Element | None:
    """A table with its merged cells; None where it is empty."""
    cells, spans = [], []
    for row in found.rows:
        cells.append([LINE_BREAKS.sub("\n", cell.text) for cell in row.cells])
        spans.append(
            [
                (0, 0)
                if cell.is_spanned
                else (cell.span_width, cell.span_height)
                if cell.is_merge_origin
                else (1, 1)
                for cell in row.cells
            ]
        )
    return table(cells, spans, box=box)


def chart_elements(chart: Any, box: Box) -> Iterator[Element]:
    """A chart's title, and its values as a table: a column for each series."""
    if chart.has_title and chart.chart_title.has_text_frame:
        yield Element(one_line(chart.chart_title.text_frame.text), kind="figure", box=box)
    for plot in chart.plots:
        series = list(plot.series)
        rows = [["", *(one.name or "" for one in series)]]
        for at, category in enumerate(plot.categories):
            values = [one.values[at] if at < len(one.values) else None for one in series]
            rows.append([str(category), *("" if v is None else f"{v:.15g}" for v in values)])
        if len(rows) > 1 and (element := table(rows, box=box)):
            yield element


def description(shape: Any) -> str:
    """What the author says that a picture shows; names that programs give do not count."""
    properties = shape._element.find(f".//{P}cNvPr")
    text = one_line(properties.get("descr") or "") if properties is not None else ""
    return "" if re.fullmatch(r"\S+\.(?:png|jpe?g|gif|emf|wmf|svg)", text, re.I) else text
