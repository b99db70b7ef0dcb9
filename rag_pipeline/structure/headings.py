"""Which blocks are headings: by size, weight, capitals, numbering, spacing and position."""

from __future__ import annotations

import re

from rag_pipeline.settings import StructureSettings
from rag_pipeline.structure.contents import is_contents_title
from rag_pipeline.structure.items import Document, Item
from rag_pipeline.structure.numbering import parse_numbering

_CAPTION = re.compile(
    r"^(?:fig(?:ure)?s?\.?|tab(?:le)?s?\.?|abb(?:ildung)?\.?|tabelle|beispiel|example|listing|tableau"
    r"|figura|tabla|equation|eq\.|chart|plate|exhibit|diagram|bild|"
    r"図|表|图|圖|그림|표|예제|例|示例|사진|写真)\s*[A-Z]?[.\-]?\s*\d+(?:[.\-–]\d+)*",
    re.IGNORECASE,
)
_ADMONITION = re.compile(
    r"^[\W_]*(?:warning|caution|danger|notice|note|important|attention|tip|hint|warnung|vorsicht"
    r"|gefahr|hinweis|achtung|wichtig|tipp|anmerkung|avertissement|remarque|advertencia|precaución"
    r"|nota|avviso|attenzione|경고|주의|위험|참고|알림|중요|警告|注意|危険|危险|重要|注記|注|ヒント"
    r"|メモ|提示|小心|備考)(?:[\s!:.：！\]—–-]|$)",
    re.IGNORECASE,
)
_LETTERS = re.compile(r"[^\W\d_]")
_NO_HEADING_END = ".,;、，。；"


def is_caption(text: str) -> bool:
    """Does it begin like the caption of a figure or table?

    >>> is_caption("Figure 3-1. Oil filter"), is_caption("표 2 오류 코드"), is_caption("Figures")
    (True, True, False)
    """
    return bool(_CAPTION.match(text))


def is_admonition(text: str) -> bool:
    """Does it begin with a signal word?

    >>> is_admonition("WARNING: hot"), is_admonition("주의! 뜨거움"), is_admonition("Notes on use")
    (True, True, False)
    """
    return bool(_ADMONITION.match(text))


def is_capitals(text: str) -> bool:
    """Is every letter of a cased script a capital?

    >>> is_capitals("SAFETY 1"), is_capitals("Safety"), is_capitals("안전")
    (True, False, False)
    """
    return text.upper() == text and text.lower() != text


def mark_headings(document: Document, settings: StructureSettings) -> None:
    """Give headings their role; levels come later."""
    for item in document.undecided():
        if item.kind not in ("text", "code") or not item.title or not item.upright:
            continue
        item.numbering = parse_numbering(item.title)
        if reason := _heading_reason(item, document, settings):
            item.decide("heading", f"heading: {reason}")


def _heading_reason(item: Item, document: Document, settings: StructureSettings) -> str | None:
    title = item.title
    if len(title) > settings.heading_max_characters or item.lines > settings.heading_max_lines:
        return None
    if not _LETTERS.search(title) or is_caption(title):
        return None
    if is_admonition(title) and item.size < document.body_size * settings.heading_large:
        return None
    body = document.body_size or item.size or 1.0
    ratio = item.size / body
    bold = item.bold and not document.body_bold
    numbered = item.numbering is not None
    if title[-1] in _NO_HEADING_END and not (numbered and ratio >= settings.heading_large):
        if ratio < settings.heading_very_large:
            return None
    if is_contents_title(title) and (ratio >= 1 or bold):
        return "title of a contents page"
    if ratio >= settings.heading_large and not item.monospace:
        return f"{item.size:g} pt over {body:g} pt text"
    if bold and ratio >= settings.heading_bold_min and not item.monospace:
        if title[-1] in ":：" and not numbered:
            return None
        return "bold"
    if numbered and item.numbering and item.lines == 1:
        if item.numbering.is_worded and len(title) < 100 and ratio >= 1:
            return "numbered by a word"
    return None
