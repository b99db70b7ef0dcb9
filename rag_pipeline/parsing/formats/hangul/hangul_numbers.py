"""Numbers of headings and lists, counted and spelled as Hangul does."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

_LEVEL = re.compile(r"\^(\d+|[nN])")
_SYLLABLES = "".join(
    chr(0xAC00 + (initial * 21 + vowel) * 28)
    for vowel in (0, 4, 8, 13, 18, 20)
    for initial in (0, 2, 3, 5, 6, 7, 9, 11, 12, 14, 15, 16, 17, 18)
)
"""가, 나 … 하, then 거, 너 … 허, 고 …, as Korean offices count (rules of official documents)."""
_JAMO = "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"
_PHONETIC = ("", "일", "이", "삼", "사", "오", "육", "칠", "팔", "구")
_IDEOGRAPHS = ("", "一", "二", "三", "四", "五", "六", "七", "八", "九")
_ROMAN = (
    *((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L")),
    *((40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")),
)
MAX_NUMBER = 4000
"""Beyond it a number is spelled in digits, whatever the form: Roman numerals end there."""


def _roman(number: int) -> str:
    text = ""
    for value, sign in _ROMAN:
        text += sign * (number // value)
        number %= value
    return text


def _of(signs: str) -> Callable[[int], str]:
    """Signs in order, and doubled, tripled … behind the last: a, b, …, z, aa, bb."""
    return lambda number: signs[(number - 1) % len(signs)] * ((number - 1) // len(signs) + 1)


def _block(first: int, count: int) -> Callable[[int], str]:
    """Enclosed signs, which follow one another in Unicode; behind the last, digits in brackets."""
    return lambda number: chr(first + number - 1) if number <= count else f"({number})"


def _tens(digits: tuple[str, ...], ten: str) -> Callable[[int], str]:
    def spelled(number: int) -> str:
        if number > 99:
            return str(number)
        tens, ones = divmod(number, 10)
        return (digits[tens] if tens > 1 else "") + ten * (tens > 0) + digits[ones]

    return spelled


FORMS: dict[str, Callable[[int], str]] = {
    "DIGIT": str,
    "CIRCLED_DIGIT": _block(0x2460, 20),
    "ROMAN_CAPITAL": _roman,
    "ROMAN_SMALL": lambda number: _roman(number).lower(),
    "LATIN_CAPITAL": _of("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    "LATIN_SMALL": _of("abcdefghijklmnopqrstuvwxyz"),
    "CIRCLED_LATIN_CAPITAL": _block(0x24B6, 26),
    "CIRCLED_LATIN_SMALL": _block(0x24D0, 26),
    "HANGUL_SYLLABLE": _of(_SYLLABLES),
    "CIRCLED_HANGUL_SYLLABLE": _block(0x326E, 14),
    "HANGUL_JAMO": _of(_JAMO),
    "CIRCLED_HANGUL_JAMO": _block(0x3260, 14),
    "HANGUL_PHONETIC": _tens(_PHONETIC, "십"),
    "IDEOGRAPH": _tens(_IDEOGRAPHS, "十"),
    "CIRCLED_IDEOGRAPH": _block(0x3280, 10),
    "DECAGON_CIRCLE": _of("갑을병정무기경신임계"),
    "DECAGON_CIRCLE_HANJA": _of("甲乙丙丁戊己庚辛壬癸"),
}
"""Spellings by the name that HWPX gives them, in the order of their codes in HWP 5."""
FORM_NAMES = tuple(FORMS)


@dataclass(frozen=True, slots=True)
class LevelForm:
    """How a level of a numbering is written: `^1.^2` stands for the counts of two levels."""

    pattern: str
    form: str = "DIGIT"
    start: int = 1


@dataclass(slots=True)
class Numberings:
    """All numberings of a document, and how far each has counted."""

    levels: dict[int, list[LevelForm]] = field(default_factory=dict)
    counts: dict[int, list[int]] = field(default_factory=dict)

    def next_mark(self, numbering: int, level: int) -> str:
        """Count one on at a level (from 0) and return the mark; empty where none is defined."""
        forms = self.levels.get(numbering, [])
        if level >= len(forms):
            return ""
        counts = self.counts.setdefault(numbering, [])
        while len(counts) <= level:
            # A level that was passed over counts as its first: 1.1 may come without a 1.
            counts.append(forms[len(counts)].start - (len(counts) == level))
        del counts[level + 1 :]
        counts[level] += 1
        return _LEVEL.sub(
            lambda match: self._spelled(match[1], forms, counts), forms[level].pattern
        )

    @staticmethod
    def _spelled(name: str, forms: list[LevelForm], counts: list[int]) -> str:
        if name in "nN":
            return ".".join(map(str, counts)) + "." * (name == "N")
        at = int(name) - 1
        if not 0 <= at < len(counts):
            return ""
        return spelled(counts[at], forms[at].form)


def spelled(number: int, form: str) -> str:
    """Spell a number from 1 in a form.

    >>> [spelled(3, form) for form in ("DIGIT", "HANGUL_SYLLABLE", "ROMAN_SMALL", "CIRCLED_DIGIT")]
    ['3', '다', 'iii', '③']
    """
    if not 1 <= number < MAX_NUMBER:
        return str(number)
    return FORMS.get(form, str)(number)
