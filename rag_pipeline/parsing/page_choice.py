"""Which pages `auto` sends to Document AI, and why: a score between 0 and 1 for each page. Pure.

A page's score is the largest of its parts; from `document_ai.auto_score` (0.5) on it is sent:

| part | measure | 0.5 at |
|---|---|---|
| no text | the page shows something, and no word was read | always 1 |
| unreadable | share of characters without meaning: U+FFFD, private use, unassigned | 5 % |
| garbage | share of words that no language has: scripts mixed, marks inside, no vowel | 30 % |
| confidence | 2 x (1 - mean confidence of recognized text) | 0.75 |
| letters apart | share of words that are single letters in rows of four or more | 25 % |
| vowels | share of vowels in Latin text; languages have a third and more | 24 % |

A document of which `auto_document_share` of the pages are sent is sent as a whole. With the layout
parser, so is a longer document in which nothing stands out: one size and weight, no numbering, no
heading that the file itself names.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby

import pandas as pd

from rag_pipeline.frames import Blocks, check
from rag_pipeline.parsing.contract import ParsedDocument
from rag_pipeline.parsing.document_ai.service.page_ranges import describe_pages
from rag_pipeline.parsing.document_ai.service.process_requests import add_ons
from rag_pipeline.settings import DocumentAiSettings
from rag_pipeline.text import detect_language
from rag_pipeline.usage import Usage

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
PLAIN_PAGES = 3
PLAIN_WORDS = 600
PLAIN_SHARE = 0.995
"""A document of so many pages and words, of which this share looks alike, has poor structure."""

_WORDS = re.compile(r"[^\W\d_]{3,}")
_NUMBERED = re.compile(r"^\d{1,2}(?:\.\d{1,2})*[.)]?\s+\S")
_VOWELS = frozenset("aeiouyàáâãäåæèéêëìíîïòóôõöøùúûüýœąęėįųāēīōūőűıăěů")
_SYMBOLS = frozenset("<>$+=^`|~%°²³€£¥§©®™±×÷µ→№￥＋＝～")
"""Symbols that words of manuals hold; punctuation of any script does not count at all."""
_SCRIPTS = (
    "LATIN CYRILLIC GREEK HANGUL CJK HIRAGANA KATAKANA ARABIC HEBREW THAI DEVANAGARI BENGALI TAMIL"
    " TELUGU GEORGIAN ARMENIAN KHMER LAO MYANMAR GUJARATI GURMUKHI KANNADA MALAYALAM SINHALA"
    " ETHIOPIC FULLWIDTH HALFWIDTH MICRO FEMININE MASCULINE IDEOGRAPHIC KATAKANA-HIRAGANA"
).split()
_ALPHABETS = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARABIC", "HEBREW", "THAI", "DEVANAGARI"})


@dataclass(frozen=True)
class Choice:
    """Pages to be sent, in order, with a reason in words for each; none where `pages` is empty."""

    pages: tuple[int, ...]
    reasons: Mapping[int, str] = field(default_factory=dict)
    page_count: int = 0
    model: str = "ocr"
    add_ons: int = 0

    def usage(self) -> list[Usage]:
        """What it would be to send the pages, if no reply is stored."""
        if not self.pages:
            return []
        pages = len(self.pages)
        found = [Usage("document_ai", self.model, "parse", pages=pages)]
        if self.add_ons:
            found.append(Usage("document_ai", "ocr_add_on", "parse", pages=self.add_ons * pages))
        return found

    def describe(self) -> str:
        """One line for people.

        >>> Choice((2, 3), {2: "no text", 3: "no text"}, page_count=9).describe()
        'page 2-3 of 9: no text'
        """
        if not self.pages:
            return "nothing to send"
        groups: dict[str, list[int]] = {}
        for page in self.pages:
            groups.setdefault(self.reasons[page], []).append(page)
        if len(self.pages) == self.page_count and len(groups) == 1:
            return f"all {self.page_count} pages: {next(iter(groups))}"
        return "; ".join(
            f"page {describe_pages(pages)}" + f" of {self.page_count}: {reason}"
            for reason, pages in groups.items()
        )


def choose(
    parsed: ParsedDocument,
    settings: DocumentAiSettings,
    *,
    blank_pages: Collection[int] = (),
) -> Choice:
    """Choose the pages of a document that Document AI is to read, by what the local parser made.

    `blank_pages` show nothing, so that it is right that they have no text. Calls nobody.
    """
    texts, confidences = _by_page(parsed)
    reasons: dict[int, str] = {}
    for page in range(1, parsed.page_count + 1):
        if page in blank_pages and not texts.get(page, "").strip():
            continue
        score, reason = page_score(texts.get(page, ""), confidences.get(page))
        if score >= settings.auto_score:
            reasons[page] = reason
    whole = None
    if reasons and len(reasons) >= settings.auto_document_share * parsed.page_count:
        whole = f"{len(reasons)} of {parsed.page_count} pages need it"
    elif settings.processor_type == "layout_parser" and not reasons:
        whole = _plainness(parsed)
    if whole is not None:
        reasons = {page: reasons.get(page, whole) for page in range(1, parsed.page_count + 1)}
    return Choice(
        tuple(sorted(reasons)),
        reasons,
        parsed.page_count,
        settings.processor_type,
        add_ons(settings),
    )


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


def _by_page(parsed: ParsedDocument) -> tuple[dict[int, str], dict[int, float]]:
    """Text of each page, and mean confidence of what was recognized on it."""
    texts: dict[int, list[str]] = {}
    sums: dict[int, list[float]] = {}
    frame = parsed.blocks
    for page, text, confidence in zip(
        frame["page_number"].tolist(),
        frame["text"].tolist(),
        frame["confidence"].tolist(),
        strict=True,
    ):
        texts.setdefault(page, []).append(text)
        if confidence < 1 and text:
            total = sums.setdefault(page, [0.0, 0.0])
            total[0] += confidence * len(text)
            total[1] += len(text)
    return (
        {page: "\n".join(found) for page, found in texts.items()},
        {page: weighted / length for page, (weighted, length) in sums.items()},
    )


def _plainness(parsed: ParsedDocument) -> str | None:
    """Why a document has poor structure, or None."""
    frame = parsed.blocks
    if parsed.page_count < PLAIN_PAGES or frame["level_hint"].notna().any():
        return None
    text = frame[frame["kind"] == "text"]
    if sum(len(one.split()) for one in text["text"]) < PLAIN_WORDS:
        return None
    if sum(bool(_NUMBERED.match(one)) for one in text["text"]) >= PLAIN_PAGES:
        return None
    looks: Counter[tuple[float, bool]] = Counter()
    for size, bold, one in zip(text["font_size"], text["is_bold"], text["text"], strict=True):
        looks[round(size * 2) / 2, bool(bold)] += len(one)
    share = max(looks.values()) / sum(looks.values())
    return "no heading stands out" if share >= PLAIN_SHARE else None


def merge_pages(
    local: ParsedDocument, service: ParsedDocument, pages: Collection[int]
) -> ParsedDocument:
    """Take `pages` from the service's result and the others from the local one.

    Page numbers are the source's in both, so that none shifts. Sizes may differ a little between
    the two; everything else has the same meaning.
    """
    chosen = set(pages)
    mine = local.blocks[~local.blocks["page_number"].isin(chosen)]
    theirs = service.blocks[service.blocks["page_number"].isin(chosen)]
    parts = [part for part in (mine, theirs) if len(part)]
    if not parts:
        return replace(service, warnings=[*local.warnings, *service.warnings])
    frame = pd.concat([part.astype({"table_cells": object}) for part in parts], ignore_index=True)
    frame = frame.sort_values("page_number", kind="stable", ignore_index=True)
    for name in frame.columns:
        if any(name in part and part[name].dtype == bool for part in parts):
            frame[name] = frame[name].eq(True)  # a column that only one of the two has
    language = detect_language("\n".join(frame["text"]))
    if language == "und":
        language = local.language if local.language != "und" else service.language
    frame["block_index"] = range(len(frame))
    frame["language"] = language
    return ParsedDocument(
        check(frame, Blocks),
        max(local.page_count, service.page_count),
        local.title or service.title,
        language,
        [*local.warnings, *service.warnings],
        [*local.usage, *service.usage],
    )
