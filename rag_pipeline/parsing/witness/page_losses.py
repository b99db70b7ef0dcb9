"""Words of the pages of a PDF that are in no block, and numbers that stand in blocks only.

Engines part a line into words by its gaps, each in its own way. So what one page lacks is compared
letter by letter with what it has beside: "exam", "ple" are there where "example" is. Numbers are
compared as they stand, since "101" is not "10" with a note 1.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag_pipeline.parsing.witness.losses import Losses
from rag_pipeline.parsing.witness.raw_pdf import PageText

WHOLE = 0.7
"""Share of the characters of a page that a reading of all of it has at least."""
_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True)
class KnownPage:
    """What the parser made of a page."""

    text: str
    """Of its blocks, and what was left out."""
    said: str
    """Warnings, which may name a word instead."""


def find_page_losses(readers: Sequence[PageText], pages: Mapping[int, KnownPage]) -> Losses:
    """Compare readings of pages (1-based) with what is known of them.

    A page is read by one engine after the other, until one misses nothing and finds no number
    changed: what it has in common with the others is then nothing.
    """
    total, lost, changed = 0, Counter[str](), Counter[str]()
    for number, known in pages.items():
        counts: list[int] = []
        missing: list[Counter[str]] = []
        new: list[Counter[str]] = []
        for read in readers:
            text = plain_letters(read(number) or "")
            if not text:
                continue
            counts.append(len(_WORD.findall(text)))
            missing.append(_missing(text, known))
            # An engine that gave up within a damaged page does not know its numbers.
            if len(text) > WHOLE * len(known.text):
                new.append(_new_numbers(text, known))
            if not missing[-1] and new and not new[-1]:
                break
        if counts:
            total += min(counts)
            lost += _agreed(sorted(missing, key=Counter.total))
            changed += _all_of(new)
    return Losses(total, lost, changed)


def plain_letters(text: str) -> str:
    """A text without regard to case, ligatures, width and accents.

    >>> plain_letters("Öl ﬁx ５\xad")
    'ol fix 5'
    """
    if text.isascii():
        return text.casefold()
    parts = unicodedata.normalize("NFKD", text).casefold()
    return "".join(sign for sign in parts if unicodedata.category(sign) not in ("Mn", "Cf"))


def _missing(text: str, known: KnownPage) -> Counter[str]:
    """Words of a reading whose letters the page has nowhere."""
    there, have = (Counter(_WORD.findall(one)) for one in (text, plain_letters(known.text)))
    missing = there - have
    if not missing:
        return missing
    missing -= Counter(_WORD.findall(plain_letters(known.said)))
    return missing - _spelled(missing, have - there)


def _agreed(missing: list[Counter[str]]) -> Counter[str]:
    """Words that one reading misses and whose letters every other misses as well."""
    first, *others = missing
    for other in others:
        first = _spelled(first, other)
    return first


def _spelled(words: Counter[str], by: Counter[str]) -> Counter[str]:
    """Those of the words that can be put together from the letters of others, long ones first."""
    letters = Counter("".join(by.elements()))
    found: Counter[str] = Counter()
    for word in sorted(words.elements(), key=len, reverse=True):
        needed = Counter(word)
        if needed <= letters:
            letters -= needed
            found[word] += 1
    return found


def _new_numbers(text: str, known: KnownPage) -> Counter[str]:
    """Numbers that the page has and the reading does not, neither as they stand nor as a part of
    one: an engine may glue the mark of a note to a number, or spaced digits together. Nor digit by
    digit: where letters are drawn one by one, an engine may part them all.
    """
    there, have = (Counter(_NUMBER.findall(one)) for one in (text, plain_letters(known.text)))
    new = have - there
    digits = Counter(one for one in (there - have).elements() if len(one) == 1) if new else None
    for number in sorted(new.elements(), key=len) if digits else ():
        needed = Counter(one for one in number if one.isdigit())
        if digits is not None and needed <= digits:
            digits -= needed
            new[number] -= 1
    for glued in (there - have).elements() if new else ():
        room = len(glued)
        for part in [one for one in new.elements() if one in glued]:
            if len(part) <= room:
                room -= len(part)
                new[part] -= 1
    return +new


def _all_of(counters: list[Counter[str]]) -> Counter[str]:
    """What every one of them holds."""
    common = counters[0] if counters else Counter[str]()
    for one in counters[1:]:
        common &= one
    return common
