"""The document's title and the rest of its cover: what stands there is nobody's parent."""

from __future__ import annotations

from rag_pipeline.settings import StructureSettings
from rag_pipeline.structure.headings.contents_pages import is_contents_title
from rag_pipeline.structure.items import Document, Item


def mark_cover(document: Document, settings: StructureSettings) -> None:
    """Find the title; other headings of a cover page (author, version, date) are paragraphs.

    The title is the largest heading of the first pages, where it is larger than all that come
    later or stands before all other text. A page is a cover if it holds little running text.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> text = ["---", "{14b} Oil", "~", *["---", "~"] * 8]
    >>> explain("{30b} Pump QV", "{12b} Ann Example", *text)[:2]
    ['title: the largest text of the first page', 'paragraph: on the cover, beside the title']
    """
    if document.page_count < 2:
        return
    headings = [item for item in document.items if item.role == "heading"]
    if any(item.given for item in headings):
        return  # the format says what each heading is
    early = [
        item
        for item in headings
        if item.page <= settings.cover_pages and not is_contents_title(item.title)
    ]
    if not early:
        return
    first_page = early[0].page
    candidates = [
        item
        for item in early
        if item.page == first_page and item.numbering is None and item.listed is None
    ]
    if not candidates:
        return
    title = max(candidates, key=lambda item: item.size)
    later = [item.size for item in headings if item.page > title.page]
    long = document.page_count >= settings.cover_min_pages
    is_cover = long and _is_cover(document.by_page[title.page])
    larger = not later or title.size > 1.05 * max(later)
    alone = title is headings[0] and not any(
        (item.size, item.bold, item.font) == (title.size, title.bold, title.font)
        for item in headings[1:]
    )
    if not (is_cover or larger or (alone and len(headings) >= settings.title_min_headings)):
        return
    title.decide("title", "title: the largest text of the first page")
    title.level = 1
    for page in range(1, title.page + 1):
        if page == title.page and not is_cover:
            continue
        for item in document.by_page.get(page, []):
            if item.role != "heading" or item.level_hint is not None:
                continue
            if not is_contents_title(item.title):
                item.decide("paragraph", "paragraph: on the cover, beside the title")
    _settle_repeated_title(document, title, settings)


def _is_cover(page: list[Item]) -> bool:
    """Little running text, and no numbered heading."""
    running = sum(
        len(item.title)
        for item in page
        if item.role not in ("heading", "page_header", "page_footer")
    )
    numbered = any(item.role == "heading" and item.numbering for item in page)
    entries = any(item.role == "contents_entry" for item in page)
    return running < 600 and not numbered and not entries


def _settle_repeated_title(document: Document, title: Item, settings: StructureSettings) -> None:
    """Of a title that comes again on the next pages only one stays.

    That is the one right above the text, which becomes the root of all that follows; half titles
    and imprints repeat the one of the cover.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> text = ["{30b} Pump QV", *["~"] * 8, "{14b} Oil", "~", *["---", "~", "~"] * 8]
    >>> explain("{30b} Pump QV", "---", *text)[0]
    'paragraph: the title again'
    """
    wanted = title.title.casefold()
    for page in range(title.page, title.page + settings.cover_pages):
        for item in document.by_page.get(page, []):
            if item is title or item.level_hint is not None:
                continue
            if item.role != "heading" or item.title.casefold() != wanted:
                continue
            again = item
            if page > title.page and not _is_cover(document.by_page[page]):
                again, title = title, item
                title.decide("heading", "heading: the title again, above the text")
                document.root = title
            again.level = None
            again.decide("paragraph", "paragraph: the title again")
