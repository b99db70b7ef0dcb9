"""Bookmarks as hints for heading levels, where they agree with the text."""

from __future__ import annotations

import ctypes
import re
import unicodedata
from typing import Any, NamedTuple

import pandas as pd
import pypdfium2 as pdfium
import pypdfium2.raw as c

MAX_ENTRIES = 20_000
MAX_DEPTH = 12
LABEL_LENGTH = 14
"""Characters of a chapter's number that stands above its title."""
CUT_LENGTH = 30
"""Letters of a title from which it may be cut: some producers shorten bookmarks."""
_NOT_LETTERS = re.compile(r"[\W_]+")
_NUMBERING = re.compile(
    r"^\s*(?:(?:chapter|part|appendix|section|kapitel|teil|anhang|abschnitt|chapitre|partie|annexe"
    r"|cap[íi]tulo|付録|附录|부록|第|제)\s*)?(?:\d+|[ivxlc]+(?=[.\s:)])|[a-z](?=[.\s:)]))?"
    r"(?:[.\-]\d{1,3})*\s*(?:章|장|節|절|部|부)?[.:)\]、．\s–—-]*",
    re.IGNORECASE,
)


class Entry(NamedTuple):
    """One bookmark."""

    level: int
    """From 1."""
    title: str
    page: int
    """From 1."""


def read_outline(pdf: pdfium.PdfDocument) -> list[Entry]:
    """Bookmarks that lead to a page of the document, in their order."""
    entries: list[Entry] = []
    seen: set[int] = set()
    _walk(pdf, None, 1, entries, seen)
    return entries


def _walk(
    pdf: pdfium.PdfDocument, parent: Any, level: int, entries: list[Entry], seen: set[int]
) -> None:
    mark = c.FPDFBookmark_GetFirstChild(pdf.raw, parent)
    while mark and len(seen) < MAX_ENTRIES:
        address = ctypes.cast(mark, ctypes.c_void_p).value or 0
        if address in seen:  # a damaged outline may run in circles
            return
        seen.add(address)
        page = _target_page(pdf, mark)
        if page is not None and (title := _title(mark)):
            entries.append(Entry(level, title, page + 1))
        if level < MAX_DEPTH:
            _walk(pdf, mark, level + 1, entries, seen)
        mark = c.FPDFBookmark_GetNextSibling(pdf.raw, mark)


def _target_page(pdf: pdfium.PdfDocument, mark: Any) -> int | None:
    target = c.FPDFBookmark_GetDest(pdf.raw, mark)
    if not target:
        action = c.FPDFBookmark_GetAction(mark)
        target = c.FPDFAction_GetDest(pdf.raw, action) if action else None
    index = c.FPDFDest_GetDestPageIndex(pdf.raw, target) if target else -1
    return index if index >= 0 else None


def _title(mark: Any) -> str:
    size = c.FPDFBookmark_GetTitle(mark, None, 0)
    buffer = ctypes.create_string_buffer(size)
    c.FPDFBookmark_GetTitle(mark, buffer, size)
    return buffer.raw[: max(0, size - 2)].decode("utf-16-le", "replace").strip()


def letters(text: str) -> str:
    """Letters and digits only, in lower case: what two writings of a title share.

    >>> letters("1.2  Oil-filter") == letters("1.2 OIL FILTER")
    True
    """
    return _NOT_LETTERS.sub("", unicodedata.normalize("NFKC", text).lower())


def bare_letters(text: str) -> str:
    """The same without the numbering in front.

    >>> bare_letters("Chapter 3. Safety") == bare_letters("Safety")
    True
    """
    return letters(_NUMBERING.sub("", text, count=1)) or letters(text)


def add_level_hints(
    blocks: pd.DataFrame, entries: list[Entry], minimum: float
) -> tuple[pd.DataFrame, float]:
    """Write the levels of bookmarks to the blocks that hold their titles.

    Returns the frame and the share of bookmarks whose title stands on its page or a neighbouring
    one. Below `minimum` the outline does not fit the text, and no hint is set. An entry that is
    the root of all others (the document's title) does not count as a level.
    """
    if not entries:
        return blocks, 0.0
    finder = _Finder(blocks)
    hints: dict[int, int] = {}
    found = 0
    shift = _root_levels(entries)
    for entry in entries:
        row = finder.find(entry, hints)
        if row is not None:
            found += 1
            hints[row] = max(1, entry.level - shift)
    share = found / len(entries)
    if share < minimum:
        return blocks, share
    values = [hints.get(row) for row in range(len(blocks))]
    return blocks.assign(level_hint=pd.array(values, dtype="Int64")), share


def _root_levels(entries: list[Entry]) -> int:
    """1 where a single first entry is the parent of all others."""
    tops = [entry for entry in entries if entry.level == 1]
    return 1 if len(tops) == 1 and len(entries) > 2 and entries[0].level == 1 else 0


class _Finder:
    """Looks titles up in the blocks of a page."""

    def __init__(self, blocks: pd.DataFrame) -> None:
        self.texts = blocks["text"].tolist()
        self.sizes = blocks["font_size"].tolist()
        self.by_page: dict[int, list[int]] = {}
        pairs = zip(blocks["page_number"].tolist(), blocks["kind"].tolist(), strict=True)
        for row, (page, kind) in enumerate(pairs):
            if kind != "figure" and len(self.texts[row]) < 1000:
                self.by_page.setdefault(page, []).append(row)

    def find(self, entry: Entry, taken: dict[int, int]) -> int | None:
        """The row whose block is (or begins) the title; a later one than those taken is better."""
        title, bare = letters(entry.title), bare_letters(entry.title)
        if not title:
            return None
        for page in (entry.page, entry.page + 1, entry.page - 1):
            rows = [row for row in self.by_page.get(page, ()) if row not in taken]
            # A running head may repeat the title of the chapter that begins below it, smaller.
            equal = [row for row in rows if letters(self.texts[row]) == title]
            if equal:
                return max(equal, key=lambda row: self.sizes[row])
            for at, row in enumerate(rows):
                if bare_letters(self.texts[row]) == bare:
                    return row
                if len(title) >= CUT_LENGTH and letters(self.texts[row]).startswith(title):
                    return row
                if (whole := self._in_pieces(rows, at, title)) is not None:
                    return whole
        return None

    def _in_pieces(self, rows: list[int], at: int, title: str) -> int | None:
        """A title over two or three blocks: the first of them, or the one below its number."""
        first = letters(self.texts[rows[at]])
        if not first or not title.startswith(first):
            return None
        joined = first
        for row in rows[at + 1 : at + 4]:
            joined += letters(self.texts[row])
            if joined == title:
                is_label = len(self.texts[rows[at]]) <= LABEL_LENGTH
                return rows[at + 1] if is_label else rows[at]
            if not title.startswith(joined):
                return None
        return None
