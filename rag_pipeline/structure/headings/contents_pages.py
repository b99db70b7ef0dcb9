"""Contents pages, lists of figures and indexes: where titles stand that are not headings."""

from __future__ import annotations

import re

from rag_pipeline.line_marks import has_leader
from rag_pipeline.settings import StructureSettings
from rag_pipeline.structure.items import Document, Item


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
    r"(?:^|[\s.…·\u3040-\u9fff\uac00-\ud7a3])\d{1,4}$|(?:^|[\s.…])(?:[ivxl]{1,7}|[A-Z]{1,2}-\d{1,3})$"
)
_LAST_NUMBER = re.compile(r"(\d{1,4})\s*$")
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


def ends_with_page(text: str) -> bool:
    """Does a line end with what may be a page number?

    >>> ends_with_page("Safety 7"), ends_with_page("Safety")
    (True, False)
    """
    return bool(_PAGE_END.search(text.strip()))


def mark_contents(document: Document, settings: StructureSettings) -> None:
    """Give entries of contents pages their role."""
    for item in document.undecided():
        lines = item.text.split("\n")
        if item.kind != "figure" and any(map(has_leader, lines)):
            leaders = sum(map(has_leader, lines))
            if leaders >= 0.3 * len(lines):
                item.decide("contents_entry", "contents: leader dots up to a page number")
    _mark_after_titles(document, settings)
    _mark_between_entries(document)


def _mark_after_titles(document: Document, settings: StructureSettings) -> None:
    """Below a title such as Contents, blocks whose lines end with page numbers are entries."""
    items = document.items
    at = 0
    while at < len(items):
        item = items[at]
        at += 1
        if item.role or item.lines > 1 or not is_contents_title(item.title):
            continue
        misses = highest = 0
        run: list[Item] = []
        for following in items[at:]:
            if following.role in ("page_header", "page_footer"):
                continue
            if following.role == "contents_entry":
                if match := _LAST_NUMBER.search(following.title):
                    highest = max(highest, int(match[1]))
                continue
            lines = [line for line in following.text.split("\n") if line.strip()]
            hits = sum(map(ends_with_page, lines))
            if lines and hits >= settings.contents_page_share * len(lines):
                numbers = [int(match[1]) for line in lines if (match := _LAST_NUMBER.search(line))]
                if numbers and numbers[0] < highest:
                    break  # page numbers never fall: here the text has begun
                highest = max([highest, *numbers])
                run.append(following)
                misses = 0
            else:
                misses += 1
                if misses > settings.contents_max_misses or following.page > item.page + 40:
                    break
        if len(run) >= 2 or any(len(one.text.split("\n")) >= 3 for one in run):
            for one in run:
                one.decide("contents_entry", "contents: ends with a page number below the title")


def _mark_between_entries(document: Document) -> None:
    """Short blocks between two entries on the same page belong to them (wrapped entries)."""
    for page in document.by_page.values():
        body = [item for item in page if item.role not in ("page_header", "page_footer")]
        entries = [at for at, item in enumerate(body) if item.role == "contents_entry"]
        if len(entries) < 4 or len(entries) < 0.5 * len(body):
            continue
        for at, item in enumerate(body):
            inside = entries[0] < at < entries[-1] or ends_with_page(item.title)
            short = len(item.text) < 160 and not is_contents_title(item.title)
            if not item.role and inside and short:
                item.decide("contents_entry", "contents: among entries")


def mark_repeated_titles(document: Document) -> None:
    """Runs of headings without text between, which all come again later, are a contents page."""
    headings = [item for item in document.items if item.role == "heading"]
    places: dict[str, int] = {}
    for item in headings:
        places[plain_title(item.title)] = item.index
    run: list[Item] = []
    for item in document.items:
        if item.role in ("page_header", "page_footer", "contents_entry", "figure"):
            continue
        listed = item.role == "heading" and not is_contents_title(item.title)
        if listed and plain_title(item.title) not in {plain_title(one.title) for one in run}:
            run.append(item)
            continue
        _drop_run(run, places)
        run = [item] if listed else []
    _drop_run(run, places)


def _drop_run(run: list[Item], places: dict[str, int]) -> None:
    if len(run) < 5:
        return
    again = sum(places.get(plain_title(item.title), 0) > run[-1].index for item in run)
    if again >= 0.6 * len(run):
        for item in run:
            item.level_hint = None
            item.decide("contents_entry", "contents: titles that come again later")
