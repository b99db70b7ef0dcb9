"""How badly the text of a page reads: a score between 0 and 1. Pure.

A page's score is the largest of its parts; from `document_ai.auto_score` (0.5) on it is sent:

| part | measure | 0.5 at |
|---|---|---|
| no text | the page shows something, and no word was read | always 1 |
| unreadable | share of characters without meaning: U+FFFD, private use, unassigned | 5 % |
| garbage | share of words that no language has: scripts mixed, marks inside, no vowel | 30 % |
| confidence | 2 x (1 - mean confidence of recognized text) | 0.75 |
| letters apart | share of words that are single letters in rows of four or more | 25 % |
| vowels | share of vowels in Latin text; languages have a third and more | 24 % |
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from itertools import groupby

UNREADABLE_FULL = 0.10
GARBAGE_FULL = 0.60
APART_FULL = 0.50
"""Shares at which a part's score is 1; below, it grows in proportion."""
VOWELS_NATURAL = 0.34
VOWELS_NONE = 0.14
"""Shares of vowels at which that part's score is 0 and 1. Pages of manuals have .26 at least, text
with shifted letters .11 to .25 (measured)."""
MIN_LETTERS = 200
MIN_CHARACTERS = 10
MIN_WORDS = 15
"""A page with less of them is not judged by shares."""

_WORDS = re.compile(r"[^\W\d_]{3,}")
_VOWELS = frozenset("aeiouyàáâãäåæèéêëìíîïòóôõöøùúûüýœąęėįųāēīōūőűıăěů")
_SYMBOLS = frozenset("<>$+=^`|~%°²³€£¥§©®™±×÷µ→№￥＋＝～")
"""Symbols that words of manuals hold; punctuation of any script does not count at all."""
_SCRIPTS = (
    "LATIN CYRILLIC GREEK HANGUL CJK HIRAGANA KATAKANA ARABIC HEBREW THAI DEVANAGARI BENGALI TAMIL"
    " TELUGU GEORGIAN ARMENIAN KHMER LAO MYANMAR GUJARATI GURMUKHI KANNADA MALAYALAM SINHALA"
    " ETHIOPIC FULLWIDTH HALFWIDTH MICRO FEMININE MASCULINE IDEOGRAPHIC KATAKANA-HIRAGANA"
).split()
_ALPHABETS = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARABIC", "HEBREW", "THAI", "DEVANAGARI"})


def page_score(text: str, confidence: float | None = None) -> tuple[float, str]:
    """Score of a page with its reason; `confidence` is that of recognized text, if any is.

    >>> page_score("")
    (1.0, 'no text')
    >>> page_score("Replace the oil filter every 500 hours of operation.")[0]
    0.0
    """
    characters = [character for character in text if not character.isspace()]
    if not any(map(str.isalnum, characters)):
        return 1.0, "no text"
    parts: list[tuple[float, str]] = []
    if len(characters) >= MIN_CHARACTERS:
        share = sum(map(_is_unreadable, characters)) / len(characters)
        parts.append((share / UNREADABLE_FULL, f"{share:.0%} of the characters are unreadable"))
    words = text.split()
    if len(words) >= MIN_WORDS:
        share = sum(map(is_garbage, words)) / len(words)
        parts.append((share / GARBAGE_FULL, f"{share:.0%} of the words are of no language"))
        share = _apart(words)
        parts.append((share / APART_FULL, f"{share:.0%} of the words are single letters"))
    if (vowels := _vowels(words)) is not None:
        score = (VOWELS_NATURAL - vowels) / (VOWELS_NATURAL - VOWELS_NONE)
        parts.append((score, f"only {vowels:.0%} of the letters are vowels"))
    if confidence is not None:
        parts.append((2 * (1 - confidence), f"recognized with confidence {confidence:.2f}"))
    score, reason = max(parts, default=(0.0, "little text"))
    return round(min(1.0, max(0.0, score)), 3), reason if score > 0 else "readable"


def is_garbage(word: str) -> bool:
    """Is it a word that no language has, as fonts without a map to characters give?

    >>> [is_garbage(word) for word in ("valve", "XJ-900/B", "GmbH", "밸브를", "PC의", "10kΩ")]
    [False, False, False, False, False, False]
    >>> [is_garbage(word) for word in ("wklv", "ϮϬϭϱ¤ϭ¦", "Сapac1ty¬µ¬", "xqzrtw", "ａ\\ue001")]
    [False, True, True, True, True]
    """
    if any(map(_is_unreadable, word)):
        return True
    marks = sum(not (c.isalnum() or c in _SYMBOLS or _category(c) in "PM") for c in word)
    letters = [character for character in word if character.isalpha()]
    if letters and marks >= 2:
        return True
    scripts = Counter(_script(letter) for letter in letters)
    if any(script not in _SCRIPTS for script in scripts):
        return True
    if sum(count >= 2 for script, count in scripts.items() if script in _ALPHABETS) > 1:
        return True
    if len(letters) != len(word) or set(scripts) != {"LATIN"} or word.isupper():
        return False
    return len(word) >= 5 and not _VOWELS.intersection(word.lower())


def _is_unreadable(character: str) -> bool:
    return character == "\N{REPLACEMENT CHARACTER}" or unicodedata.category(character) in (
        "Co",
        "Cn",
        "Cs",
        "Cc",
    )


def _category(character: str) -> str:
    """First letter of its category: P punctuation, M mark, S symbol."""
    return unicodedata.category(character)[0]


@lru_cache(maxsize=4096)
def _script(letter: str) -> str:
    """First word of the letter's name in Unicode: LATIN, HANGUL, CJK."""
    return unicodedata.name(letter, "UNKNOWN").split(" ", 1)[0]


def _apart(words: list[str]) -> float:
    """Share of words that are single letters in rows of four or more: `e a c h`."""
    runs = groupby(words, key=lambda word: len(word) == 1 and _script(word) in _ALPHABETS)
    apart = [len(list(run)) for is_single, run in runs if is_single]
    return sum(length for length in apart if length >= 4) / len(words)


def _vowels(words: list[str]) -> float | None:
    """Share of vowels in Latin words that are no acronyms; None where there are too few."""
    letters = "".join(
        word.lower()
        for found in words
        if not found.isupper()
        for word in _WORDS.findall(found)
        if all(_script(letter) == "LATIN" for letter in word)
    )
    if len(letters) < MIN_LETTERS:
        return None
    return sum(letter in _VOWELS for letter in letters) / len(letters)
