"""Finds the words of a text that match a query, with the analyser of the search."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rag_pipeline.analysis import query_weights, query_words
from rag_pipeline.analysis.function_words import function_words

Span = tuple[int, int]
"""Start and end (exclusive) in code points."""
_WORD = re.compile(r"[^\s|]+")
_DIGIT = re.compile(r"\d")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_STRONG = 0.5
"""Minimum weight of a pair of Hangul syllables that belongs to the stem, not to an ending."""


class Marker:
    """Marks the matches of one query; `corrections` are words that were searched instead."""

    def __init__(
        self, query: str, languages: Sequence[str], corrections: Iterable[str] = ()
    ) -> None:
        self._languages = languages
        self._weights = query_weights(" ".join([query, *corrections]), languages)
        self._ignored = function_words(query)
        self._known: dict[str, bool] = {}

    def hits(self, word: str) -> bool:
        """Return whether a word, as written in a text, matches the query."""
        if word not in self._known:
            self._known[word] = self._is_hit(word)
        return self._known[word]

    def _is_hit(self, word: str) -> bool:
        if word.strip(".,;:!?()\"'").lower() in self._ignored:
            return False
        if _DIGIT.search(word):
            # A code is another one if a single segment differs.
            parts = query_words(word[:200], self._languages)
            return bool(parts) and not any(part.isdisjoint(self._weights) for part in parts)
        least = _STRONG if _HANGUL.search(word) else 0.0
        own = query_weights(word[:200], self._languages)
        return any(
            weight > least and self._weights.get(lexeme, 0.0) > least
            for lexeme, weight in own.items()
        )

    def spans(self, text: str) -> list[Span]:
        """Return the spans of the matching words, in order."""
        if not self._weights:
            return []
        return [
            _without_punctuation(match.start(), match[0])
            for match in _WORD.finditer(text)
            if self.hits(match[0])
        ]


def _without_punctuation(start: int, word: str) -> Span:
    """Return the span of a word without surrounding brackets, quotes and punctuation."""
    stripped = word.lstrip("([{“‘\"'*_`<")
    start += len(word) - len(stripped)
    return start, start + max(1, len(stripped.rstrip(".,;:!?)]}”’\"'*_`>")))
