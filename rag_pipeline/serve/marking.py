"""Which words of a text a query hits, by the analyser of the search: stems and particles too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rag_pipeline.analysis import query_weights

Span = tuple[int, int]
"""Of code points: first, and one after the last."""
_WORD = re.compile(r"[^\s|]+")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_STRONG = 0.5
"""Weight from which a pair of Hangul syllables says what the word is, and not how it ends."""
_FUNCTION_WORDS = frozenset(
    "a about after all an and any are as at be been before by can did do does for from had has have"
    " how i if in into is it its many may me much must my no not of often on or our should so than"
    " that the their them then there these they this to was we were what when where which who why"
    " will with would you your".split()
)


class Marker:
    """Marks what one query hits; `corrections` are words that were searched for in its stead."""

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
        """Tell whether one word, as a text writes it, is one of the query's."""
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
        """Return the places of the words hit, in order."""
        if not self._weights:
            return []
        return [
            _without_punctuation(match.start(), match[0])
            for match in _WORD.finditer(text)
            if self.hits(match[0])
        ]


def _without_punctuation(start: int, word: str) -> Span:
    """Return the place of a word without the brackets, quotes and stops around it."""
    stripped = word.lstrip("([{“‘\"'*_`<")
    start += len(word) - len(stripped)
    return start, start + max(1, len(stripped.rstrip(".,;:!?)]}”’\"'*_`>")))
