"""The words of file names, so that a question that names a document finds it.

People ask for `BESTBUY_2019_10K.pdf` as "Best Buy" and "FY2019", and for `InstallGuide.pdf` as
"install guide": names run words together, so both sides also index neighbouring words as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import unquote

from rag_pipeline.analysis.analyzer import analyze, query_weights
from rag_pipeline.analysis.expansion import bounded
from rag_pipeline.analysis.function_words import function_words
from rag_pipeline.analysis.stemming import fold_accents
from rag_pipeline.analysis.text_tokens import normalize, tokenize

_LANGUAGE = "en"
"""Names are too short to detect a language; exact forms are kept beside the English stems."""
_ENDING = re.compile(r"\.[^./\\]{1,8}$")
_HUMP = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|_")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


class NameWord(NamedTuple):
    """A lexeme by which a query may name a file."""

    weight: float
    """0..1"""
    parts: tuple[str, ...]
    """The query's content words it stands for: itself, or those of the two it joins."""


def name_lexemes(name: str) -> list[str]:
    """Return the distinct lexemes of a file's name, sorted; of a path, only the last part counts.

    The same holds for the address of a web page, percent-decoded and without its query string.

    >>> name_lexemes("reports/BESTBUY_2019_10K.pdf")
    ['10', '10k', '2019', 'bestbuy']
    """
    is_page = name.startswith(("http://", "https://"))
    path = re.split(r"[?#]", name)[0] if is_page else name
    last = re.split(r"[/\\]", path.rstrip("/\\"))[-1]
    stem = _ENDING.sub("", unquote(last) if is_page else last)
    spaced = _HUMP.sub(" ", stem)
    lexemes = {lexeme for lexeme, _ in analyze(spaced, _LANGUAGE)}
    lexemes.update(joined for joined, _ in _joined(spaced))
    return sorted(filter(_says_something, lexemes))


def name_query_words(query: str, languages: Sequence[str]) -> dict[str, NameWord]:
    """Return the lexemes by which `query` may name a file.

    >>> list(name_query_words("Best Buy in FY2019", ["en"]))
    ['best', 'buy', 'fy2019', 'fy', '2019', 'bestbuy', 'buyin']
    """
    words = {
        lexeme: NameWord(weight, (lexeme,))
        for lexeme, weight in query_weights(query, languages).items()
        if _says_something(lexeme)
    }
    ignored = function_words(query)
    for joined, parts in _joined(query):
        # Function words say nothing, alone or together.
        kept = tuple(part for part in parts if part not in ignored)
        words.setdefault(joined, NameWord(1.0, kept))
    for year in _YEAR.findall(query):
        words[year] = NameWord(1.0, (year,))
    return words


def _joined(text: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each pair of neighbouring words as one word, without genitive endings, and the pair."""
    tokens = [token.removesuffix("'s") for token, kind in tokenize(normalize(text)) if not kind]
    for first, second in pairwise(map(fold_accents, tokens)):
        if first.isalpha() and second.isalpha():
            yield bounded(first + second), (bounded(first), bounded(second))


def _says_something(lexeme: str) -> bool:
    """Return whether a lexeme is more than a single letter or digit, such as those of `10-K`."""
    return len(lexeme) > 1 or not lexeme.isascii()
