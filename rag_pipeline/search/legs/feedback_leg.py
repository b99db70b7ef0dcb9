"""The feedback leg: if the query's words find little, searches for words the best results share.

A balance sheet does not say "working capital", nor an English manual the words of a Korean
question; but the first results, close in meaning, share words that lead further. (Pseudo-relevance
feedback, after RM3: Abdul-Jaleel et al., UMass at TREC 2004: Novelty and HARD. Its weight fades
with how much was found: questions in the document's own words are answered best by these alone.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.analysis import query_weights
from rag_pipeline.analysis.function_words import function_words_of
from rag_pipeline.search.legs.bm25_postings import inverse_frequency
from rag_pipeline.search.legs.text_leg import SURE_OF_WORDS, TextFound
from rag_pipeline.search.legs.word_search import Words, WordSearch
from rag_pipeline.search.scores import LegHit
from rag_pipeline.store.named_queries import queries, records

SURE_WITHOUT_FILTER = 0.1
"""Sureness from which a search that no filter narrows to a list of chunks uses no feedback. Its
first results may all be off topic, and their words would reinforce that; in a document that the
user named, the answer is most likely there in other words."""
FEEDBACK_RESULTS = 10
"""Number of results whose words are considered."""
_MANY = 5
"""Number of results from which a word must be in at least two."""
_WORDS = 10
"""Maximum number of words searched for."""
_READ_POSTINGS = 100_000
"""Like `READ_POSTINGS` of the text leg, but less: frequent words say less if nobody typed them."""


@dataclass(frozen=True)
class FeedbackFound:
    """The leg's hits, best first, and the words searched for, heaviest first."""

    hits: list[LegHit] = field(default_factory=list)
    words: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class SharedLexeme:
    """A lexeme of several chunks and the sum of their scores: a row of `shared_lexemes`."""

    lexeme: str
    score: float
    document_frequency: int


def fading(found: TextFound) -> float:
    """Return how much feedback counts: 1 if no word was found, 0 if the words are sure."""
    if found.searched is None:
        return 0.0
    is_narrow = found.searched.scope.chunk_ids is not None
    return max(0.0, 1 - found.sureness / (SURE_OF_WORDS if is_narrow else SURE_WITHOUT_FILTER))


def feedback_leg(
    connection: Connection[TupleRow], found: TextFound, best: Mapping[int, float], limit: int
) -> FeedbackFound:
    """Return the best `limit` chunks in scope by words that the `best` share and nobody typed.

    `best` are chunk ids with their fused scores. A hit's raw score is BM25 with each word's idf
    multiplied by the scores of the best chunks that have it; it only serves to order the hits.
    """
    searched = found.searched
    if searched is None or not best:
        return FeedbackFound()
    values: dict[str, float] = {}
    frequencies: dict[str, int] = {}
    rows = records(
        connection,
        SharedLexeme,
        queries.shared_lexemes,
        chunk_ids=list(best),
        scores=list(best.values()),
        least=2 if len(best) >= _MANY else 1,
    )
    for row in rows:
        frequencies[row.lexeme] = row.document_frequency
        idf = inverse_frequency(searched.corpus.chunk_count, row.document_frequency)
        values[row.lexeme] = row.score * idf
    words, factors = heaviest(values, found.asked, searched.languages)
    if not factors:
        return FeedbackFound()
    search = WordSearch(connection, searched, Words(factors, frequencies), _READ_POSTINGS)
    hits = search.best(limit)
    by_words = [LegHit(hit.chunk_id, hit.clauses[0].raw_score) for hit in hits]
    return FeedbackFound(by_words, words)


def heaviest(
    values: Mapping[str, float], asked: Set[str], languages: Sequence[str]
) -> tuple[list[str], dict[str, float]]:
    """Return the words with the greatest values, and the factors of their lexemes. Pure.

    As in a query, all forms of a word count as one. A word that shares a form with one that was
    `asked` for, or with a heavier one, is the same word again.

    >>> heaviest({"pumps": 2.0, "pump": 1.8, "seal": 1.0}, {"seal"}, ["en"])
    (['pumps'], {'pumps': 1.4, 'pump': 0.54})
    """
    words: list[str] = []
    factors: dict[str, float] = {}
    ignored = frozenset[str]().union(*map(function_words_of, languages))
    # Of two equal forms, readers know the longer one.
    for lexeme in sorted(values, key=lambda lexeme: (-values[lexeme], -len(lexeme), lexeme)):
        if lexeme in ignored:
            continue
        forms = query_weights(lexeme, languages)
        if forms.keys() & asked or forms.keys() & factors.keys():
            continue
        known = {
            form: weight * values[form]
            for form, weight in forms.items()
            if weight > 0 and form in values
        }
        if known:
            words.append(lexeme)
            factors |= known
        if len(words) == _WORDS:
            break
    return words, factors
