"""Lines of scripts that are written from right to left: Hebrew, Arabic, Syriac."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from rag_pipeline.parsing.pdf.layout.geometry import SPACE_GAP, PageWord

RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_OTHER_WAY = re.compile(r"%?[^\W_](?:[^\s\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]*[^\W_%])?%?")
"""Numbers and words of other scripts, which run from left to right within the line."""
_LEFT_TO_RIGHT = re.compile(r"[^\W\d_\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


def runs_right_to_left(texts: Iterable[str]) -> bool:
    """Are most letters of such a script?

    >>> runs_right_to_left(["\u05d0\u05d1\u05d2", "M8"]), runs_right_to_left(["Oil", "\u05d0"])
    (True, False)
    """
    text = " ".join(texts)
    if text.isascii():
        return False
    return len(RIGHT_TO_LEFT.findall(text)) > len(_LEFT_TO_RIGHT.findall(text))


def turned(text: str) -> str:
    """A word as it is read from as it is seen from left to right, and the reverse.

    >>> turned(".M8"), turned("M8."), turned("2.5%")
    ('M8.', '.M8', '2.5%')
    """
    return _OTHER_WAY.sub(_turned_back, text[::-1])


def _turned_back(match: re.Match[str]) -> str:
    return match[0] if RIGHT_TO_LEFT.search(match[0]) else match[0][::-1]


def text_from_right(words: list[PageWord]) -> str:
    """The text of a line of such words in the order of reading, by their places."""
    tokens: list[list[PageWord]] = []
    for word in sorted(words, key=lambda one: -one.x0):
        if tokens and tokens[-1][-1].x0 - word.x1 < SPACE_GAP * word.style.size:
            tokens[-1].append(word)
        else:
            tokens.append([word])
    found: list[str] = []
    for own_way, group in groupby(tokens, key=lambda token: not _is_other(token)):
        part = list(group)
        if not own_way and len(part) > 1:
            # "bar 16" as seen is "16 bar" or a name, "Bar 16": what was written first tells.
            named = all(_LEFT_TO_RIGHT.search(_seen(token)) for token in part)
            part.sort(key=lambda token: token[-1].x0 if named else token[-1].position)
        found += [turned(_seen(token)) for token in part]
    return " ".join(found)


def _is_other(token: list[PageWord]) -> bool:
    return not any(RIGHT_TO_LEFT.search(word.text) for word in token)


def _seen(token: list[PageWord]) -> str:
    return "".join(turned(word.text) for word in reversed(token))
