"""Headings that their surroundings give away as something else: lines over titles, labels, bylines.

Each rule takes back a role that size or weight alone has given. Headings that the file itself names
are left alone.
"""

from __future__ import annotations

import re

from rag_pipeline.settings import StructureSettings
from rag_pipeline.structure.headings.candidates import begins_page, next_item
from rag_pipeline.structure.headings.contents_pages import is_contents_title
from rag_pipeline.structure.items import Document, Item
from rag_pipeline.structure.signals import is_caption

_ABSTRACT = re.compile(
    r"^\W*(?:abstract|zusammenfassung|résumé|resumen|resumo|초록|국문\s*초록|要旨|抄録|摘要)\W*$",
    re.IGNORECASE,
)
MAX_CAPTION_LABEL = 20
"""Characters of a caption that is nothing but its label: `Diagram 4`."""
SAME_EDGE = 0.02
"""Share of the page's width by which the left edges of two aligned lines may differ."""


def drop_misleading(document: Document, settings: StructureSettings) -> None:
    """Take back headings that are none, going by what stands around them."""
    drop_kickers(document, settings)
    drop_repeated(document)
    drop_caption_texts(document)
    drop_labels_of_figures(document, settings)
    drop_bylines(document)


def drop_kickers(document: Document, settings: StructureSettings) -> None:
    """A small line over the title at the top of a page, as slides have it, names the series.

    `Overview` in 11 points right above `Evaluation of the model` in 17 points: what a heading
    stands over is smaller than it, so the small one is no heading.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> explain("{11b} Overview", "{17b} Evaluation", "~", "~")[0]
    'paragraph: a small line over a title'
    """
    for at, item in enumerate(document.items):
        if not _is_plain_heading(item) or item.lines > 1 or is_contents_title(item.title):
            continue
        title = next_item(document, at)
        if title is None or title.role != "heading" or title.page != item.page:
            continue
        gap = (title.y0 - item.y1) * item.page_height
        near = -0.5 * item.size < gap < settings.kicker_distance * title.size
        aligned = abs(title.x0 - item.x0) < SAME_EDGE or _is_centred(item, title)
        larger = title.size >= settings.kicker_size * item.size
        if larger and near and aligned and begins_page(item, document):
            item.decide("paragraph", "paragraph: a small line over a title")


def drop_repeated(document: Document) -> None:
    """The heading right above once more is the title of a table or list.

    `Version history` as a heading, then `Version history` over the table of versions.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> explain("{14b} Versions", "{14b} Versions", "{t} 1 2", "~")[1]
    'paragraph: the heading above again'
    """
    above: Item | None = None
    for item in document.items:
        if item.role in ("page_header", "page_footer", "absorbed") or not item.title:
            continue
        same = above is not None and above.title.casefold() == item.title.casefold()
        if above is not None and same and above.page == item.page and _is_plain_heading(item):
            item.decide("paragraph", "paragraph: the heading above again")
        above = item if item.role == "heading" else None


def drop_caption_texts(document: Document) -> None:
    """A bold line beside `Diagram 4`, or in one block with it, is the text of its caption.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> explain("{14b} Oil", "~", "{=0.5} Figure 4", "{b =0.5 @0.22} The oil pump", "~")[2]
    'caption: beside the label of one'
    """
    for page in document.by_page.values():
        labels = [item for item in page if item.lines == 1 and _is_caption_label(item.title)]
        for item in page:
            if not _is_plain_heading(item):
                continue
            inside = item.lines > 1 and any(map(_is_caption_label, item.text.split("\n")))
            if inside or any(_is_right_of(item, label) for label in labels):
                item.decide("caption", "caption: beside the label of one")


def drop_labels_of_figures(document: Document, settings: StructureSettings) -> None:
    """Text over a picture in about the size of the text is a label of a chart or drawing.

    Titles over pictures (the banner of a chapter) are large or bold.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> explain("{14b} Oil", "~", "{f =0.5} -", "{12 =0.55} Inlet", "~", "~")[-1]
    'paragraph: a label in a figure'
    """
    for page in document.by_page.values():
        figures = [item for item in page if item.kind == "figure"]
        for item in page if figures else ():
            if not _is_plain_heading(item) or item.bold:
                continue
            small = item.size < settings.label_size * document.body_size
            if small and any(_overlaps(item, figure) for figure in figures):
                item.decide("paragraph", "paragraph: a label in a figure")


def drop_bylines(document: Document) -> None:
    """Lines between a paper's title and its abstract are authors and their institutions.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> explain("{18b} Flow in pumps", "{12b} Ann Example", "{12b} Abstract", "~")[1]
    'paragraph: between the title and the abstract'
    """
    for page in document.by_page.values():
        headings = [item for item in page if item.role == "heading"]
        at = next((n for n, item in enumerate(headings) if _ABSTRACT.match(item.title)), 0)
        if at < 2:
            continue
        largest = max(item.size for item in headings[:at])
        for item in headings[:at]:
            if _is_plain_heading(item) and item.size < largest:
                item.decide("paragraph", "paragraph: between the title and the abstract")


def _is_caption_label(text: str) -> bool:
    return len(text) <= MAX_CAPTION_LABEL and is_caption(text)


def _is_plain_heading(item: Item) -> bool:
    """A heading by its looks only: neither numbered nor named by the file."""
    return item.role == "heading" and item.numbering is None and item.level_hint is None


def _is_centred(item: Item, title: Item) -> bool:
    return abs((item.x0 + item.x1) - (title.x0 + title.x1)) < SAME_EDGE


def _is_right_of(item: Item, label: Item) -> bool:
    middle = (label.y0 + label.y1) / 2
    return item.y0 < middle < item.y1 and 0 <= item.x0 - label.x1 < 0.15


def _overlaps(item: Item, figure: Item) -> bool:
    middle = (item.y0 + item.y1) / 2
    return figure.y0 < middle < figure.y1 and item.x0 < figure.x1 and figure.x0 < item.x1
