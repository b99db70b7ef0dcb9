"""Headings that a tagged PDF names (H1 to H6), as hints where they make sense.

Tags are written by programs that nobody checks: some call every bold line H1, some tag running
heads, some give levels by font size alone. So they are used like bookmarks, and only after a look
at their levels.
"""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as c

from rag_pipeline.parsing.pdf.native.bookmarks import Entry, letters

MIN_HEADINGS = 4
MAX_DEPTH = 40
"""Nesting of structure elements that is followed; a damaged tree may run in circles."""
MAX_ELEMENTS = 20_000
"""Elements looked at on one page."""
MAX_REPEATS = 3
"""A heading that stands on more pages than this is a running head."""
MAX_SAME_SHARE = 0.9
"""Share of the headings on one level from which the levels say nothing."""
MAX_WRONG = 0.1
"""Share of headings whose level contradicts their number (1.2.3), or skips one, at most."""
MAX_LENGTH = 200
"""Characters of a heading; longer ones are paragraphs called headings."""
_HEADING = re.compile(r"H([1-6])")
_NUMBER = re.compile(r"(?:\d{1,3}|[A-Z](?=\.\d))((?:\.\d{1,3})*)[.)]?\s")


def is_tagged(pdf: pdfium.PdfDocument) -> bool:
    """Does the file say that its content is tagged?"""
    return bool(c.FPDFCatalog_IsTagged(pdf.raw))


def tagged_headings(page: Any, text_page: Any, number: int) -> list[Entry]:
    """Headings of one page in the order of its structure tree."""
    tree = c.FPDF_StructTree_GetForPage(page)
    if not tree:
        return []
    try:
        found = [
            (level, marks)
            for index in range(c.FPDF_StructTree_CountChildren(tree))
            for level, marks in _headings_below(c.FPDF_StructTree_GetChildAtIndex(tree, index))
        ]
    finally:
        c.FPDF_StructTree_Close(tree)
    wanted = {mark for _, marks in found for mark in marks}
    texts = _marked_texts(page, text_page, wanted) if wanted else {}
    titles = [(level, "".join(texts.get(mark, "") for mark in marks)) for level, marks in found]
    return [Entry(level, title.strip(), number) for level, title in titles if title.strip()]


def _headings_below(root: Any) -> Iterator[tuple[int, list[int]]]:
    """Level and marked-content ids of each heading element, depth first."""
    stack = [(root, 0)] if root else []
    seen = 0
    while stack and seen < MAX_ELEMENTS:
        element, depth = stack.pop()
        seen += 1
        if match := _HEADING.fullmatch(_type_of(element)):
            yield int(match[1]), _marks_below(element, depth)
        elif depth < MAX_DEPTH:
            children = [
                c.FPDF_StructElement_GetChildAtIndex(element, index)
                for index in range(c.FPDF_StructElement_CountChildren(element))
            ]
            stack.extend((child, depth + 1) for child in reversed(children) if child)


def _type_of(element: Any) -> str:
    buffer = ctypes.create_string_buffer(64)
    size = c.FPDF_StructElement_GetType(element, buffer, 64)
    return buffer.raw[: max(0, min(size, 64) - 2)].decode("utf-16-le", "replace")


def _marks_below(element: Any, depth: int, seen: list[int] | None = None) -> list[int]:
    """Ids of the marked content of an element and of all below it.

    `seen` holds the number of elements looked at: where two parents share a child, and so on, a
    small tree has no end.
    """
    marks: list[int] = []
    seen = [0] if seen is None else seen
    for index in range(c.FPDF_StructElement_CountChildren(element)):
        seen[0] += 1
        if seen[0] > MAX_ELEMENTS:
            break
        child = c.FPDF_StructElement_GetChildAtIndex(element, index)
        if child and depth < MAX_DEPTH:
            marks.extend(_marks_below(child, depth + 1, seen))
        elif (mark := c.FPDF_StructElement_GetChildMarkedContentID(element, index)) >= 0:
            marks.append(mark)
    return marks


def _marked_texts(page: Any, text_page: Any, wanted: set[int]) -> dict[int, str]:
    """Text of the marked contents, in drawing order."""
    texts: dict[int, str] = {}
    for index in range(c.FPDFPage_CountObjects(page)):
        item = c.FPDFPage_GetObject(page, index)
        mark = c.FPDFPageObj_GetMarkedContentID(item)
        if mark in wanted and c.FPDFPageObj_GetType(item) == c.FPDF_PAGEOBJ_TEXT:
            size = c.FPDFTextObj_GetText(item, text_page, None, 0)
            buffer = (ctypes.c_ushort * (size // 2 + 1))()
            c.FPDFTextObj_GetText(item, text_page, buffer, size)
            text = bytes(buffer)[: max(0, size - 2)].decode("utf-16-le", "replace")
            texts[mark] = texts.get(mark, "") + text
    return texts


def sensible_headings(entries: list[Entry]) -> list[Entry]:
    """The tagged headings without running heads, or none where their levels make no sense.

    Levels must vary, agree with decimal numbers (1.2 below 1) and skip none on the way down.

    >>> sensible_headings([Entry(1, f"Chapter of kind {name}", 1) for name in "abcdef"])
    []
    """
    repeats = Counter(letters(entry.title) for entry in entries)
    kept = [entry for entry in entries if repeats[letters(entry.title)] <= MAX_REPEATS]
    if len(kept) < MIN_HEADINGS or 2 * len(kept) < len(entries):
        return []
    if sum(len(entry.title) > MAX_LENGTH for entry in kept) > MAX_WRONG * len(kept):
        return []
    levels = Counter(entry.level for entry in kept)
    if max(levels.values()) > MAX_SAME_SHARE * len(kept):
        return []
    skipped = sum(after.level > before.level + 1 for before, after in pairwise(kept))
    if skipped > MAX_WRONG * len(kept) or not _fits_numbers(kept):
        return []
    return kept


def _fits_numbers(entries: list[Entry]) -> bool:
    """Has each depth of decimal numbers a level of its own, deeper for deeper numbers?"""
    seen: dict[int, Counter[int]] = {}
    for entry in entries:
        if match := _NUMBER.match(entry.title):
            depth = 1 + match[1].count(".")
            seen.setdefault(depth, Counter())[entry.level] += 1
    usual = [(depth, found.most_common(1)[0]) for depth, found in sorted(seen.items())]
    if any(after[1][0] <= before[1][0] for before, after in pairwise(usual)):
        return False
    total = sum(found.total() for found in seen.values())
    return total - sum(count for _, (_, count) in usual) <= MAX_WRONG * total
