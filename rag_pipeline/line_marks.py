"""What the start or end of a line gives away: bullets, enumerators, leaders, numbering and caption
words.

The one vocabulary of parsing, structure and chunking. Words are alternatives for a regular
expression, lower case; match with `re.IGNORECASE`.
"""

from __future__ import annotations

import re

BULLETS = "•◦▪▫●○■□◆◇▶►▸➢➔→✓✔❖‣⁃∙·※★☆ㆍ"
"""Characters that are bullets wherever they begin a line."""
DASHES = r"\-–—*+"
"""Characters that are bullets only before white space, for a character class."""
CIRCLED = "①-⑳❶-❿㉠-㉻"
"""Ranges of circled numbers, letters and syllables, for a character class."""
STEP_WORDS = "step|schritt|étape|paso|passo|단계|步骤|手順"
PART_WORDS = "part|teil|partie|parte|deel|del|часть|bölüm"
CHAPTER_WORDS = (
    "chapter|kapitel|chapitre|cap[íi]tulo|capitolo|hoofdstuk|kapittel|rozdzia[łl]|глава|luku"
)
APPENDIX_WORDS = (
    "appendix|anhang|annexe?|ap[ée]ndice|appendice|anexo|allegato|bijlage|bilaga|приложение"
)
EAST_ASIAN_APPENDIX_WORDS = "付録|附録|附录|부록"
SECTION_WORDS = "section|abschnitt|secci[óo]n|sezione|§"
TABLE_CAPTION_WORDS = "tab(?:le)?s?\\.?|tabelle|tableau|tabla|tabella|表|표"
CAPTION_WORDS = (
    "fig(?:ure)?s?\\.?|abb(?:ildung)?\\.?|beispiel|example|listing|figura|equation|eq\\.|chart"
    "|plate|exhibit|diagram|bild|photo|map|box|図|图|圖|그림|예제|例|示例|사진|写真"
    f"|{TABLE_CAPTION_WORDS}"
)
HAN_NUMBER = "0-9０-９一二三四五六七八九十百"
"""Digits and numerals of Han characters, for a character class."""

BULLET = re.compile(rf"^(?:[{BULLETS}]|[{DASHES}o](?=\s))\s*")
ENUMERATOR = re.compile(
    rf"^(?:(?P<word>(?:{STEP_WORDS})\s*\d+)\b"
    r"|\(?(?P<label>\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)](?=\s|$)"
    rf"|(?P<circled>[{CIRCLED}])|(?P<hangul>[가-하])[.)](?=\s))",
    re.IGNORECASE,
)
"""`1.`, `a)`, `(iv)`, `①`, `가.` or `Step 3` at the start of a line."""
_LEADER = re.compile(r"(?:\.\s?){4,}|(?:…\s?){2,}|(?:·\s?){4,}|_{6,}")
_LEADER_END = re.compile(
    r"(?:(?:\.\s?){3,}|…\s?|(?:·\s?){4,}|_{4,})\s*(?:[\divxlcA-Z-]*|-\s?\d+\s?-)$"
)


def starts_with_bullet(text: str) -> bool:
    """Is the first character a bullet, or a dash followed by space?

    >>> starts_with_bullet("• item"), starts_with_bullet("- item"), starts_with_bullet("-5 V")
    (True, True, False)
    """
    return bool(BULLET.match(text)) and len(text) > 1


def without_bullet(text: str) -> str:
    """Return the text without the bullet it begins with, unless nothing would be left.

    >>> without_bullet("• oil"), without_bullet("3. Turn"), without_bullet("•")
    ('oil', '3. Turn', '•')
    """
    return BULLET.sub("", text, count=1) or text


def starts_with_number(text: str) -> bool:
    """Does the line begin with `1.`, `a)`, `(iv)`, `①` or `Step 3`?

    >>> starts_with_number("3. Turn"), starts_with_number("3.2 Turning")
    (True, False)
    """
    return bool(ENUMERATOR.match(text))


def list_marker(text: str) -> str:
    """Kind of the marker that a text begins with: `bullet`, `number`, `letter` or nothing.

    >>> list_marker("• oil"), list_marker("3. Turn"), list_marker("a) first"), list_marker("Text")
    ('bullet', 'number', 'letter', '')
    """
    if starts_with_bullet(text):
        return "bullet"
    match = ENUMERATOR.match(text)
    if not match:
        return ""
    return "letter" if (match["label"] or "").isalpha() or match["hangul"] else "number"


def label_value(text: str) -> int | None:
    """The number that an enumerator stands for.

    >>> label_value("3. Turn"), label_value("b) Pull"), label_value("Step 2 Push")
    (3, 2, 2)
    """
    match = ENUMERATOR.match(text)
    if not match:
        return None
    if digits := re.search(r"\d+", match.group()):
        return int(digits.group())
    if label := match["label"]:
        return ord(label.lower()) - ord("a") + 1 if len(label) == 1 else None
    if circled := match["circled"]:
        return ord(circled) - ord("①") + 1 if circled <= "⑳" else None
    return None


def has_leader(text: str) -> bool:
    """Does a line end with dots up to a page number, as entries of a contents page do?

    >>> has_leader("1.2 Safety . . . . . . . 7"), has_leader("wait ...")
    (True, False)
    """
    # The expressions walk the whole line; most lines can be told at a glance.
    if not (".." in text or ". ." in text or "…" in text or "·" in text or "___" in text):
        return False
    return bool(_LEADER.search(text)) and bool(_LEADER_END.search(text))
