"""Words that give a block away: captions, signal words of warnings and notes, capitals."""

from __future__ import annotations

import re

from rag_pipeline.line_marks import (
    APPENDIX_WORDS,
    CAPTION_WORDS,
    CHAPTER_WORDS,
    EAST_ASIAN_APPENDIX_WORDS,
    HAN_NUMBER,
    PART_WORDS,
    SECTION_WORDS,
)

_CAPTION = re.compile(
    rf"^(?:{CAPTION_WORDS})\s*[A-Z]{{0,2}}[.\-]?\s*\d+(?:[.\-–]\d+)*(?:[.:)：|—–-]|\s|$)",
    re.IGNORECASE,
)
_SIGNAL = (
    r"warnings?|cautions?|danger|notice|notes?|important|attention|tips?|hints?|warnung|vorsicht"
    r"|gefahr|hinweise?|achtung|wichtig|tipps?|anmerkung|avertissement|remarque"
    r"|advertencia|precaución|peligro|nota|avviso|attenzione|pericolo|waarschuwing|opmerking"
    r"|경고|주의|위험|참고|알림|중요|작은 ?정보|팁|비고|警告|注意|危険|危险|重要|注記|注|ヒント"
    r"|メモ|提示|小心|備考|小技巧|贴士|说明|補足"
)
_SIGNAL_ALONE = re.compile(rf"^[\W_]*(?:{_SIGNAL})[\W_]*$", re.IGNORECASE)
_SIGNAL_START = re.compile(rf"^[\W_]*(?:{_SIGNAL})\s*[!:：！\]—–]", re.IGNORECASE)
_SIGNAL_CAPITALS = re.compile(
    r"^[\W_]*(?:WARNING|CAUTION|DANGER|NOTICE|NOTE|IMPORTANT|ATTENTION|TIP|WARNUNG|VORSICHT|GEFAHR"
    r"|HINWEIS|ACHTUNG|AVERTISSEMENT|ADVERTENCIA|ATTENZIONE)\b[.\s]"
)


def is_caption(text: str) -> bool:
    """Does it begin like the caption of a figure or table?

    >>> is_caption("Figure 3-1. Filter"), is_caption("표 2 오류"), is_caption("Figures")
    (True, True, False)
    """
    return bool(_CAPTION.match(text))


def is_signal_word(text: str) -> bool:
    """Is it a signal word alone, as in the title of a warning box?

    >>> is_signal_word("Anmerkung"), is_signal_word("주의!"), is_signal_word("Note to packagers")
    (True, True, False)
    """
    return bool(_SIGNAL_ALONE.match(text))


def is_admonition(text: str, bold_lead: str = "") -> bool:
    """Does it begin with a signal word that stands out: before a colon, in capitals, or bold?

    >>> is_admonition("WARNING: hot"), is_admonition("주의! 뜨거움"), is_admonition("Note that x")
    (True, True, False)
    >>> is_admonition("Note Keep this side up", bold_lead="Note")
    True
    """
    first = text.split("\n", 1)[0]
    if is_signal_word(first) or _SIGNAL_START.match(text) or _SIGNAL_CAPITALS.match(text):
        return True
    return bool(bold_lead) and is_signal_word(bold_lead)


def is_capitals(text: str) -> bool:
    """Is every letter of a cased script a capital?

    >>> is_capitals("SAFETY 1"), is_capitals("Safety"), is_capitals("안전")
    (True, False, False)
    """
    return text.upper() == text and text.lower() != text


_NUMBER_WORDS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty"
).split()
_SPELLED = re.compile(
    rf"^(?:(?:chapter|part|appendix|kapitel)\s+)?(?:{'|'.join(_NUMBER_WORDS)})"
    rf"(?:[-\s]?(?:{'|'.join(_NUMBER_WORDS[:9])}))?$",
    re.IGNORECASE,
)
_LABEL = re.compile(
    rf"^(?:(?:{CHAPTER_WORDS}|{APPENDIX_WORDS}|{EAST_ASIAN_APPENDIX_WORDS}|{PART_WORDS}"
    rf"|{SECTION_WORDS}|module|unit|lesson)\s*)?"
    rf"(?:\d{{1,3}}|[IVXLC]{{1,6}}|[A-Z])[.:]?$|^(?:第\s*[{HAN_NUMBER}]+\s*[部編篇章]"
    r"|제\s*\d+\s*[부편장])$",
    re.IGNORECASE,
)


_LABEL_WORD = re.compile(
    rf"^(?:{CHAPTER_WORDS}|{APPENDIX_WORDS}|{PART_WORDS}|{SECTION_WORDS})$", re.IGNORECASE
)


def is_label_word(text: str) -> bool:
    """Is it the word of a chapter's label alone, whose number stands below or beside it?

    >>> is_label_word("Chapter"), is_label_word("Chapter 4")
    (True, False)
    """
    return bool(_LABEL_WORD.match(text))


def is_heading_label(text: str) -> bool:
    """Is it a chapter's number that stands above the title?

    >>> is_heading_label("Chapter 4"), is_heading_label("제 4 장"), is_heading_label("B")
    (True, True, True)
    >>> is_heading_label("TWENTY-ONE"), is_heading_label("Chapter 4 Safety")
    (True, False)
    """
    return bool(_LABEL.match(text)) or is_spelled_label(text)


def is_spelled_label(text: str) -> bool:
    """Is it a number in words, as some styles print above a chapter's title?

    >>> is_spelled_label("CHAPTER ONE"), is_spelled_label("Chapter 1")
    (True, False)
    """
    return bool(_SPELLED.match(text))
