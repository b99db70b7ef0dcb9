"""Running heads, running feet and page numbers: what repeats at the edge of pages."""

from __future__ import annotations

import re
from collections import Counter

from rag_pipeline.settings import StructureSettings
from rag_pipeline.structure.items import Document, Item

_NUMBERS = re.compile(
    r"^\W*(?:\d+|[ivxlc]+)\b|\b(?:\d+|[ivxlc]+)(?:\s*(?:/|of|von|de|sur)\s*\d+)?\W*$"
)
_CODE = re.compile(r"^[A-Z]{1,2}-?\d")
_END_NUMBERS = re.compile(r"^\d{1,4}\b|\b\d{1,4}$")
MIN_NUMBERED = 4
"""Pages on which a number at the edge is as far from the page's, to take it for its number."""
_PAGE_NUMBER = re.compile(
    r"^[\W_]*(?:(?:page|seite|p\.|pagina|página|страница|쪽|페이지|第)?\s*"
    r"(?:\d{1,4}|[ivxlc]{1,7}|[A-Z]{1,2}-?\d{1,3}|\d{1,2}-\d{1,3})"
    r"(?:\s*(?:/|of|von|de|sur|из|쪽|페이지|页|頁|ページ)\s*\d{0,4})?)[\W_]*$",
    re.IGNORECASE,
)


def is_page_number(text: str) -> bool:
    """Is the text nothing but a page number?

    >>> is_page_number("- 12 -"), is_page_number("Page 3 of 9"), is_page_number("xiv")
    (True, True, True)
    >>> is_page_number("3 Safety"), is_page_number("mix of")
    (False, False)
    """
    return bool(_PAGE_NUMBER.match(text))


def without_numbers(text: str) -> str:
    """The text without a number at its ends, so that running heads of different pages are equal.

    >>> without_numbers("12 Safety") == without_numbers("14 Safety")
    True
    >>> without_numbers("Fault 1: stop") == without_numbers("Fault 2: stop")
    False
    """
    return _NUMBERS.sub("#", text.lower()).strip()


def mark_furniture(document: Document, settings: StructureSettings) -> None:
    """Give running heads and feet and page numbers their roles.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> page = ["{=0.03} Pump manual", "~", "---"]
    >>> explain(*page, *page, *page, *page)[0]
    'page_header: furniture: repeated at the edge of pages'
    """
    edges = [
        (item, at_top)
        for page in document.by_page.values()
        for item, at_top in _edge_items(page, settings)
        if not item.given
    ]
    offset = _page_offset([item for item, _ in edges])
    keys = {
        item.index: (_key(item, document, offset), at_top, round(item.size))
        for item, at_top in edges
    }
    texts = Counter(keys.values())
    pages = document.page_count
    needed = max(settings.furniture_min_pages, int(settings.furniture_min_share * pages))
    repeated = {key for key, count in texts.items() if count >= min(needed, 6) and pages > 1}
    slots: dict[tuple[int, float, bool], list[Item]] = {}
    for item, at_top in edges:
        slots.setdefault(_slot(item, at_top), []).append(item)
    running = {
        key
        for key, found in slots.items()
        if len({item.page for item in found}) >= max(settings.furniture_min_pages, 0.2 * pages)
        and sum(keys[item.index] in repeated for item in found)
        >= settings.furniture_slot_share * len(found)
    }
    numbers = _page_numbers(edges, document)
    for item, at_top in edges:
        role = "page_header" if at_top else "page_footer"
        if item.index in numbers:
            item.decide(role, "furniture: page number at the edge")
        elif keys[item.index] in repeated and _is_modest(item, document):
            item.decide(role, "furniture: repeated at the edge of pages")
        elif _slot(item, at_top) in running and _is_modest(item, document):
            item.decide(role, "furniture: stands where running heads stand")


def _page_numbers(edges: list[tuple[Item, bool]], document: Document) -> set[int]:
    """Blocks that are page numbers; codes such as E-07 only if modest and one to an edge."""
    found = [(item, at_top) for item, at_top in edges if is_page_number(item.title)]
    on_edge = Counter((item.page, at_top) for item, at_top in found if not item.title.isdigit())
    return {
        item.index
        for item, at_top in found
        if item.lines == 1
        and (
            not _CODE.match(item.title)
            or (on_edge[item.page, at_top] == 1 and item.size <= 1.35 * document.body_size)
        )
    }


def _page_offset(edges: list[Item]) -> int | None:
    """Printed number minus page of the file, where numbers at the edge grow with the pages."""
    votes: Counter[int] = Counter()
    for item in edges:
        votes.update({int(number) - item.page for number in _END_NUMBERS.findall(item.title)})
    offset, count = votes.most_common(1)[0] if votes else (0, 0)
    return offset if count >= MIN_NUMBERED else None


def _key(item: Item, document: Document, offset: int | None) -> str:
    """What repeats: the text without numbers; of large text only without the page's number.

    `Chapter 3` in large type is a title, but `1 Introduction 12` on page 12 a running head.
    """
    if item.size <= 1.12 * document.body_size:
        return without_numbers(item.title)
    if offset is None:
        return item.title.lower()
    return re.sub(rf"^{item.page + offset}\b|\b{item.page + offset}$", "#", item.title.lower())


def _edge_items(page: list[Item], settings: StructureSettings) -> list[tuple[Item, bool]]:
    """The outermost blocks of a page, with whether they stand at its top."""
    texts = sorted((item for item in page if item.text and item.upright), key=lambda i: i.y0)
    depth = settings.furniture_depth
    top = [item for item in texts[: depth + 2] if item.y1 < settings.furniture_band]
    bottom = [item for item in texts[-depth - 2 :] if item.y0 > 1 - settings.furniture_band]
    return [(item, True) for item in top if item.lines <= depth] + [
        (item, False) for item in bottom if item.lines <= depth
    ]


def _slot(item: Item, at_top: bool) -> tuple[int, float, bool]:
    """Place and size; running heads of a document share them."""
    edge = item.y0 if at_top else item.y1
    return round(edge * 100), item.size, at_top


def _is_modest(item: Item, document: Document) -> bool:
    """Chapter titles that repeat are larger than the text; running heads are not."""
    return item.size <= document.body_size * 1.35 or (item.lines == 1 and item.y1 < 0.07)
