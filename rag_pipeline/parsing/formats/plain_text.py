"""Plain text and source code."""

from __future__ import annotations

import re
from dataclasses import replace

from rag_pipeline.line_marks import list_marker
from rag_pipeline.parsing.formats.decoding import decode
from rag_pipeline.parsing.formats.elements import Element, Reading

_UNDERLINE = re.compile(r"^(=+|-+|~+|\*+|#+)$")
_INDENT = 4
"""Columns of white space that stand for one level."""
MIN_COLUMNS = 2
"""Runs of spaces between columns of a line that belongs to a listing or drawing."""
_GAP = re.compile(r"\S {3,}\S")
MAX_CODE_LINES = 120
"""Lines after which a region of source code without blank lines is cut."""


def read_text(data: bytes) -> Reading:
    """Paragraphs between blank lines; items of lists each for themselves; form feeds end pages.

    What is a heading is left to the rules of structure, but for titles underlined by `====` or
    `----`, which plain text has for that.
    """
    decoded = decode(data)
    pages = decoded.text.removesuffix("\f").split("\f")
    underlines: list[str] = []
    elements = [
        replace(element, page=number)
        for number, page in enumerate(pages, start=1)
        for element in text_elements(page, underlines)
    ]
    return Reading(elements, page_count=len(pages), warnings=decoded.warnings)


def text_elements(text: str, underlines: list[str] | None = None) -> list[Element]:
    """Elements of plain text; `underlines` are the marks of titles so far, by level."""
    elements: list[Element] = []
    underlines = [] if underlines is None else underlines
    for lines in _paragraphs(text):
        if len(lines) >= 2 and (level := _underlined(lines, underlines)):
            elements.append(Element(lines[0].strip(), level=level))
            elements.extend(_paragraph_elements(lines[2:]))
        else:
            elements.extend(_paragraph_elements(lines))
    return elements


def _paragraph_elements(lines: list[str]) -> list[Element]:
    if not lines:
        return []
    if _is_listing(lines):
        return [Element("\n".join(lines), kind="code")]
    return _items(lines)


def _paragraphs(text: str) -> list[list[str]]:
    """Lines between blank lines; a form feed separates as well."""
    groups: list[list[str]] = [[]]
    normal = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n")
    for line in normal.split("\n"):
        if line.strip():
            groups[-1].append(line.expandtabs(_INDENT).rstrip())
        elif groups[-1]:
            groups.append([])
    return [group for group in groups if group]


def _underlined(lines: list[str], seen: list[str]) -> int | None:
    """Level of a title with a line of marks below it: by the order in which marks appear."""
    match = _UNDERLINE.match(lines[1].strip())
    title = lines[0].strip()
    if not match or len(lines[1].strip()) < max(3, 0.5 * len(title)) or len(title) > 120:
        return None
    mark = match[1][0]
    if mark not in seen:
        seen.append(mark)
    return seen.index(mark) + 1


def _is_listing(lines: list[str]) -> bool:
    """Indented lines that are no list, or columns held by spaces: their form must stay."""
    if all(line.startswith(" " * _INDENT) for line in lines):
        return not any(list_marker(line.strip()) for line in lines)
    return len(lines) >= MIN_COLUMNS and all(_GAP.search(line) for line in lines)


def _items(lines: list[str]) -> list[Element]:
    """One element a list item, with the lines that hang below it; else one paragraph."""
    elements: list[Element] = []
    base = len(lines[0]) - len(lines[0].lstrip())
    stack: list[int] = []
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if list_marker(line.strip()):
            while stack and indent < stack[-1]:
                stack.pop()
            if not stack or indent > stack[-1]:
                stack.append(indent)
            elements.append(Element(line.strip(), depth=len(stack)))
        elif elements and (not stack or indent > base):
            elements[-1].text += f" {line.strip()}" if stack else f"\n{line.strip()}"
        elif elements and elements[-1].depth:
            elements[-1].text += f" {line.strip()}"
        else:
            elements.append(Element(line.strip()))
    return elements


def read_source_code(data: bytes, language: str) -> Reading:
    """Blocks of source code: a top-level definition each, with the comment above it.

    Newlines and indentation stay exactly. A region between top-level blank lines ends where the
    next line stands at the left margin; closing brackets and `else` belong to what is above.
    """
    decoded = decode(data)
    lines = decoded.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    elements = [
        Element("\n".join(region), kind="code", code_language=language)
        for region in _regions(lines)
    ]
    return Reading(elements, warnings=decoded.warnings)


_CONTINUES = re.compile(r"^(?:[)\]}>]|else\b|elif\b|except\b|finally\b|catch\b|end\b|done\b|fi\b)")


def _regions(lines: list[str]) -> list[list[str]]:
    """Lines between blank lines that a line at the left margin follows."""
    regions: list[list[str]] = [[]]
    blank = 0
    quote = ""
    for line in lines:
        if not line.strip():
            blank += 1
            continue
        at_margin = not line[0].isspace() and not _CONTINUES.match(line) and not quote
        cut = len(regions[-1]) >= MAX_CODE_LINES and at_margin
        if regions[-1] and ((blank and at_margin) or cut):
            regions.append([])
        elif regions[-1]:
            regions[-1].extend([""] * blank)
        regions[-1].append(line)
        blank = 0
        quote = _open_quote(line, quote)
    return [region for region in regions if region]


def _open_quote(line: str, quote: str) -> str:
    """Which triple quote is open after a line: text in it may stand at the margin."""
    for mark in ('"""', "'''"):
        if quote in ("", mark) and line.count(mark) % 2:
            return "" if quote else mark
    return quote
