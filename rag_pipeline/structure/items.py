"""The working form of a blocks frame: one mutable item a block, and facts about the document."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

import pandas as pd

from rag_pipeline.structure.headings.numbering import Numbering
from rag_pipeline.text import one_line

_COMPUTER_MODERN = re.compile(r"^(CM|SF|EC|LM|LMRoman|T1)(SS|TT)?[A-Z]*\d*$")
_STYLE = re.compile(
    r"[-,\s]*[-,\s](?:Bold|Ital|Obli|Regu|Roma|Medi|Light|Semi|Book|Plain|Slant|Black|Demi|Thin).*$",
    re.IGNORECASE,
)
"""Weight, slant and what follows in a font's name."""


@cache
def font_family(name: str) -> str:
    """The family of a font's name, without weight, slant and design size.

    >>> font_family("Arial-BoldMT") == font_family("ArialMT")
    True
    >>> font_family("CMBX12") == font_family("CMR10") != font_family("CMSS10")
    True
    >>> font_family("NimbusSanL-Bold") == font_family("NimbusRomNo9L-Medi")
    False
    >>> font_family("DejaVu-Sans-Bold") == font_family("DejaVu-Serif")
    False
    """
    if match := _COMPUTER_MODERN.match(name):
        return f"{match[1]}{match[2] or ''}"
    stem = _STYLE.sub("", name)
    base = re.sub(r"(?:PS)?MT$|PS$", "", stem) or name
    return re.sub(r"(?:Bold|Italic|Roman(?=$)|\d+)+$", "", base) or base


@dataclass(slots=True)
class Item:
    """One block with what the rules decide about it."""

    index: int
    page: int
    x0: float
    y0: float
    x1: float
    y1: float
    text: str
    kind: str
    size: float
    bold: bool
    monospace: bool
    italic: bool
    color: int
    font: str
    lines: int
    column_x0: float
    column_x1: float
    bold_lead: str
    upright: bool
    page_width: float
    page_height: float
    level_hint: int | None
    given: bool
    """The hint is the format's own heading level, not a bookmark's or a tag's guess."""
    cells: Any
    title: str = ""
    """The text on one line."""
    role: str = ""
    level: int | None = None
    list_level: int | None = None
    group: int | None = None
    rule: str = ""
    """Which rule gave role and level, for people."""
    numbering: Numbering | None = None
    marker: str = ""
    value: int | None = None
    """The number of a step: 3 for `3.`, `c)` and `3 Turn`."""
    letters: str = ""
    """The title's letters without its numbering, for comparison with contents entries."""
    listed: Item | None = None
    """The block of the contents page that names this heading."""

    def decide(self, role: str, rule: str) -> None:
        """Give the block its role, and note why."""
        self.role, self.rule = role, rule


@dataclass(slots=True)
class Document:
    """All items and what holds for the document as a whole."""

    items: list[Item]
    body_size: float
    body_bold: bool
    body_font: str
    body_color: int
    page_count: int
    language: str
    right_edge: float
    """Where most lines of running text end, as a share of the page's width."""
    by_page: dict[int, list[Item]] = field(default_factory=dict)
    root: Item | None = None
    """The title, where it stands right above the text and so over all headings."""
    contents_share: float = 0.0
    """Share of the contents pages' entries that were found in the body."""
    contents_page: int = 0
    """Page on which the contents begin; 0 where there are none."""

    def has_own_font(self, item: Item) -> bool:
        """Is the block set in another family than the text?"""
        return font_family(item.font) != font_family(self.body_font)

    def undecided(self) -> list[Item]:
        """Items that no rule has given a role yet."""
        return [item for item in self.items if not item.role]


