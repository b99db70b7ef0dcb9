"""The numbering that a heading begins with: `1.2.3`, `A.1`, `Part II`, `Kapitel 3`, `第1章`.

One small grammar for the languages of manuals. The kind and the depth of a numbering say more about
a heading's level than its looks.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, NamedTuple

from rag_pipeline.line_marks import (
    APPENDIX_WORDS,
    CHAPTER_WORDS,
    EAST_ASIAN_APPENDIX_WORDS,
    HAN_NUMBER,
    PART_WORDS,
    SECTION_WORDS,
)

Kind = Literal["part", "chapter", "appendix", "section", "decimal", "letter", "roman"]

_NUMBER = r"\d{1,3}[A-C]?|[IVXLC]{1,7}|[A-Z]"
_WORDED = re.compile(
    rf"^(?:(?P<part>{PART_WORDS})|(?P<chapter>{CHAPTER_WORDS}|item|module)"
    rf"|(?P<appendix>{APPENDIX_WORDS})|(?P<section>{SECTION_WORDS}))"
    rf"\s+(?P<number>{_NUMBER})(?P<rest>(?:\.\d{{1,3}})*)(?P<end>$|[.:)\s–—-]+)",
    re.IGNORECASE,
)
_APPENDIX_ALONE = re.compile(
    rf"^(?:{APPENDIX_WORDS}|{EAST_ASIAN_APPENDIX_WORDS})\s*$", re.IGNORECASE
)
_EAST_ASIAN = re.compile(
    rf"^(?:第\s*(?P<number>[{HAN_NUMBER}]+)\s*(?P<unit>[部編篇章节節回課条項])"
    rf"|제\s*(?P<number_ko>\d+)\s*(?P<unit_ko>[부편장절항과])"
    rf"|(?P<number_bare>\d+)\s*(?P<unit_bare>[장章])(?=[.\s:]|$)"
    rf"|(?P<appendix>{EAST_ASIAN_APPENDIX_WORDS})\s*(?P<number_app>[A-Z0-9]{{1,2}})(?P<rest>(?:\.\d{{1,3}})*)"
    rf"|(?P<part_ko>파트|パート)\s*(?P<number_part>[IVX0-9]+))[.:：、\s]*"
)
_EAST_ASIAN_FIRST = frozenset("第제付附부파パ")
_UNITS: dict[str, Kind] = {
    **dict.fromkeys("部編篇부편", "part"),
    **dict.fromkeys("章장回課과", "chapter"),
    **dict.fromkeys("节節절条項항", "section"),
}
_DECIMAL = re.compile(
    r"^(?P<number>\d{1,3}(?:\s?\.\s?\d{1,3})+)(?P<end>\.?\)?(?:[\s:–—-]+|(?=[^\W\d])))(?=\S)"
)
_INTEGER = re.compile(r"^(?P<number>\d{1,3})(?P<dot>[.)]?)(?P<space>\s+)(?=\S)")
_LETTERED = re.compile(r"^(?P<letter>[A-Z])(?P<rest>(?:[.\-]\d{1,3})+)\.?(?:[\s:]+)(?=\S)")
_LETTER = re.compile(r"^\(?(?P<letter>[A-Za-z])[.)]\s+(?=\S)")
_ROMAN = re.compile(r"^\(?(?P<roman>[IVXLC]{1,6}|[ivxlc]{1,6})[.)]\s+(?=\S)")


_NOT_LETTERS = re.compile(r"[\W_]+")
_MARKED = 8
"""Characters in which the mark after a letter or Roman number stands."""


class Numbering(NamedTuple):
    """A numbering at the start of a title."""

    kind: Kind
    depth: int
    """1 for `3`, 2 for `3.1` and `A.1`; a word such as Chapter counts as depth 1."""
    label: str
    """The last component, for sequences: `1` of `2.1`, `b`."""
    prefix: str
    """What stands before the last component: `2` of `2.1`; empty at depth 1."""
    length: int
    """Characters that the numbering takes, with the white space after it."""
    is_worded: bool = False
    """A word (Chapter, 第…章) says that this is a heading."""


def parse_numbering(text: str) -> Numbering | None:
    """Read the numbering at the start of a title, or return None.

    >>> parse_numbering("1.2.3 Oil filter")[:4]
    ('decimal', 3, '3', '1.2')
    >>> parse_numbering("PART II")[:4], parse_numbering("第3章 保守")[:4]
    (('part', 1, 'II', ''), ('chapter', 1, '3', ''))
    >>> parse_numbering("Appendix B.2 Codes")[:4], parse_numbering("No number") is None
    (('appendix', 2, '2', 'B'), True)
    """
    text = text.lstrip()
    head = text[:60]
    if not head:
        return None
    first = head[0]
    if first.isdigit():
        return _numeric(head)
    found = _worded(head)
    if not found and first in _EAST_ASIAN_FIRST:
        found = _east_asian(head)
    if not found and any(mark in head[:_MARKED] for mark in ".)-"):
        found = _lettered(head)
    return found


def _numeric(text: str) -> Numbering | None:
    if match := _DECIMAL.match(text):
        parts = re.findall(r"\d+", match["number"])
        if any(part[0] == "0" for part in parts[1:]):  # 16.0 is a measure, 1.05 a decimal fraction
            return None
        return Numbering("decimal", len(parts), parts[-1], ".".join(parts[:-1]), match.end())
    if match := _EAST_ASIAN.match(text):
        return Numbering("chapter", 1, match["number_bare"], "", match.end(), True)
    if (match := _INTEGER.match(text)) and match["number"][0] != "0":
        return Numbering("decimal", 1, match["number"], "", match.end())
    return None


def _worded(text: str) -> Numbering | None:
    if _APPENDIX_ALONE.match(text):
        return Numbering("appendix", 1, "", "", len(text), True)
    match = _WORDED.match(text)
    if not match:
        return None
    number, rest = match["number"], match["rest"]
    if number.isalpha() and not number.isupper():
        return None
    if match.group().lower().startswith(("item", "module")) and not number[0].isdigit():
        return None
    kinds: tuple[Kind, ...] = ("part", "chapter", "appendix", "section")
    kind = next(kind for kind in kinds if match[kind])
    parts = [number, *re.findall(r"\d+", rest)]
    if kind == "section" and len(parts) > 1:
        return Numbering("decimal", len(parts), parts[-1], ".".join(parts[:-1]), match.end(), True)
    return Numbering(kind, len(parts), parts[-1], ".".join(parts[:-1]), match.end(), True)


def _east_asian(text: str) -> Numbering | None:
    match = _EAST_ASIAN.match(text)
    if not match:
        return None
    if match["appendix"]:
        parts = [match["number_app"], *re.findall(r"\d+", match["rest"])]
        prefix = ".".join(parts[:-1])
        return Numbering("appendix", len(parts), parts[-1], prefix, match.end(), True)
    if match["part_ko"]:
        return Numbering("part", 1, match["number_part"], "", match.end(), True)
    unit = match["unit"] or match["unit_ko"]
    number = match["number"] or match["number_ko"]
    return Numbering(_UNITS[unit], 1, number, "", match.end(), True)


def _lettered(text: str) -> Numbering | None:
    if match := _LETTERED.match(text):
        parts = [match["letter"], *re.findall(r"\d+", match["rest"])]
        return Numbering("letter", len(parts), parts[-1], ".".join(parts[:-1]), match.end())
    match = _ROMAN.match(text)
    if match and is_roman(match["roman"].upper()) and match["roman"].upper() not in ("C", "D", "L"):
        return Numbering("roman", 1, match["roman"], "", match.end())
    if match := _LETTER.match(text):
        return Numbering("letter", 1, match["letter"], "", match.end())
    return None


def is_roman(text: str) -> bool:
    """Is it a well-formed Roman number below 100?

    >>> is_roman("XIV"), is_roman("IIX")
    (True, False)
    """
    return bool(text) and bool(re.fullmatch(r"(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})", text))


_ROMAN_DIGITS = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


def roman_value(text: str) -> int:
    """The value of a Roman number below 100 in either case; 0 where it is none.

    >>> roman_value("xiv"), roman_value("XL"), roman_value("mix")
    (14, 40, 0)
    """
    if not is_roman(text.upper()):
        return 0
    values = [_ROMAN_DIGITS[letter] for letter in text.lower()]
    return sum(
        -value if value < following else value
        for value, following in zip(values, [*values[1:], 0], strict=True)
    )


def letters(title: str) -> str:
    """A title reduced to its letters and digits without the numbering, for comparison.

    >>> letters("1.2 Oil filter") == letters("Oil Filter"), letters("3")
    (True, '3')
    """
    text = unicodedata.normalize("NFKC", title).casefold()
    numbering = parse_numbering(title)
    bare = _NOT_LETTERS.sub("", text[numbering.length :]) if numbering else ""
    return bare or _NOT_LETTERS.sub("", text)
