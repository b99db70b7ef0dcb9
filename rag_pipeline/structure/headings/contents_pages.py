"""Contents pages, lists of figures and indexes: where titles stand that are not headings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from rag_pipeline.line_marks import has_leader
from rag_pipeline.structure.headings.numbering import letters, roman_value
from rag_pipeline.structure.items import Document, Item
from rag_pipeline.structure.signals import is_label_word


def _titles(text: str) -> frozenset[str]:
    return frozenset(title.strip() for title in text.replace("\n", "").split("|"))


CONTENTS_TITLES = _titles(
    """contents|table of contents|brief contents|detailed contents|inhalt|inhaltsverzeichnis|
    sommaire|table des matières|contenido|índice|indice|tabla de contenido|sommario|
    índice general|inhoud|inhoudsopgave|innehåll|indhold|sisällys|spis treści|содержание|
    оглавление|目次|目录|目錄|차례|목차"""
)
LIST_TITLES = _titles(
    """list of figures|list of tables|list of examples|figures|tables|list of listings|listings|
    list of procedures|list of equations|list of algorithms|abbildungsverzeichnis|
    tabellenverzeichnis|liste des figures|liste des tableaux|lista de figuras|lista de tablas|
    図目次|表目次|例目次|図の一覧|表の一覧|例の一覧|图目录|表格目录|插图目录|表目录|表格清单|
    插图清单|그림 차례|그림 목차|그림 목록|표 차례|표 목차|표 목록"""
)
INDEX_TITLES = _titles(
    """index|alphabetical index|stichwortverzeichnis|sachregister|register|索引|찾아보기|색인|
    предметный указатель|subject index|general index"""
)
MAX_TITLE = 80
"""Characters of such a title with its numbering, at most."""
_PAGE_END = re.compile(
    r"^(?P<title>.*?[\s.…·_\u3040-\u9fff\uac00-\ud7a3])-?\s?(?P<number>\d{1,4}|[ivxlc]{1,7})(?:\s?-)?$",
    re.IGNORECASE,
)
_NUMBERS_AT_START = re.compile(r"^(?:chapter\s+)?[\divx]+[.\s]+", re.IGNORECASE)


def plain_title(text: str) -> str:
    """A title for comparison with known ones: lower case, no numbering, no punctuation around.

    >>> plain_title("  CONTENTS:"), plain_title("3 Index")
    ('contents', 'index')
    """
    return _NUMBERS_AT_START.sub("", text.strip(" \t:.").lower())


def is_contents_title(text: str) -> bool:
    """Is it the title of a contents page or of a list of figures or tables?

    >>> is_contents_title("Table of Contents"), is_contents_title("Contents of the box")
    (True, False)
    """
    if len(text) > MAX_TITLE:
        return False
    title = plain_title(text)
    return title in CONTENTS_TITLES or title in LIST_TITLES or title.replace(" ", "") in _SPACED


_SPACED = frozenset(title.replace(" ", "") for title in CONTENTS_TITLES | LIST_TITLES)


class ContentsLine(NamedTuple):
    """A line that ends like a contents entry."""

    title: str
    """The line without leader and page number."""
    page: int
    """The printed page number, Roman ones as their value."""
    roman: bool
    led: bool
    """Leader dots go up to the number."""


def contents_line(text: str) -> ContentsLine | None:
    """Read a line as a contents entry; None where it does not end with a page number.

    >>> contents_line("1.2 Safety . . . . 7")[:3], contents_line("Foreword ix")[:3]
    (('1.2 Safety', 7, False), ('Foreword', 9, True))
    >>> contents_line("Slab class ..... - 12 -")[:2], contents_line("Safety")
    (('Slab class', 12), None)
    """
    match = _PAGE_END.search(text.strip())
    if not match or not match["title"].strip(" .…·_"):
        return None
    if is_label_word(match["title"].strip()):
        return None  # Part IV
    number = match["number"]
    roman = not number.isdigit()
    page = roman_value(number) if roman else int(number)
    if not page:
        return None
    return ContentsLine(match["title"].strip(" .…·_\t"), page, roman, has_leader(text))


def lines_of(item: Item) -> list[str]:
    """The lines of a block that hold text."""
    return [line for line in item.text.split("\n") if line.strip()]


class ContentsRun(NamedTuple):
    """Consecutive blocks that look like a contents page, whose page numbers never fall."""

    items: list[Item]
    read: list[ContentsLine]
    title: Item | None
    """The block right above that says Contents, List of Figures or the like."""


MAX_BETWEEN = 6
"""Blocks without a page number among entries: parts, authors, first lines of long titles."""
MAX_WRAPPED = 160
"""Characters of such a block."""
LARGER_ENTRY = 1.5
"""Its size over that of the entry before, at most."""
FEW_ENTRIES = 4
"""Entries from which a run is believed without a title above it."""


def mark_contents(document: Document) -> list[ContentsRun]:
    """Give entries of contents pages their role, and return the runs they stand in.

    Lines that end with numbers are a contents page only by further evidence: a title above them,
    or leader dots to page numbers that never fall, or that most of the titles come again.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> contents = ["{14b} Contents", "Oil ........ 2", "Air ........ 3", "---"]
    >>> explain(*contents, "{14b} Oil", "~", "---", "{14b} Air", "~")[1]
    'contents_entry: contents: page numbers below the title of a contents page'
    """
    titles = Counter(letters(item.title) for item in document.items if item.lines <= 3)
    accepted = []
    for run in _runs(document):
        led = sum(line.led for line in run.read)
        again = sum(titles[letters(line.title)] > 0 for line in run.read)
        if run.title is not None and len(run.read) > 1:
            reason = "page numbers below the title of a contents page"
        elif len(run.read) >= FEW_ENTRIES and 2 * led >= len(run.read):
            reason = "leader dots up to page numbers that never fall"
        elif len(run.read) >= FEW_ENTRIES and 2 * again >= len(run.read):
            reason = "page numbers that never fall after titles that come again"
        else:
            continue
        for item in run.items:
            item.decide("contents_entry", f"contents: {reason}")
        accepted.append(run)
    return accepted


def _runs(document: Document) -> Iterator[ContentsRun]:
    run = ContentsRun([], [], None)
    between: list[Item] = []
    for item in document.items:
        if item.role in ("page_header", "page_footer") or not item.title:
            continue
        title = is_contents_title(item.title)
        read = [] if title else _entries_in(item)
        goes_on = run.items or run.title is not None
        last = run.items[-1] if run.items else run.title
        near = last is not None and item.page <= last.page + 1
        falls = bool(run.read and read) and _falls(run.read, read)
        if read and goes_on and near and not falls:
            run.items.extend([*between, item])
            run.read.extend(read)
            between = []
        elif last and near and not title and not read and _may_stand_between(item, last, between):
            between.append(item)
        else:
            if run.items:
                yield run
            run = ContentsRun([item] if read else [], read, item if title else None)
            between = []
    if run.items:
        yield run


def _entries_in(item: Item) -> list[ContentsLine]:
    """The entries in a block, unless most of its lines are none."""
    if item.kind == "figure":
        return []
    lines = lines_of(item)
    read = [entry for line in lines if (entry := contents_line(line))]
    return read if 3 * len(read) >= len(lines) else []


def _falls(before: list[ContentsLine], read: list[ContentsLine]) -> bool:
    """Does the printed number fall? Arabic ones begin anew after Roman ones."""
    last, first = before[-1], read[0]
    return first.page < last.page if last.roman == first.roman else first.roman


def _may_stand_between(item: Item, last: Item, between: list[Item]) -> bool:
    """Is it set like the entries, at most as a part's title among them?"""
    if item.size > LARGER_ENTRY * last.size:
        return False
    return len(between) < MAX_BETWEEN and len(item.title) <= MAX_WRAPPED and item.kind == "text"


