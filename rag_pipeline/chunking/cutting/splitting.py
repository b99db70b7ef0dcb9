"""Splitting texts above the budget into lines or sentences, then words, then characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from rag_pipeline.chunking.task import TokenCounter
from rag_pipeline.sentence_borders import UNKNOWN, sentences

ELLIPSIS = "…"

# White space ends a word; in scripts without it, punctuation does.
_WORD = re.compile(r"[^\s、，；：]*(?:[、，；：]+\s*|\s+|$)")


def words(text: str) -> list[str]:
    """Split after white space and ideographic punctuation; the parts join to `text` again."""
    return [word for word in _WORD.findall(text) if word]


@dataclass(slots=True)
class Fragment:
    """A part of a text and its tokens; `by_line`: code, split into lines, not sentences."""

    text: str
    tokens: int
    by_line: bool = False


def split_texts(
    texts: Sequence[Fragment],
    limits: Sequence[int],
    counter: TokenCounter,
    language: str = UNKNOWN,
) -> list[list[Fragment]]:
    """Split each text into fragments within its limit of tokens; they join to the text again.

    Splits into sentences by the rules of `language`, or lines (`by_line`), a sentence above the
    limit into words, a word above the limit into characters. All texts are counted together, in
    three or four calls.
    """

    def step(fragment: Fragment, into_words: bool) -> list[str]:
        if into_words:
            return words(fragment.text)
        if fragment.by_line:
            return fragment.text.splitlines(keepends=True)
        return sentences(fragment.text, language)

    pending = list(enumerate(texts))
    for into_words in (False, True):
        parts = {
            i: step(fragment, into_words)
            for i, (number, fragment) in enumerate(pending)
            if fragment.tokens > limits[number]
        }
        counts = iter(counter.parts([part.strip() for found in parts.values() for part in found]))
        divided: list[tuple[int, Fragment]] = []
        for i, (number, fragment) in enumerate(pending):
            found = [fragment]
            if i in parts:
                found = [
                    Fragment(part, next(counts) + counter.space, fragment.by_line)
                    for part in parts[i]
                ]
                _spread(found, fragment)
                found = _join(found, limits[number]) if into_words else found
            divided += [(number, part) for part in found]
        pending = divided
    fragments: list[list[Fragment]] = [[] for _ in texts]
    for number, fragment in pending:
        fragments[number] += _split_characters(fragment, limits[number], counter)
    return fragments


def _spread(parts: list[Fragment], whole: Fragment) -> None:
    """If the parts count less than the whole, spread what is missing by length."""
    missing = whole.tokens - sum(part.tokens for part in parts)
    if missing > 0:
        for part in parts:
            part.tokens -= -missing * len(part.text) // len(whole.text)


def _join(fragments: list[Fragment], limit: int) -> list[Fragment]:
    """Join neighbours as long as they stay within the limit."""
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
    """Cut an unbroken run between characters until every part fits."""
    if fragment.tokens <= limit or len(fragment.text) <= 1:
        return [fragment]
    # Slightly less than in proportion to its tokens, so that one round nearly always suffices.
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
    """Cut a text of `tokens` tokens to about `limit`, between words if possible; mark the cut."""
    if tokens <= limit:
        return text
    kept = text[: max(1, len(text) * max(1, limit - 2) * 9 // (tokens * 10))]
    head, space, _ = kept.rpartition(" ")
    return (head if space and len(head) * 2 > len(kept) else kept).rstrip() + ELLIPSIS
