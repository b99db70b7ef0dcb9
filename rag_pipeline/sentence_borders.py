"""Sentence borders, by `sentencex` (Wikimedia): English, Korean and 300 more, by rules, offline."""

from __future__ import annotations

import itertools
import re

from rag_pipeline.line_marks import BULLETS, DASHES

# "3.", "(b)", "IV." and bullets: what numbers a sentence is no sentence of its own.
_ENUMERATOR = re.compile(
    rf"\s*(?:\(?(?:\d{{1,3}}|[A-Za-z]|[ivxIVX]{{1,5}})[.)]|[{BULLETS}{DASHES}])[ \t]*"
)
_LINE_START = re.compile(rf"\n(?=\s*(?:[{BULLETS}{DASHES}]|\d{{1,3}}[.)])\s)")
UNKNOWN = "und"


def sentence_starts(text: str, language: str = UNKNOWN) -> list[int]:
    """Return the offsets at which sentences begin, the first 0; none for an empty text.

    `language`: ISO 639-1; English rules where it is unknown. A line that opens a list item begins a
    sentence, and an enumerator stays with what it numbers.
    """
    from sentencex import get_sentence_boundaries

    if not text:
        return []
    found = get_sentence_boundaries("en" if language == UNKNOWN else language, text)
    borders = {item["start_index"] for item in found if not item["is_paragraph_break"]}
    borders |= {match.end() for match in _LINE_START.finditer(text)}
    starts = [0]
    for border in sorted(borders):
        sentence = text[starts[-1] : border]
        if sentence.strip() and not _ENUMERATOR.fullmatch(sentence):
            starts.append(border)
    return starts


def sentences(text: str, language: str = UNKNOWN) -> list[str]:
    """Split into sentences that join to `text` again: trailing white space stays where it is.

    >>> sentences("Open valve no. 3. Wait 5 hours. 밸브를 닫습니다. 다음으로 갑니다.")
    ['Open valve no. 3. ', 'Wait 5 hours. ', '밸브를 닫습니다. ', '다음으로 갑니다.']
    """
    borders = [*sentence_starts(text, language), len(text)]
    return [text[a:b] for a, b in itertools.pairwise(borders)]
