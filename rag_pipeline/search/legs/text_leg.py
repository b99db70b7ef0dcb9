"""The text leg: words by exact BM25, plus clauses for phrases, corrected words and file names.

A chunk's score in this leg is the weighted sum of its clauses: the section's title, the phrase,
words, corrected words, words in the file name. Each is at most 1: a title has all words or not, a
phrase counts as much as its words are rare, and BM25 is divided by the most that the query's words
could give.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.analysis import query_weights, query_words
from rag_pipeline.search.filters import EVERYTHING, Scope
from rag_pipeline.search.legs.bm25_postings import Corpus, inverse_frequency
from rag_pipeline.search.legs.corrections import Correction, correct
from rag_pipeline.search.legs.lexeme_frequencies import frequencies_of
from rag_pipeline.search.legs.named_files import named_chunks
from rag_pipeline.search.legs.phrases import Phrase
from rag_pipeline.search.legs.word_search import READ_POSTINGS, Searched, Words, WordSearch
from rag_pipeline.search.scores import LegHit
from rag_pipeline.search.visibility import posting_buckets
from rag_pipeline.settings import ClauseWeights
from rag_pipeline.store.named_queries import queries
from rag_pipeline.text import detect_language

SURE_OF_WORDS = 0.3
"""Sureness from which the leg counts in full in the fusion."""


@dataclass(frozen=True)
class TextFound:
    """The leg's hits, best first, and the corrections that were searched for."""

    hits: list[LegHit] = field(default_factory=list)
    corrections: list[Correction] = field(default_factory=list)
    factors: Mapping[str, float] = field(default_factory=dict)
    """The searched lexemes, each with weight × inverse document frequency."""
    asked: Set[str] = frozenset()
    """Every lexeme of the query and of its corrections, known or not."""
    sureness: float = 1.0
    """Best hit's share of what the query's words could give, 0..1."""
    found_share: float = 0.0
    """The same of the texts alone, without names of files; 0 if nothing was found."""
    searched: Searched | None = None
    """What was searched; None if there was nothing to search for."""


def text_leg(
    connection: Connection[TupleRow],
    query: str,
    limit: int,
    *,
    clauses: ClauseWeights | None = None,
    scope: Scope = EVERYTHING,
) -> TextFound:
    """Return the best `limit` chunks in scope by words, best first."""
    clauses = clauses or ClauseWeights()
    buckets = posting_buckets(connection)
    corpus = Corpus(
        [one.bucket for one in buckets],
        sum(one.chunk_count for one in buckets),
        sum(one.lexeme_total for one in buckets),
    )
    if not corpus.chunk_count or scope.is_nothing:
        return TextFound()
    has_dead = any(one.dead_count for one in buckets)
    languages = [language for (language,) in queries.corpus_languages(connection)]
    phrase = Phrase.of(query)
    weights = query_weights(query, languages)
    frequencies = _frequencies(connection, weights)
    words = _words(weights, frequencies, corpus)
    corrections: list[Correction] = []
    fuzzy = Words({}, {})
    if clauses.fuzzy:
        corrections = correct(connection, query, languages, frequencies)
        fuzzy = _fuzzy_words(connection, corrections, languages, words, corpus)
    if not weights:
        return TextFound(corrections=corrections)
    named = None
    if clauses.file_name and (words.factors or fuzzy.factors):
        named = named_chunks(connection, query, languages, corpus, frequencies)
    language = detect_language(query)
    unknown = _unknown_share(weights, frequencies, corrections, corpus)
    searched = Searched(corpus, has_dead, languages, scope)
    search = WordSearch(
        connection,
        searched,
        words,
        READ_POSTINGS,
        clauses,
        fuzzy,
        phrase,
        query_words(query, languages),
        language if language in languages else None,
        named,
        unknown,
    )
    hits = search.best(limit)
    return TextFound(
        hits,
        corrections,
        fuzzy.factors | words.factors,
        weights.keys() | fuzzy.factors.keys(),
        search.sureness(hits),
        search.found_share(hits),
        searched,
    )


def _frequencies(connection: Connection[TupleRow], lexemes: Iterable[str]) -> dict[str, int]:
    return frequencies_of(connection, queries.document_frequencies, lexemes=sorted(lexemes))


def _words(weights: Mapping[str, float], frequencies: dict[str, int], corpus: Corpus) -> Words:
    factors = {
        lexeme: weight * inverse_frequency(corpus.chunk_count, frequencies[lexeme])
        for lexeme, weight in weights.items()
        if weight > 0 and lexeme in frequencies
    }
    return Words(factors, frequencies)


def _fuzzy_words(
    connection: Connection[TupleRow],
    corrections: Sequence[Correction],
    languages: Sequence[str],
    words: Words,
    corpus: Corpus,
) -> Words:
    weights: dict[str, float] = {}
    for correction in corrections:
        for lexeme, weight in query_weights(correction.found, languages).items():
            if lexeme not in words.factors:
                weights[lexeme] = max(weights.get(lexeme, 0.0), weight * correction.weight)
    if not weights:
        return Words({}, {})
    return _words(weights, _frequencies(connection, weights), corpus)


def _unknown_share(
    weights: Mapping[str, float],
    frequencies: Mapping[str, int],
    corrections: Sequence[Correction],
    corpus: Corpus,
) -> float:
    """Return the idf of words missing from the corpus: they are part of the question too."""
    typed = {correction.typed for correction in corrections if correction.is_shown}
    rarest = inverse_frequency(corpus.chunk_count, 0)
    missing = [
        weight
        for lexeme, weight in weights.items()
        if weight >= 0.7 and lexeme not in frequencies and lexeme not in typed
    ]
    return rarest * (sum(missing) + len(typed))
