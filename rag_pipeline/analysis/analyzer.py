"""The analyser: text to lexemes with positions, one for documents and queries alike.

Queries do not depend on language detection, which is unreliable on five words: a document is
indexed under the exact form of each word *and* its stem in the document's language, and a query is
expanded by every language in the corpus. So `filters` finds `filter` in an English document whether
or not the query was recognised as English, and `filters` in any document. A stem in the wrong
language is a word that hardly any document contains. The exact form weighs more than the stem:
together they count as one word, and documents with the exact word rank first (measurements in
`expansion`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rag_pipeline.analysis.expansion import (
    TAIL_WEIGHT,
    LexemeForm,
    TokenForms,
    expand_hangul,
    expand_unspaced,
    expand_word,
)
from rag_pipeline.analysis.function_words import function_words
from rag_pipeline.analysis.stemming import has_stemmer, stemmer
from rag_pipeline.analysis.text_tokens import normalize, tokenize

Lexemes = list[tuple[str, int]]
"""Lexemes and their positions, from 1; lexemes that stand for the same word share a position."""

_CACHED_TOKENS = 100_000
_CACHED_LENGTH = 64
_caches: dict[str, dict[str, TokenForms]] = {}


def analyze(text: str, language: str) -> Lexemes:
    """Return the lexemes of `text`, a document in `language` (ISO 639-1, or `und`: no stems).

    Accepts any text; never raises. Stop words are lexemes too, so that phrases work.
    """
    lexemes: Lexemes = []
    append = lexemes.append
    position = 1
    for _, (forms, span) in _expansions(text, language):
        for lexeme, offset, _ in forms:
            append((lexeme, position + offset))
        position += span
    return lexemes


def query_weights(query: str, languages: Sequence[str]) -> dict[str, float]:
    """Return the lexemes to search for, in the query's order, each with its weight in 0..1.

    A weight multiplies the lexeme's inverse document frequency: the share of the word that the
    lexeme represents. Function words are left out beside content words. `languages` are those of
    the documents searched; the query's own language need not be known.
    """
    weights: dict[str, float] = {}
    for _, form in _query_forms(query, languages):
        if form.weight > weights.get(form.lexeme, 0.0):
            weights[form.lexeme] = form.weight
    return weights


def query_words(query: str, languages: Sequence[str]) -> list[frozenset[str]]:
    """Return what a text must have to hold every content word of a query: one lexeme of each set.

    A word is there in any of its forms, a code with each of its segments; Korean words without
    their particles and endings.

    >>> [sorted(word) for word in query_words("How do I replace the filters?", ["en"])]
    [['replac', 'replace'], ['filter', 'filters']]
    """
    places: dict[tuple[int, int], list[LexemeForm]] = {}
    for number, form in _query_forms(query, languages):
        places.setdefault((number, form.offset), []).append(form)
    return [
        frozenset(form.lexeme for form in forms if form.weight)
        for _, forms in sorted(places.items())
        if max(form.weight for form in forms) > TAIL_WEIGHT
    ]


def _query_forms(query: str, languages: Sequence[str]) -> Iterator[tuple[int, LexemeForm]]:
    """Yield the forms of a query's content words, each with its token's number.

    A query that has no other words is made of its function words.
    """
    ignored = function_words(query)
    tokens = [token for token, _ in tokenize(normalize(query))]
    kept = {token for token in tokens if token.removesuffix("'s") not in ignored} or set(tokens)
    for language in dict.fromkeys(filter(has_stemmer, languages)) or ("und",):
        for number, (token, found) in enumerate(_expansions(query, language)):
            if token in kept:
                yield from ((number, form) for form in found.forms)


def _expansions(text: str, language: str) -> Iterator[tuple[str, TokenForms]]:
    cache = _cache(language)
    expand = _expander(language)
    for token, kind in tokenize(normalize(text)):
        expansion = cache.get(token)
        if expansion is None:
            expansion = expand(token, kind)
            if len(token) <= _CACHED_LENGTH:
                cache[token] = expansion
        yield token, expansion


def _cache(language: str) -> dict[str, TokenForms]:
    """Return the expansions of the tokens seen so far: most words are repeated."""
    key = language if has_stemmer(language) else "und"
    cache = _caches.setdefault(key, {})
    if len(cache) >= _CACHED_TOKENS:
        cache = _caches[key] = {}
    return cache


def _expander(language: str) -> Callable[[str, str | None], TokenForms]:
    stem = stemmer(language)

    def expand(token: str, kind: str | None) -> TokenForms:
        if kind == "hangul":
            return expand_hangul(token)
        if kind == "unspaced":
            return expand_unspaced(token)
        return expand_word(token, stem)

    return expand
