"""Which blocks are headings: by size, weight, capitals, numbering, spacing and position."""

from __future__ import annotations

import re
from collections import Counter

from rag_pipeline.line_marks import list_marker, starts_with_bullet
from rag_pipeline.settings import StructureSettings
from rag_pipeline.structure.headings.contents_pages import is_contents_title
from rag_pipeline.structure.headings.numbering import parse_numbering
from rag_pipeline.structure.items import Document, Item
from rag_pipeline.structure.signals import (
    is_admonition,
    is_capitals,
    is_caption,
    is_heading_label,
    is_signal_word,
)

_WORD = re.compile(r"[^\W\d_]{3}|[\u3040-\u9fff\uac00-\ud7a3]{2}")
_LETTERS = re.compile(r"[^\W\d_]")
_ADDRESS = re.compile(r"^(?:https?://|www\.|ftp://)|^\S+@\S+\.\w+$", re.IGNORECASE)
_SENTENCE_END = ".,;、，。；"


def mark_headings(document: Document, settings: StructureSettings) -> None:
    """Give headings their role; levels come later.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> explain("{14b} Oil pump", "~")
    ['heading: 14 pt over 10 pt text; level 1: style 14 pt bold']
    """
    edges = _left_edges(document)
    for at, item in enumerate(document.items):
        if item.role or not item.title or not item.upright:
            continue
        item.numbering = parse_numbering(item.title)
        if item.level_hint is not None:
            item.decide("heading", "heading: the file itself says so")
            continue
        if not _stands_out(item, document, settings):
            continue
        if not _may_be_heading(item, document, settings):
            continue
        reason = _reason(item, at, document, settings, edges)
        if reason:
            item.decide("heading", f"heading: {reason}")


def _left_edges(document: Document) -> set[int]:
    """Left edges (in 1/200 of the width) that body text often has, for definition lists."""
    counts: Counter[int] = Counter()
    for item in document.items:
        if not item.role and item.kind == "text" and abs(item.size - document.body_size) < 0.6:
            counts[round(item.x0 * 200)] += len(item.title)
    total = sum(counts.values())
    return {edge for edge, count in counts.items() if count > 0.12 * total}


def _stands_out(item: Item, document: Document, settings: StructureSettings) -> bool:
    """Has it anything that `_reason` could give? Cheap: most blocks are plain text."""
    if item.bold and not document.body_bold:
        return True
    if item.size / (document.body_size or item.size or 1.0) >= settings.heading_large:
        return True
    if item.numbering is not None and item.numbering.is_worded:
        return True
    return is_contents_title(item.title)


def _may_be_heading(item: Item, document: Document, settings: StructureSettings) -> bool:
    """What no heading is: long text, captions, warnings, list items, addresses, formulas."""
    title = item.title
    if len(title) > settings.heading_max_characters or item.lines > settings.heading_max_lines:
        return False
    if is_caption(title) or is_signal_word(title) or _ADDRESS.match(title):
        return False
    large = item.size >= settings.heading_large * document.body_size
    if starts_with_bullet(title) and not (item.bold and (large or not document.body_bold)):
        return False
    if not _LETTERS.search(title):
        return is_heading_label(title) and item.size > document.body_size * 1.3
    if is_admonition(item.text, item.bold_lead) and not item.numbering:
        return False
    if title.count(",") >= 3 and item.numbering is None and item.size < 1.3 * document.body_size:
        return False  # authors, addresses
    bare = title[item.numbering.length :] if item.numbering else title
    letters = len(_LETTERS.findall(bare))
    if item.numbering and not item.numbering.is_worded and letters < 2:
        return False  # 1.7X is a quantity
    code = item.size >= settings.heading_very_large * document.body_size and title[0].isalpha()
    return code or letters >= settings.heading_min_letters * len(bare.replace(" ", ""))


