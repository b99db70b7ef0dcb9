r"""Lines of a block → its text: broken words are put together, scripts without spaces too.

A block's lines are kept as one string in which `BREAK_MARK` before a newline says that the word was
broken there by a hyphen. Whether the hyphen belongs to the word ("well-known") is decided by the
document's own words, once all are known.
"""

from __future__ import annotations

import re

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


def mend_breaks(text: str, vocabulary: set[str], *, hyphenates: bool = True) -> str:
    r"""Put broken words together: with their hyphen only where the document writes it so.

    `hyphenates`: the document breaks words at line ends, so that most hyphens there are no part of
    the word. In one that does not they are, unless it writes the word whole elsewhere.

    >>> mend_breaks("exam\xad\nple", set()), mend_breaks("exam\xad\nple, too", set())
    ('example\n', 'example,\ntoo')
    >>> mend_breaks("well\xad\nknown fact", {"well-known"})
    'well-known\nfact'
    >>> mend_breaks("qcl\xad\nab-22", set())
    'qcl-ab-22\n'
    >>> mend_breaks("non\xad\nreturn", set(), hyphenates=False)
    'non-return\n'
    >>> mend_breaks("\u624b\u9806\n\u66f8", set()) == "\u624b\u9806\u66f8"
    True
    """
    if BREAK_MARK in text:
        text = _BROKEN.sub(
            lambda match: f"{match[1]}{_mended(match, vocabulary, hyphenates)}{match[4]}\n", text
        )
        text = text.replace(BREAK_MARK + "\n", "-\n").replace(BREAK_MARK, "")
        text = re.sub(r"\n[ \n]+", "\n", text)
    return text if text.isascii() else _CJK_BREAK.sub("", text)


def _mended(match: re.Match[str], vocabulary: set[str], hyphenates: bool) -> str:
    before, first, second, after = match.groups()
    whole, hyphened = (first + second).lower(), f"{first}-{second}".lower()
    if _CODE.search(f"{before}{first}") or _CODE.search(f"{second}{after}"):
        return f"{first}-{second}"
    if whole in vocabulary:
        return first + second
    if hyphened in vocabulary or not hyphenates:
        return f"{first}-{second}"
    return first + second


def hyphenates(texts: list[str], vocabulary: set[str]) -> bool:
    r"""Does a document break words at line ends: several, or one that it writes whole elsewhere?
    One of a few lines is taken to.

    >>> lines = ["a line"] * 9
    >>> hyphenates(["oil\xad\nfree", *lines], set())
    False
    >>> hyphenates(["exam\xad\nple", *lines], {"example"}), hyphenates(["exam\xad\nple"], set())
    (True, True)
    """
    found = [
        (match[2] + match[3]).lower()
        for text in texts
        if BREAK_MARK in text
        for match in _BROKEN.finditer(text)
        if not _CODE.search(f"{match[1]}{match[2]}") and not _CODE.search(f"{match[3]}{match[4]}")
    ]
    if len(found) >= HYPHENATES or any(whole in vocabulary for whole in found):
        return True
    return sum(text.count("\n") + 1 for text in texts) < FEW_LINES


def deciding_words(texts: list[str]) -> set[str]:
    r"""Words of a document, those only that decide how one of its broken words is spelled: the
    word whole, and with its hyphen.

    >>> sorted(deciding_words(["well\xad\nknown", "a well-known fact", "it went well"]))
    ['well-known']
    """
    broken = [text for text in texts if BREAK_MARK in text]
    pairs = {(match[2], match[3]) for text in broken for match in _BROKEN.finditer(text)}
    spellings = {f"{a}-{b}".lower(): (a + b).lower() for a, b in pairs}
    if not spellings:
        return set()
    wanted = spellings.keys() | set(spellings.values())
    found: set[str] = set()
    for text in texts:
        found |= wanted & words_of(_BROKEN.sub(" ", text) if BREAK_MARK in text else text)
    return found


def words_of(text: str) -> set[str]:
    """Words of a line in lower case, hyphened ones as they are written.

    >>> sorted(words_of("A well-known fact"))
    ['a', 'fact', 'well-known']
    """
    return set(WORDS.findall(text.lower()))
