"""RTF paragraphs and table rows → elements: headings, list items, code, tables."""

from __future__ import annotations

import re

from rag_pipeline.line_marks import BULLET
from rag_pipeline.parsing.formats.elements import Element, list_item
from rag_pipeline.parsing.formats.rtf.rtf_tables import RtfRow, table_of

_HEADING_STYLE = re.compile(r"^(?:heading|überschrift|titre|제목)\s*([1-9])$", re.IGNORECASE)
_CODE_STYLE = re.compile(r"preformatted|source code|^code", re.IGNORECASE)
_SYMBOL_BULLET = re.compile(r"^(?:[\uf0b7\uf0a7]\s*|§\s+)(?=\S)")
"""Bullets of the fonts Symbol and Wingdings."""
_LABEL = re.compile(r"^(\d{1,3})[.)]\s*$")
_TEXT_OUTLINE = 9
"""Outline levels from 0 to 8 are headings; 9 is body text."""


def heading_level(style_name: str, outline: int | None) -> int | None:
    """Return a paragraph's heading level, from 1, by its style's name or its outline level."""
    if match := _HEADING_STYLE.match(style_name):
        return int(match[1])
    return outline + 1 if outline is not None and 0 <= outline < _TEXT_OUTLINE else None


def is_code_style(style_name: str) -> bool:
    """Does the style's name say that it is for code?"""
    return bool(_CODE_STYLE.search(style_name))


def has_typed_marker(text: str) -> bool:
    """Does the text begin with a bullet or number followed by a tab?

    >>> has_typed_marker("2.\\tOil"), has_typed_marker("-\\tOil"), has_typed_marker("-5 V\\tOil")
    (True, True, False)
    """
    first, tab, _ = text.strip(" ").partition("\t")
    return bool(tab) and bool(_LABEL.match(first) or BULLET.fullmatch(f"{first.strip()} "))


class RtfBlocks:
    """Gathers elements; `page` and `rows` are kept up to date by the reader."""

    def __init__(self) -> None:
        self.elements: list[Element] = []
        self.page = 1
        self.rows: list[RtfRow] = []
        """Rows of the table that has not ended."""
        self._indents: list[int] = []

    def add(self, element: Element) -> None:
        """Append an element on the current page."""
        element.page = self.page
        self.elements.append(element)

    def add_text(self, text: str, bold: bool) -> None:
        """Append a plain paragraph, which ends the lists above it."""
        self._indents = []
        self.add(Element(text.strip(), bold=bold))

    def add_item(self, label: str, text: str, level: int, indent: int) -> None:
        """Append a list item; without a label, its marker stands in the text before a tab.

        `level`: nesting by `\\ilvl`, 0 where the file states none; `indent`: in twips.
        """
        if not label:
            label, _, text = text.strip(" ").partition("\t")
        depth = self._depth(level, indent)
        body = text.strip()
        if number := _LABEL.match(label):
            self.add(list_item(body, depth, int(number[1])))
        elif len(label.strip()) <= 1:
            self.add(list_item(_SYMBOL_BULLET.sub("", body), depth))
        else:
            self.add(Element(f"{label.strip()} {body}", depth=depth))

    def _depth(self, level: int, indent: int) -> int:
        """Nesting of an item: as stated, or by its indentation among those before it."""
        if level:
            self._indents = []
            return level + 1
        while self._indents and indent < self._indents[-1]:
            self._indents.pop()
        if not self._indents or indent > self._indents[-1]:
            self._indents.append(indent)
        return len(self._indents)

    def add_code(self, text: str) -> None:
        """Append a line of code to the listing above, or begin one."""
        last = self.elements[-1] if self.elements else None
        if last is not None and last.kind == "code" and last.page == self.page:
            last.text += f"\n{text.rstrip()}"
        else:
            self.add(Element(text.rstrip(), kind="code"))

    def end_table(self) -> None:
        """Append the table that has gathered in `rows`, if any."""
        if self.rows and (element := table_of(self.rows)):
            self.add(element)
        self.rows = []
