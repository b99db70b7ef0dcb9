"""Headings in pieces: a number above its title, a title broken over lines."""

from __future__ import annotations

from rag_pipeline.structure.headings.contents_pages import is_contents_title
from rag_pipeline.structure.headings.numbering import Kind, Numbering, parse_numbering
from rag_pipeline.structure.items import Document, Item
from rag_pipeline.structure.signals import is_heading_label, is_label_word, is_spelled_label

MAX_LABEL_DISTANCE = 0.2
"""Share of the page's height between a chapter's number and its title."""


def merge_headings(document: Document) -> None:
    """Put the pieces of each heading together; the later pieces are absorbed into the first."""
    headings = [item for item in document.items if item.role == "heading"]
    at = 0
    while at + 1 < len(headings):
        first, second = headings[at], headings[at + 1]
        if _is_label_of(first, second, document):
            _join_label(first, second)
            headings.pop(at)
        elif _goes_on(first, second, document):
            absorb(first, second, "wrapped heading")
            headings.pop(at + 1)
        else:
            at += 1


def _neighbours(first: Item, second: Item, document: Document) -> bool:
    """No other text stands between the two."""
    between = document.items[first.index + 1 : second.index]
    return first.page == second.page and not any(
        item.title and item.role not in ("page_header", "page_footer", "absorbed")
        for item in between
    )


def _is_label_of(first: Item, second: Item, document: Document) -> bool:
    """`Chapter 4` or `B` or `ONE` alone, the title below or beside it."""
    if is_label_word(first.title):
        return is_heading_label(second.title) and _neighbours(first, second, document)
    if not is_heading_label(first.title) or is_heading_label(second.title):
        return False
    return (
        _neighbours(first, second, document)
        and -0.1 < second.y0 - first.y1 < MAX_LABEL_DISTANCE
        and second.numbering is None
    )


def _join_label(label: Item, title: Item) -> None:
    """The title carries on the label's numbering; a number in words is left out of its text.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> for line in explain("{20b} Chapter 4", "{20b} Oil", "~", "~"):
    ...     print(line)
    heading: 20 pt over 10 pt text; its number stands above; level 1: chapter numbering of depth 1
    """
    spelled = is_spelled_label(label.title)
    if title.level_hint is None:
        title.level_hint = label.level_hint
    numbering = parse_numbering(f"{label.title} {title.title}")
    if spelled or numbering is None or numbering.length >= len(f"{label.title} {title.title}"):
        numbering = Numbering("chapter", 1, label.title, "", 0, True)
    elif numbering.kind == "decimal" or label.title.isalpha():
        kind: Kind = "appendix" if label.title.isalpha() else "chapter"
        numbering = Numbering(kind, 1, label.title, "", numbering.length, True)
    title.numbering = numbering
    if spelled:
        label.decide("page_header", "furniture: number in words above a chapter's title")
        return
    joint = " " if is_label_word(label.title) or label.title[-1] in ".:章장部부編편篇" else ". "
    title.text = f"{label.text}{joint}{title.text}"
    title.title = f"{label.title}{joint}{title.title}"
    title.rule += "; its number stands above"
    _cover(title, label)
    label.role = "absorbed"


def _goes_on(first: Item, second: Item, document: Document) -> bool:
    """The same style just below, without a numbering of its own."""
    if second.numbering is not None or second.level_hint is not None:
        return False
    if first.bold != second.bold or abs(first.size - second.size) > 0.04 * first.size:
        return False
    if first.font != second.font or first.color != second.color:
        return False
    if is_contents_title(first.title) or not _neighbours(first, second, document):
        return False
    gap = (second.y0 - first.y1) * first.page_height
    if gap > 0.45 * first.size or second.y0 < first.y0:
        return False
    return _looks_broken(first, second, document.right_edge)


def _looks_broken(first: Item, second: Item, right_edge: float) -> bool:
    """The first line is full, or the second one starts or looks like a continuation."""
    if second.title[:1].islower() or second.title[:1] in "(&/" or first.title[-1] in ",-–—:(&/":
        return True
    width = first.column_x1 - first.column_x0
    centred = abs((first.x0 + first.x1) - (second.x0 + second.x1)) < 0.02 and first.x0 > (
        first.column_x0 + 0.03
    )
    full = first.x1 - first.x0 > 0.8 * width if width > 0 else False
    word = len(second.title.split(" ", 1)[0]) / max(1, len(second.title))
    needed = word * (second.x1 - second.x0) + 0.2 * first.size / first.page_width
    edge = right_edge if first.x1 <= right_edge < first.column_x1 else first.column_x1
    full = full or first.x1 + needed > edge
    hanging = first.numbering is not None and second.x0 > first.x0 + 0.01
    return full or hanging or centred


def absorb(first: Item, second: Item, reason: str) -> None:
    """Append a block's text to another; the block itself leaves the frame.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> explain("{14b} The oil pump and how it is taken out,", "{14b =0.123} and fitted", "~", "~")
    ['heading: 14 pt over 10 pt text; wrapped heading; level 1: style 14 pt bold']
    """
    first.text = f"{first.text}\n{second.text}"
    first.title = f"{first.title} {second.title}"
    first.lines += second.lines
    first.rule += f"; {reason}"
    _cover(first, second)
    second.role = "absorbed"


def _cover(item: Item, other: Item) -> None:
    item.x0, item.y0 = min(item.x0, other.x0), min(item.y0, other.y0)
    item.x1, item.y1 = max(item.x1, other.x1), max(item.y1, other.y1)