def _reason(
    item: Item, at: int, document: Document, settings: StructureSettings, edges: set[int]
) -> str | None:
    """Why the block is a heading, or None."""
    body = document.body_size or item.size or 1.0
    ratio = item.size / body
    bold = item.bold and not document.body_bold
    if is_contents_title(item.title) and (ratio >= 1 or bold):
        return "title of a contents page"
    large = ratio >= settings.heading_large
    if item.kind == "code" and ratio < settings.heading_code:
        return None
    if _ends_like_sentence(item, ratio, settings):
        return None
    if large:
        return f"{item.size:g} pt over {body:g} pt text"
    if item.monospace:
        return None
    if bold and ratio >= settings.heading_bold_min:
        return _bold_reason(item, at, document, settings, edges)
    if item.numbering and item.numbering.is_worded and item.lines == 1 and ratio >= 1:
        return "numbered by a word" if len(item.title) < 90 and item.y1 > 0.1 else None
    return None


def _ends_like_sentence(item: Item, ratio: float, settings: StructureSettings) -> bool:
    if item.title[-1] in ":：" and len(item.title) > settings.heading_short:
        return True
    if item.title[-1] not in _SENTENCE_END or item.title.endswith("..."):
        return False
    if item.numbering and (ratio >= settings.heading_large or item.numbering.depth > 1):
        return False
    if ratio >= settings.heading_very_large and item.lines < 3:
        return False
    return item.title[-1] != "." or len(item.title) > settings.heading_short or ratio < 1.2


def _bold_reason(
    item: Item, at: int, document: Document, settings: StructureSettings, edges: set[int]
) -> str | None:
    """A bold line of about the text's size: a heading if it stands alone and looks like a title."""
    title = item.title
    numbered = item.numbering is not None
    if item.bold_lead and item.bold_lead != item.title:
        return None  # a bold beginning
    at_edge = item.y1 < settings.edge_band or item.y0 > 1 - settings.edge_band
    if at_edge and document.page_count <= settings.edge_band_pages:
        return None  # a running head cannot be told by repetition
    following = next_item(document, at)
    if following is not None and _same_row(item, following) and not _heads_side(item, at, document):
        return None
    if numbered:
        return "bold and numbered"
    own_font = document.has_own_font(item)
    if title[-1] in ":：" or (not own_font and (title[0] in "([{-–<\"'\\/" or title[:1].islower())):
        return None
    if len(title) > settings.heading_bold_characters or item.lines > 2:
        return None
    if not _WORD.search(title):
        return None
    if starts_with_bullet(title) and (following is None or starts_with_bullet(following.title)):
        return None  # an item of a list
    if following is None or (not own_font and _is_term(item, following, edges)):
        return None
    if item.size < document.body_size * 0.97 and not own_font and not _stands_off(item, document):
        return None
    return "bold capitals" if is_capitals(title) else "bold line"


def next_item(document: Document, at: int) -> Item | None:
    """The block that is read after item `at`, furniture and figures aside."""
    for item in document.items[at + 1 : at + 8]:
        if item.role not in ("page_header", "page_footer", "figure") and item.title:
            return item
    return None


def _stands_off(item: Item, document: Document) -> bool:
    """Is there more room above the line than its own height?"""
    before = document.items[item.index - 1] if item.index else None
    if before is None or before.page != item.page or before.y0 > item.y0:
        return True
    return (item.y0 - before.y1) * item.page_height > 0.9 * item.size


def _same_row(a: Item, b: Item) -> bool:
    """Side by side; boxes of a font with tall letters also overlap one above the other."""
    beside = a.x1 <= b.x0 or b.x1 <= a.x0
    overlap = min(a.y1, b.y1) - max(a.y0, b.y0)
    return a.page == b.page and beside and overlap > 0.5 * (a.y1 - a.y0)


def _heads_side(item: Item, at: int, document: Document) -> bool:
    """Do several blocks stand on its right: is it a heading beside its text, not a label?"""
    beside = document.items[at + 1 : at + 3]
    return len(beside) == 2 and all(
        one.page == item.page and one.x0 >= item.x1 and one.y0 >= item.y0 - 0.01 for one in beside
    )