LITTLE_TEXT = 600
"""Characters of running text below which tables count for the size of the text as well."""
MOSTLY_TYPED = 0.1
"""Share of text in proportional type below which fixed-width type is the running text itself."""
_COLUMNS: dict[str, str] = {
    "page": "page_number",
    "x0": "x0",
    "y0": "y0",
    "x1": "x1",
    "y1": "y1",
    "text": "text",
    "kind": "kind",
    "size": "font_size",
    "bold": "is_bold",
    "monospace": "is_monospace",
    "cells": "table_cells",
}
"""Fields of an item that every parser fills, and their columns."""
_OPTIONAL: dict[str, tuple[str, Any]] = {
    "italic": ("is_italic", False),
    "color": ("color", 0),
    "font": ("font_name", ""),
    "lines": ("line_count", None),
    "column_x0": ("column_x0", 0.0),
    "column_x1": ("column_x1", 1.0),
    "bold_lead": ("bold_lead", ""),
    "upright": ("is_upright", True),
    "page_width": ("page_width", 612.0),
    "page_height": ("page_height", 792.0),
    "given": ("level_is_given", False),
}
"""Fields from the local parser's own columns, with what is assumed of other parsers' blocks."""


def read_items(blocks: pd.DataFrame) -> Document:
    """Turn a blocks frame into items."""
    count = len(blocks)
    values = {name: blocks[column].tolist() for name, column in _COLUMNS.items()}
    for name, (column, neutral) in _OPTIONAL.items():
        if column not in blocks:
            values[name] = [neutral] * count
            continue
        found, missing = blocks[column].tolist(), blocks[column].isna().tolist()
        values[name] = [
            neutral if is_missing else value
            for value, is_missing in zip(found, missing, strict=True)
        ]
    values["color"] = [int(value) for value in values["color"]]
    hints, unknown = blocks["level_hint"].tolist(), blocks["level_hint"].isna().tolist()
    values["level_hint"] = [
        None if is_unknown else int(hint) for hint, is_unknown in zip(hints, unknown, strict=True)
    ]
    columns = [values[one.name] for one in fields(Item) if one.name in values]
    items = list(map(Item, range(count), *columns))
    for item in items:
        item.title = one_line(item.text)
        item.lines = item.lines or item.text.count("\n") + 1
    language = str(blocks["language"].iloc[0]) if count else "und"
    return _with_facts(items, language)


def _with_facts(items: list[Item], language: str) -> Document:
    """Body text is what most characters look like."""
    texts = [item for item in items if item.kind in ("text", "code")]
    plain_text = sum(len(item.text) for item in texts if not item.monospace)
    typed = plain_text < MOSTLY_TYPED * sum(len(item.text) for item in texts)
    exact: Counter[float] = Counter()
    fonts: Counter[str] = Counter()
    colors: Counter[int] = Counter()
    for item in texts:
        if typed or not item.monospace:
            exact[item.size] += len(item.text)
    sizes: Counter[float] = Counter()
    for size, characters in exact.items():
        sizes[round(size * 2) / 2] += characters
    if sum(sizes.values()) < LITTLE_TEXT:
        for item in items:
            if item.kind == "table":
                sizes[round(item.size * 2) / 2] += len(item.text) // 2
    body_size = sizes.most_common(1)[0][0] if sizes else 0.0
    bold = plain = 0
    for item in items:
        if item.kind == "text" and abs(item.size - body_size) <= 0.6:
            fonts[item.font] += len(item.text)
            colors[item.color] += len(item.text)
            if item.bold:
                bold += len(item.text)
            else:
                plain += len(item.text)
    ends = Counter(round(item.x1, 2) for item in items if item.lines > 2 and item.kind == "text")
    by_page: dict[int, list[Item]] = {}
    for item in items:
        by_page.setdefault(item.page, []).append(item)
    return Document(
        items,
        body_size,
        bold > plain,
        fonts.most_common(1)[0][0] if fonts else "",
        colors.most_common(1)[0][0] if colors else 0,
        max(by_page, default=0),
        language,
        ends.most_common(1)[0][0] if ends else 1.0,
        by_page=by_page,
    )
