r"""Lines of a block → its text: broken words are put together, scripts without spaces too.

A block's lines are kept as one string in which `BREAK_MARK` before a newline says that the word was
broken there by a hyphen. Whether the hyphen belongs to the word ("well-known") is decided by the
document's own words, once all are known.
"""

from __future__ import annotations

import re

BREAK_MARK = "\u00ad"
"""Soft hyphen: what it means in Unicode is just this."""
_BROKEN = re.compile(r"(\w+)\u00ad\n(\w+)([^\s\u00ad]*)")
"""The two parts of a broken word, and the punctuation right after it."""
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
        if following[:1].islower() and _HYPHEN_END.search(line):
            parts.append(line[:-1] + BREAK_MARK)
        else:
            parts.append(line)
    return "\n".join(parts)


def mend_breaks(text: str, vocabulary: set[str]) -> str:
    r"""Put broken words together: with their hyphen only where the document writes it so.

    >>> mend_breaks("exam\xad\nple", set()), mend_breaks("exam\xad\nple, too", set())
    ('example\n', 'example,\ntoo')
    >>> mend_breaks("well\xad\nknown fact", {"well-known"})
    'well-known\nfact'
    >>> mend_breaks("\u624b\u9806\n\u66f8", set()) == "\u624b\u9806\u66f8"
    True
    """
    if BREAK_MARK in text:
        text = _BROKEN.sub(
            lambda match: f"{_mended(match[1], match[2], vocabulary)}{match[3]}\n", text
        )
        text = text.replace(BREAK_MARK + "\n", "-\n").replace(BREAK_MARK, "")
        text = re.sub(r"\n[ \n]+", "\n", text)
    return text if text.isascii() else _CJK_BREAK.sub("", text)


def _mended(first: str, second: str, vocabulary: set[str]) -> str:
    whole, hyphened = (first + second).lower(), f"{first}-{second}".lower()
    if hyphened in vocabulary and whole not in vocabulary:
        return f"{first}-{second}"
    return first + second


def deciding_words(texts: list[str]) -> set[str]:
    r"""Words of a document, those only that decide how one of its broken words is spelled.

    >>> sorted(deciding_words(["well\xad\nknown", "a well-known fact", "it is wellknown"]))
    ['well-known', 'wellknown']
    """
    broken = [text for text in texts if BREAK_MARK in text]
    pairs = {(match[1], match[2]) for text in broken for match in _BROKEN.finditer(text)}
    spellings = {f"{a}-{b}".lower(): (a + b).lower() for a, b in pairs}
    if not spellings:
        return set()
    # Few words are ever written with the hyphen: only for these the other spelling matters.
    found: set[str] = set()
    for text in texts:
        if "-" in text:
            found |= spellings.keys() & words_of(text)
    whole = {spellings[hyphened] for hyphened in found}
    if whole:
        for text in texts:
            lowered = text.lower()
            if any(one in lowered for one in whole):
                found |= whole & words_of(text)
    return found


def words_of(text: str) -> set[str]:
    """Words of a line in lower case, hyphened ones as they are written.

    >>> sorted(words_of("A well-known fact"))
    ['a', 'fact', 'well-known']
    """
    return set(WORDS.findall(text.lower()))