def mark_repeated_titles(document: Document) -> None:
    """Headings in a row that all come again later, with text between, are a contents page.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> names = [f"{{14b}} {name}" for name in ("Oil", "Air", "Fuel", "Gas", "Water")]
    >>> explain(*names, "---", *[block for name in names for block in (name, "~")])[0]
    'contents_entry: contents: titles that come again later'
    """
    runs = _heading_runs(document)
    rows = {item.index for run in runs for item in run if len(run) >= MIN_ROW}
    places = {
        plain_title(item.title): item.index
        for item in document.items
        if item.role == "heading" and item.index not in rows
    }
    for run in runs:
        again = sum(places.get(plain_title(item.title), 0) > run[-1].index for item in run)
        if len(run) >= MIN_ROW and again >= MIN_AGAIN * len(run):
            for item in run:
                item.level_hint = None
                item.decide("contents_entry", "contents: titles that come again later")


MIN_ROW = 5
"""Headings in a row, without text between, that may be a contents page without page numbers."""
MIN_AGAIN = 0.6
"""Share of them that come again later."""


def _heading_runs(document: Document) -> list[list[Item]]:
    """Headings in a row, each title once."""
    runs: list[list[Item]] = [[]]
    seen: set[str] = set()
    for item in document.items:
        if item.role in ("page_header", "page_footer", "contents_entry", "figure"):
            continue
        title = plain_title(item.title)
        listed = item.role == "heading" and not is_contents_title(item.title)
        if not listed or title in seen:
            runs.append([])
            seen = set()
        if listed:
            runs[-1].append(item)
            seen.add(title)
    return [run for run in runs if run]
