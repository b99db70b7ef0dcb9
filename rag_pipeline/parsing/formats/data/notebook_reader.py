"""Jupyter notebooks: Markdown cells, code, and the text that code printed (nbformat 4)."""

from __future__ import annotations

import json
from typing import Any

from rag_pipeline.parsing.formats.data.json_reader import read_json
from rag_pipeline.parsing.formats.decoding import decode
from rag_pipeline.parsing.formats.elements import Element, Reading
from rag_pipeline.parsing.formats.markdown_reader import read_markdown
from rag_pipeline.parsing.formats.plain_text import text_elements


def read_notebook(data: bytes, document: str) -> Reading:
    """Elements of a notebook in the order of its cells.

    Of a result's forms the plain text is read. A file that is no notebook is read as JSON.
    """
    decoded = decode(data)
    try:
        notebook = json.loads(decoded.text)
    except ValueError:
        return read_json(data, document)
    if not isinstance(notebook, dict) or not isinstance(_cells(notebook), list):
        return read_json(data, document)
    language = str(_at(notebook, "metadata", "kernelspec", "language") or "python")
    reading = Reading([], warnings=decoded.warnings)
    for cell in _cells(notebook):
        if not isinstance(cell, dict):
            continue
        source = _joined(cell.get("source", cell.get("input")))
        kind = cell.get("cell_type")
        if kind == "markdown":
            found = read_markdown(source.encode("utf-8", "replace"), document)
            reading.elements.extend(found.elements)
        elif kind == "code" and source.strip():
            reading.elements.append(Element(source, kind="code", code_language=language))
        else:
            reading.elements.extend(text_elements(source))
        for output in cell.get("outputs") or []:
            if isinstance(output, dict) and (text := _output(output)):
                reading.elements.append(Element(text, kind="code"))
    return reading


def _cells(notebook: dict[str, Any]) -> Any:
    """The cells; version 3 has them in worksheets."""
    if "cells" in notebook:
        return notebook["cells"]
    sheets = notebook.get("worksheets")
    return sheets[0].get("cells") if isinstance(sheets, list) and sheets else None


def _output(output: dict[str, Any]) -> str:
    """What a cell printed; pictures have no text."""
    if "traceback" in output:
        return f"{output.get('ename', '')}: {output.get('evalue', '')}"
    data = output.get("data")
    found = data.get("text/plain", data.get("text/markdown")) if isinstance(data, dict) else None
    return _joined(output.get("text") or found)


def _joined(value: Any) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _at(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value
