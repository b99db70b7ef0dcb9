"""JSON and JSON Lines as text with structure: objects are sections, lists of records tables."""

from __future__ import annotations

import json
from typing import Any

from rag_pipeline.parsing.formats.decoding import decode
from rag_pipeline.parsing.formats.elements import Element, Reading, list_item, table

MAX_LEVEL = 6
"""Levels of headings; what lies deeper is a path in front of its value."""


def read_json(data: bytes, document: str) -> Reading:
    """Elements of a JSON file, or of a file with a JSON value on each line.

    What is no JSON is read as the text that it is, with a warning.
    """
    del document
    decoded = decode(data)
    warnings = decoded.warnings
    elements: list[Element] = []
    try:
        _add(elements, json.loads(decoded.text, parse_float=str, parse_int=str), "", 1)
        return Reading(elements, warnings=warnings)
    except ValueError as error:
        reason = str(error)
    values: list[Any] = []
    lines = [line for line in decoded.text.splitlines() if line.strip()]
    faulty = []
    for line in lines:
        try:
            values.append(json.loads(line, parse_float=str, parse_int=str))
        except ValueError:
            faulty.append(Element(line, kind="code", code_language="json"))
    if len(faulty) > len(values) or not values:
        listing = Element(decoded.text, kind="code", code_language="json")
        return Reading([listing], warnings=[*warnings, f"it is no valid JSON ({reason})"])
    _add(elements, values, "", 1)
    if faulty:
        warnings = [*warnings, f"{len(faulty)} of {len(lines)} lines are no valid JSON"]
    return Reading([*elements, *faulty], warnings=warnings)


def _add(elements: list[Element], value: Any, name: str, level: int) -> None:
    """Add a value; an object or list with a name is a section of its own."""
    if not isinstance(value, (dict, list)):
        text = _shown(value)
        elements.append(Element(f"{name}: {text}" if name else text))
        return
    if name:
        deep = level > MAX_LEVEL
        elements.append(Element(name, bold=True) if deep else Element(name, level=level))
        level += 1
    if isinstance(value, dict):
        _add_object(elements, value, level)
    elif _is_table(value):
        columns = list(dict.fromkeys(key for row in value for key in row))
        rows = [columns, *([_shown(row.get(key, "")) for key in columns] for row in value)]
        if element := table(rows):
            elements.append(element)
    else:
        for one in value:
            if isinstance(one, (dict, list)):
                _add(elements, one, "", level)
            else:
                elements.append(list_item(_shown(one), 1))


def _add_object(elements: list[Element], value: dict[str, Any], level: int) -> None:
    """Plain values of an object that follow each other are the lines of one paragraph."""
    lines: list[str] = []
    for key, one in value.items():
        if isinstance(one, (dict, list)) and one:
            if lines:
                elements.append(Element("\n".join(lines)))
                lines = []
            _add(elements, one, key, level)
        else:
            lines.append(f"{key}: {_shown(one)}")
    if lines:
        elements.append(Element("\n".join(lines)))


def _is_table(values: list[Any]) -> bool:
    """Are these records of plain values, with mostly the same keys?"""
    if len(values) < 2 or not all(isinstance(one, dict) and one for one in values):
        return False
    if any(isinstance(cell, (dict, list)) and cell for one in values for cell in one.values()):
        return False
    keys = {key for one in values for key in one}
    return sum(map(len, values)) >= 0.5 * len(keys) * len(values)


def _shown(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if isinstance(value, (dict, list)) else str(value)