def _is_term(item: Item, following: Item, edges: set[int]) -> bool:
    """A term of a definition list: what follows stands further in than the text usually does."""
    if following.page != item.page or following.x0 < item.x0 + 0.012:
        return False
    title = following.title
    if following.role or starts_with_bullet(title) or title[0].isdigit() or list_marker(title):
        return False
    return round(item.x0 * 200) in edges or round(following.x0 * 200) not in edges


def begins_page(item: Item, document: Document) -> bool:
    """No text stands above it on its page, running heads aside."""
    return not any(
        other.y1 <= item.y0 + 0.002 and other.title
        for other in document.by_page[item.page]
        if other is not item and other.role not in ("page_header", "page_footer")
    )


def mark_styled_lines(document: Document, settings: StructureSettings) -> None:
    """Single lines in a colour, font, slant or capitals of their own that stand off like titles.

    A style counts if most blocks in it are such lines, and there are several: then it is a heading
    style of the document, though it is neither large nor bold.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> oil, air, fuel = (["~", "~", f"{{ig}} The {one} pump", "~", "---"] for one in "abc")
    >>> explain(*oil, *air, *fuel)[0]
    'heading: line in a style that only titles have; level 1: style 10 pt'
    """
    groups: dict[tuple[object, ...], list[tuple[Item, bool]]] = {}
    for at, item in enumerate(document.items):
        if item.role in ("page_header", "page_footer", "contents_entry", "table", "figure"):
            continue
        short = item.kind == "text" and item.title and item.lines <= 3
        if short and _own_style(item, document):
            key = (item.size, item.font, item.color, item.italic, is_capitals(item.title))
            groups.setdefault(key, []).append((item, _like_title(item, at, document, settings)))
    for members in groups.values():
        titles = [item for item, fits in members if fits and not item.role]
        if len(titles) < settings.styled_min or len(titles) < 0.75 * len(members):
            continue
        if 2 * sum(_has_longer_text(item, document) for item in titles) < len(titles):
            continue
        if 2 * sum(begins_page(item, document) for item in titles) > len(titles):
            continue  # running heads
        for item in titles:
            item.decide("heading", "heading: line in a style that only titles have")


def _own_style(item: Item, document: Document) -> bool:
    if item.monospace or not item.upright or not document.body_size:
        return False
    if item.bold and not document.body_bold:
        return False
    ratio = item.size / document.body_size
    coloured = item.color not in (0, document.body_color) and not _is_grey(item.color)
    shouted = is_capitals(item.title) and len(item.title) > 5 and "_" not in item.title
    different = coloured or item.italic or shouted or document.has_own_font(item)
    return 0.95 <= ratio <= 1.08 and different


def _is_grey(color: int) -> bool:
    red, green, blue = color >> 16, color >> 8 & 255, color & 255
    return max(red, green, blue) - min(red, green, blue) < 24


def _like_title(item: Item, at: int, document: Document, settings: StructureSettings) -> bool:
    """One short line with room above that text follows, written like a title."""
    title = item.title[item.numbering.length :] if item.numbering else item.title
    if len(title) > settings.heading_max_characters:
        return False
    if (
        not title[:1].isalnum()
        or title[:1].islower()
        or title[-1:] in _SENTENCE_END + ":：!"
        or not _WORD.search(title)
        or is_caption(title)
    ):
        return False
    if not _may_be_heading(item, document, settings) or not _stands_off(item, document):
        return False
    following = next_item(document, at)
    if following is None or _same_row(item, following):
        return False
    return following.x0 > item.x0 - 0.02 or _spans(following, item)


def _has_longer_text(item: Item, document: Document) -> bool:
    """Is what follows a paragraph, not one short line after another?"""
    following = next_item(document, item.index)
    return following is not None and (following.lines > 1 or len(following.title) > len(item.title))


def _spans(wide: Item, narrow: Item) -> bool:
    """Does the text below reach out on both sides, as below a centred title?"""
    return wide.x0 < narrow.x0 and wide.x1 > narrow.x1
