"""The feedback leg: where little of the query's words was found, words that the best results share.

"Working capital" stands nowhere in a balance sheet, nor a Korean question's words in an English
manual; what the first results, near in meaning, have in common does. (Pseudo-relevance feedback,
after RM3: Abdul-Jaleel et al., UMass at TREC 2004: Novelty and HARD. It fades with how much was
found: who asks in the document's own words is answered best by these alone.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.analysis import query_weights
from rag_pipeline.search.legs.postings import inverse_frequency
from rag_pipeline.search.legs.text_leg import SURE_OF_WORDS, TextFound
from rag_pipeline.search.legs.word_search import Words, WordSearch
from rag_pipeline.search.ranking.fusion import LegHit
from rag_pipeline.store.named_queries import queries

SURE_WITHOUT_FILTER = 0.1
"""From where a search of everything, or of more chunks than a filter lists, asks for no feedback.
Its first results may all be about something else, and their words would only make it surer of that;
in a document that the user has named, what is asked for most likely stands in other words."""
FEEDBACK_RESULTS = 10
"""Results whose words are looked at."""
_MANY = 5
"""Results from which a word must be in two of them."""
_WORDS = 10
"""Words that are searched for, at most."""
_READ_POSTINGS = 100_000
"""As `READ_POSTINGS` of the text leg: frequent words tell less than where they were asked for."""


@dataclass(frozen=True)
class FeedbackFound:
    """The leg's hits, best first, and the words that were searched for, the heaviest first."""

    hits: list[LegHit] = field(default_factory=list)
    words: list[str] = field(default_factory=list)


def fading(found: TextFound) -> float:
    """Return how much feedback counts: 1 where no word was found, 0 where the words are sure."""
    if found.searched is None:
        return 0.0
    is_narrow = found.searched.scope.chunk_ids is not None
    return max(0.0, 1 - found.sureness / (SURE_OF_WORDS if is_narrow else SURE_WITHOUT_FILTER))


def feedback_leg(
    connection: Connection[TupleRow], found: TextFound, best: Mapping[int, float], limit: int
) -> FeedbackFound:
    """Return the best `limit` chunks in scope by words that the `best` share and nobody asked for.

    `best` are chunk ids with their fused scores. A hit's raw score is BM25, each word's idf times
    the scores of those of the best that have it: it orders, and is compared with no other.
    """
    searched = found.searched
    if searched is None or not best:
        return FeedbackFound()
    values: dict[str, float] = {}
    frequencies: dict[str, int] = {}
    for lexeme, score, frequency in queries.shared_lexemes(
        connection,
        chunk_ids=list(best),
        scores=list(best.values()),
        least=2 if len(best) >= _MANY else 1,
    ):
        frequencies[lexeme] = int(frequency)
        values[lexeme] = score * inverse_frequency(searched.corpus.chunk_count, int(frequency))
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
    """Return the words of the greatest values, and the factors of their lexemes. Pure.

    A word is all its forms, together one word as in a query. One that shares a form with what was
    `asked` for, or with a heavier one, is the same word again.

    >>> heaviest({"pumps": 2.0, "pump": 1.8, "seal": 1.0}, {"seal"}, ["en"])
    (['pumps'], {'pumps': 1.4, 'pump': 0.54})
    """
    words: list[str] = []
    factors: dict[str, float] = {}
    # Of two forms that say as much, the longer is the one that a reader knows.
    for lexeme in sorted(values, key=lambda lexeme: (-values[lexeme], -len(lexeme), lexeme)):
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
