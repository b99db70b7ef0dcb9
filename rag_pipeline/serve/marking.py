"""Finds the words of a text that match a query, with the analyser of the search."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rag_pipeline.analysis import query_weights

Span = tuple[int, int]
"""Start and end (exclusive) in code points."""
_WORD = re.compile(r"[^\s|]+")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_STRONG = 0.5
"""Minimum weight of a pair of Hangul syllables that belongs to the stem, not to an ending."""
_FUNCTION_WORDS = frozenset(
    "a about after all an and any are as at be been before by can did do does for from had has have"
    " how i if in into is it its many may me much must my no not of often on or our should so than"
    " that the their them then there these they this to was we were what when where which who why"
    " will with would you your".split()
)


class Marker:
    """Marks the matches of one query; `corrections` are words that were searched instead."""

    def __init__(
        self, query: str, languages: Sequence[str], corrections: Iterable[str] = ()
    ) -> None:
        self._languages = languages
        weights = query_weights(" ".join([query, *corrections]), languages)
        self._weights = {
            lexeme: weight for lexeme, weight in weights.items() if lexeme not in _FUNCTION_WORDS
        }
        self._known: dict[str, bool] = {}

    def hits(self, word: str) -> bool:
        """Return whether a word, as written in a text, matches the query."""
        if word not in self._known:
            self._known[word] = self._is_hit(word)
        return self._known[word]

    def _is_hit(self, word: str) -> bool:
        if word.strip(".,;:!?()\"'").lower() in _FUNCTION_WORDS:
            return False
        least = _STRONG if _HANGUL.search(word) else 0.0
        own = query_weights(word[:200], self._languages)
        return any(
            self._weights.get(lexeme, -1.0) >= least and weight >= least
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
