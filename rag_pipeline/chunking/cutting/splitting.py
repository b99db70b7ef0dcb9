"""Texts above the budget: into lines, sentences, words, at last characters; counted in batches."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag_pipeline.chunking.token_counts import TokenCounter
from rag_pipeline.sentence_borders import UNKNOWN, sentences

ELLIPSIS = "…"

# White space ends a word; where scripts have none, their punctuation does.
_WORD = re.compile(r"[^\s、，；：]*(?:[、，；：]+\s*|\s+|$)")


def words(text: str) -> list[str]:
    """Split after white space and after ideographic punctuation; the parts join to `text` again."""
    return [word for word in _WORD.findall(text) if word]


def lines(text: str) -> list[str]:
    """Split after newlines; the parts join to `text` again."""
    return text.splitlines(keepends=True)


@dataclass(slots=True)
class Fragment:
    """A part of a text, with its tokens."""

    text: str
    tokens: int


def split_texts(
    texts: Sequence[Fragment],
    limits: Sequence[int],
    counter: TokenCounter,
    *,
    by_line: bool = False,
    language: str = UNKNOWN,
) -> list[list[Fragment]]:
    """Split each text into fragments of at most its limit of tokens, in order, nothing lost.

    Sentences first, by the rules of `language` (`by_line`: lines first, for code), a sentence above
    the limit by words, a word above the limit by characters. Fragments of one text join to it
    again. All texts are counted together: three or four calls in all.
    """

    def finest_whole(text: str) -> list[str]:
        return lines(text) if by_line else sentences(text, language)

    steps: tuple[Callable[[str], list[str]], ...] = (finest_whole, words)
    fragments = [[text] for text in texts]
    for step in steps:
        long = [
            (number, fragment)
            for number, found in enumerate(fragments)
            for fragment in found
            if fragment.tokens > limits[number]
        ]
        parts = [step(fragment.text) for _, fragment in long]
        counts = iter(counter.parts([part.strip() for found in parts for part in found]))
        split: dict[int, list[Fragment]] = {}
        for (number, fragment), found in zip(long, parts, strict=True):
            counted = [Fragment(part, next(counts) + counter.space) for part in found]
            _spread(counted, fragment)
            if step is words:
                counted = _join(counted, limits[number])
            split[id(fragment)] = counted
        fragments = [
            [part for fragment in found for part in split.get(id(fragment), [fragment])]
            for found in fragments
        ]
    return [
        [part for fragment in found for part in _split_characters(fragment, limit, counter)]
        for found, limit in zip(fragments, limits, strict=True)
    ]


def _spread(parts: list[Fragment], whole: Fragment) -> None:
    """Where the parts count less than the whole, spread what is missing by length."""
    missing = whole.tokens - sum(part.tokens for part in parts)
    if missing > 0:
        for part in parts:
            part.tokens -= -missing * len(part.text) // len(whole.text)


def _join(fragments: list[Fragment], limit: int) -> list[Fragment]:
    """Join neighbours while they stay within the limit."""
    joined: list[Fragment] = []
    for fragment in fragments:
        last = joined[-1] if joined else None
        if last and last.tokens + fragment.tokens <= limit:
            last.text += fragment.text
            last.tokens += fragment.tokens
        else:
            joined.append(fragment)
    return joined


def _split_characters(fragment: Fragment, limit: int, counter: TokenCounter) -> list[Fragment]:
    """Cut an unbroken run at characters, in proportion to its tokens, until every part fits."""
    if fragment.tokens <= limit or len(fragment.text) <= 1:
        return [fragment]
    # A little below the proportion, so that one round nearly always suffices.
    size = max(
        1, min(len(fragment.text) - 1, len(fragment.text) * limit * 9 // (fragment.tokens * 10))
    )
    parts: list[str] = []
    start = 0
    while start < len(fragment.text):
        end = min(start + size, len(fragment.text))
        while end < len(fragment.text) and unicodedata.combining(fragment.text[end]):
            end += 1
        parts.append(fragment.text[start:end])
        start = end
    if len(parts) == 1:
        return [fragment]
    counted = [Fragment(*pair) for pair in zip(parts, counter.parts(parts), strict=True)]
    _spread(counted, fragment)
    return [piece for part in counted for piece in _split_characters(part, limit, counter)]


def shorten(text: str, tokens: int, limit: int) -> str:
    """Cut a text of `tokens` tokens to about `limit`, at a word if possible, and mark the cut."""
    if tokens <= limit:
        return text
    kept = text[: max(1, len(text) * max(1, limit - 2) * 9 // (tokens * 10))]
    head, space, _ = kept.rpartition(" ")
    return (head if space and len(head) * 2 > len(kept) else kept).rstrip() + ELLIPSIS
