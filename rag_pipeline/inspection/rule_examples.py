"""Small made-up documents for the examples in the rules' docstrings."""

from __future__ import annotations

import re

from rag_pipeline.frames import blocks_frame
from rag_pipeline.settings import StructureSettings
from rag_pipeline.structure import infer_structure

_SIGNS = re.compile(r"\{([^}]*)\}\s*")
_LINE = 0.016
"""Height of a line of 10 points, as a share of the page."""
_BODY = "Running text that fills the page with words, line after line, and goes\non until it ends."


def explain(*blocks: str) -> list[str]:
    """Return role and rule of each block of a document, in order.

    A block is its text behind signs in braces: `18` points, `b`old, `i`talic, `m` fixed width, `t`
    a table, `f` a figure, `g` a gap above, `=0.9` its top edge, `@0.3` its left edge. `~` is a
    paragraph, `---` a new page; neither is returned.

    >>> explain("{18b} Pumps", "~", "{m} x = 1")
    ['heading: 18 pt over 10 pt text; level 1: style 18 pt bold', 'code: kind: fixed-width lines']
    """
    rows: list[dict[str, object]] = []
    shown: list[str] = []
    page, y = 1, 0.1
    for block in blocks:
        if block == "---":
            page, y = page + 1, 0.1
            continue
        match = _SIGNS.match(block)
        signs = match[1].split() if match else []
        text = _BODY if block == "~" else block[match.end() :] if match else block
        row = _row(text, " ".join(signs), page, y)
        y = float(str(row["y1"])) + 0.8 * _LINE
        rows.append(row)
        if block != "~":
            shown.append(text)
    found = infer_structure(blocks_frame(rows), StructureSettings())
    columns = (found[name].tolist() for name in ("text", "role", "rule"))
    return [
        f"{role}: {rule.removeprefix(f'{role}: ')}"
        for text, role, rule in zip(*columns, strict=True)
        if any(one in text for one in shown)
    ]


def _row(text: str, signs: str, page: int, y: float) -> dict[str, object]:
    size = float((re.search(r"(?<![=@\d.])\d+(?:\.\d+)?", signs) or ["10"])[0])
    lines = text.count("\n") + 1
    top = re.search(r"=([\d.]+)", signs)
    left = re.search(r"@([\d.]+)", signs)
    letters = re.sub(r"[=@][\d.]+", "", signs)
    x0 = float(left[1]) if left else 0.12
    y0 = float(top[1]) if top else y + 0.02 * ("g" in letters)
    kind = "table" if "t" in letters else "figure" if "f" in letters else "text"
    width = max(map(len, text.split("\n"))) * 0.0085 * size / 10
    return {
        "page_number": page,
        "text": text,
        "kind": "code" if "m" in letters else kind,
        "x0": x0,
        "y0": y0,
        "x1": min(0.97, x0 + max(width, 0.5 if kind != "text" else 0.0)),
        "y1": min(1.0, y0 + (0.2 if kind != "text" else _LINE * lines * size / 10)),
        "font_size": size,
        "is_bold": "b" in letters,
        "is_italic": "i" in letters,
        "is_monospace": "m" in letters,
        "table_cells": [["a", "b"]] if kind == "table" else None,
        "line_count": lines,
        "column_x0": 0.12,
        "column_x1": 0.88,
        "font_name": "Serif",
        "bold_lead": "",
    }
