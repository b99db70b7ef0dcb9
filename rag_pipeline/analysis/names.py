"""Names of files: their words, so that a question that names a document finds it.

`BESTBUY_2019_10K.pdf` is asked for as "Best Buy" and "FY2019", `InstallGuide.pdf` as "install
guide": names run words together, and so both sides also know neighbouring words as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from rag_pipeline.analysis.analyzer import analyze, query_weights
from rag_pipeline.analysis.stemming import fold_accents
from rag_pipeline.analysis.tokens import normalize, tokenize

_LANGUAGE = "en"
"""Whose stems names have: they are too short to tell a language by, and exact forms are kept."""
_ENDING = re.compile(r"\.[^./\\]{1,8}$")
_HUMP = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|_")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


def name_lexemes(name: str) -> list[str]:
    """Return the distinct lexemes of a file's name, sorted; of a path, only its last part counts.

    >>> name_lexemes("reports/BESTBUY_2019_10K.pdf")
    ['10', '10k', '2019', 'bestbuy']
    """
    stem = _ENDING.sub("", re.split(r"[/\\]", name.rstrip("/\\"))[-1])
    spaced = _HUMP.sub(" ", stem)
    lexemes = {lexeme for lexeme, _ in analyze(spaced, _LANGUAGE)}
    return sorted(one for one in lexemes | set(_joined(spaced)) if _says_something(one))


def name_query_weights(query: str, languages: Sequence[str]) -> dict[str, float]:
    """Return the lexemes by which `query` may name a file, each with its weight in 0..1.

    >>> list(name_query_weights("Best Buy in FY2019", ["en"]))
    ['best', 'buy', 'in', 'fy2019', 'fy', '2019', 'bestbuy', 'buyin']
    """
    weights = {k: v for k, v in query_weights(query, languages).items() if _says_something(k)}
    for joined in _joined(query):
        weights.setdefault(joined, 1.0)
    for year in _YEAR.findall(query):
        weights[year] = 1.0
    return weights


def _joined(text: str) -> Iterator[str]:
    """Yield each two neighbouring words as one, without the genitive's ending."""
    words = [token.removesuffix("'s") for token, kind in tokenize(normalize(text)) if not kind]
    for first, second in pairwise(words):
        if first.isalpha() and second.isalpha():
            yield fold_accents(first + second)


def _says_something(lexeme: str) -> bool:
    """A single letter or digit, as is left of `10-K`, does not."""
    return len(lexeme) > 1 or not lexeme.isascii()
