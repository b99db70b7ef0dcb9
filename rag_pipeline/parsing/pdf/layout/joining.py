r"""Lines of a block → its text: broken words are put together, scripts without spaces too.

A block's lines are kept as one string in which `BREAK_MARK` before a newline says that the word was
broken there by a hyphen. Whether the hyphen belongs to the word ("well-known") is decided by the
document's own words, once all are known.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

BREAK_MARK = "\u00ad"
"""Soft hyphen: what it means in Unicode is just this."""
_BROKEN = re.compile(r"((?:[^\s\u00ad]*[^\w\s\u00ad])?)(\w+)\u00ad\n(\w+)([^\s\u00ad]*)")
"""What stands before a broken word, its two parts, and what stands right after it."""
_CODE = re.compile(r"\d|\w[-/]\w")
"""A digit or an inner hyphen beside the break: a part number, whose hyphen belongs to it."""
HYPHENATES = 3
"""Broken words of plain letters from which a document is taken to break words at line ends."""
FEW_LINES = 10
"""Lines of text below which fewer broken words say nothing: words are put together there too."""
HYPHENED = 2
"""Words of a document, beginning with one part and a hyphen, that tell how it writes others."""
_HYPHEN_END = re.compile(r"(?<=[^\W\d_])[-\u2010]$")
_NO_SPACE = "\u3001-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
_CJK_BREAK = re.compile(rf"(?<=[{_NO_SPACE}])\n(?=[{_NO_SPACE}])")
WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def join_lines(lines: list[str]) -> str:
    r"""Join lines by newlines, marking words that a hyphen breaks.

    >>> join_lines(["an exam-", "ple of A-", "B"])
    'an exam\xad\nple of A-\nB'
    """
    parts: list[str] = []
    for at, line in enumerate(lines):
        following = lines[at + 1] if at + 1 < len(lines) else ""
        if (_HYPHEN_END.search(line) and following[:1].islower()) or goes_on_as_code(
            line, following
        ):
            parts.append(line[:-1] + BREAK_MARK)
        else:
            parts.append(line)
    return "\n".join(parts)


def goes_on_as_code(line: str, following: str) -> bool:
    """Does a part number go on in the next line: a hyphen at the end, a digit on either side?

    >>> goes_on_as_code("as DS-7604NI-", "E1/4P, the"), goes_on_as_code("pages 10-", "12")
    (True, False)
    """
    if not line.endswith("-") or not following[:1].isalnum():
        return False
    last, first = line.rsplit(maxsplit=1)[-1][:-1], following.split(maxsplit=1)[0]
    letters = any(map(str.isalpha, last))
    return letters and any(map(str.isdigit, last + first)) and any(map(str.isdigit, first))


@dataclass(frozen=True)
class Spelling:
    """What a document's own words say about those that it breaks at line ends."""

    words: frozenset[str] = frozenset()
    """Its words in lower case, hyphened ones as they are written; none if it breaks none."""
    hyphenates: bool = True
    """It breaks words at line ends, so that most hyphens there are no part of the word. In a
    document that does not they are."""
    before_hyphens: frozenset[str] = frozenset()
    """First parts of broken words that are rather followed by a hyphen than by the rest of a word:
    "non" where it writes "non-slip", "non-toxic" and "nonstop"."""


def spelling_of(texts: list[str]) -> Spelling:
    r"""Return the spelling of a document, from the texts of all its blocks.

    >>> lines = ["a line"] * 9
    >>> spelling_of(["oil\xad\nfree", *lines]).hyphenates
    False
    >>> spelling_of(["oil\xad\nfree"]).hyphenates, spelling_of(["oil free", *lines]).hyphenates
    (True, True)
    >>> sorted(spelling_of(["non\xad\nreturn of non-slip, non-toxic, nonstop"]).before_hyphens)
    ['non']
    """
    broken = [match for text in texts if BREAK_MARK in text for match in _BROKEN.finditer(text)]
    if not broken:
        return Spelling()
    words: set[str] = set()
    for text in texts:
        words |= words_of(_BROKEN.sub(" ", text) if BREAK_MARK in text else text)
    plain = [(match[2].lower(), match[3].lower()) for match in broken if not _is_code(match)]
    few = sum(text.count("\n") + 1 for text in texts) < FEW_LINES
    hyphenates = few or len(plain) >= HYPHENATES or any(a + b in words for a, b in plain)
    return Spelling(frozenset(words), hyphenates, _before_hyphens({a for a, _ in plain}, words))


def _before_hyphens(parts: set[str], words: set[str]) -> frozenset[str]:
    hyphened = Counter(word.split("-", 1)[0] for word in words if "-" in word)
    often = {part for part in parts if hyphened[part] >= HYPHENED}
    whole: Counter[str] = Counter()
    for word in words if often else ():
        for length in range(1, len(word) - 2):
            if word[:length] in often and word[length:] in words:
                whole[word[:length]] += 1
    return frozenset(part for part in often if hyphened[part] > whole[part])


def mend_breaks(text: str, spelling: Spelling) -> str:
    r"""Put broken words together: with their hyphen only where the document writes it so.

    >>> mend_breaks("exam\xad\nple", Spelling()), mend_breaks("exam\xad\nple, too", Spelling())
    ('example\n', 'example,\ntoo')
    >>> mend_breaks("well\xad\nknown fact", Spelling(frozenset({"well-known"})))
    'well-known\nfact'
    >>> mend_breaks("qcl\xad\nab-22", Spelling())
    'qcl-ab-22\n'
    >>> mend_breaks("non\xad\nreturn", Spelling(hyphenates=False))
    'non-return\n'
    >>> mend_breaks("non\xad\nreturn", Spelling(frozenset({"return"}), True, frozenset({"non"})))
    'non-return\n'
    >>> mend_breaks("\u624b\u9806\n\u66f8", Spelling()) == "\u624b\u9806\u66f8"
    True
    """
    if BREAK_MARK in text:
        text = _BROKEN.sub(lambda match: f"{match[1]}{_mended(match, spelling)}{match[4]}\n", text)
        text = text.replace(BREAK_MARK + "\n", "-\n").replace(BREAK_MARK, "")
        text = re.sub(r"\n[ \n]+", "\n", text)
    return text if text.isascii() else _CJK_BREAK.sub("", text)


def _mended(match: re.Match[str], spelling: Spelling) -> str:
    first, second = match[2], match[3]
    a, b = first.lower(), second.lower()
    if _is_code(match):
        is_hyphened = True
    elif a + b in spelling.words:
        is_hyphened = False
    else:
        is_prefix = a in spelling.before_hyphens and b in spelling.words
        is_hyphened = f"{a}-{b}" in spelling.words or is_prefix or not spelling.hyphenates
    return f"{first}-{second}" if is_hyphened else first + second


def _is_code(match: re.Match[str]) -> bool:
    before, first, second, after = match.groups()
    return bool(_CODE.search(f"{before}{first}") or _CODE.search(f"{second}{after}"))


def words_of(text: str) -> set[str]:
    """Words of a line in lower case, hyphened ones as they are written.

    >>> sorted(words_of("A well-known fact"))
    ['a', 'fact', 'well-known']
    """
    return set(WORDS.findall(text.lower()))
