"""The feedback leg: where little of the query's words was found, words that the best results share.

"Working capital" stands nowhere in a balance sheet, nor a Korean question's words in an English
manual; what the first results have in common does. (Pseudo-relevance feedback, after RM3:
Abdul-Jaleel et al., UMass at TREC 2004: Novelty and HARD. It fades with how much was found: who
asks in the document's own words is answered best by these alone.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.search.fusion import LegHit
from rag_pipeline.search.postings import inverse_frequency
from rag_pipeline.search.text_leg import TextFound, Words
from rag_pipeline.store.queries import queries

SURE_OF_WORDS = 0.2
"""Share of what the query's words could give at most, from which they are sure: the text leg counts
in full in the fusion, and no feedback is asked for."""
SURE_WITHOUT_FILTER = 0.1
"""From where a search of everything asks for none. Its first results may all be about something
else, and their words would only make it surer of that; in a document that the user has named, what
is asked for most likely stands in other words."""
FEEDBACK_RESULTS = 10
"""Results whose words are looked at."""
_WORDS = 10
"""Words that are searched for, at most."""
_LOOKED_UP = 100
"""Words whose frequency is looked up: those that most of the results have."""


@dataclass(frozen=True)
class FeedbackFound:
    """The leg's hits, best first, and the lexemes that were searched for, the heaviest first."""

    hits: list[LegHit] = field(default_factory=list)
    words: list[str] = field(default_factory=list)


def fading(found: TextFound) -> float:
    """Return how much feedback counts: 1 where no word was found, 0 where the words are sure."""
    if found.search is None:
        return 0.0
    sure = SURE_WITHOUT_FILTER if found.search.scope.is_everything else SURE_OF_WORDS
    return max(0.0, 1 - found.sureness / sure)


def feedback_leg(
    connection: Connection[TupleRow], found: TextFound, best: Mapping[int, float], limit: int
) -> FeedbackFound:
    """Return the best `limit` chunks in scope by words that the `best` share and nobody asked for.

    `best` are chunk ids with their fused scores.
    """
    if found.search is None or not best:
        return FeedbackFound()
    shared: dict[str, float] = {}
    for chunk_id, lexemes in queries.lexemes_within(connection, chunk_ids=sorted(best)):
        for lexeme in lexemes:
            if lexeme not in found.factors:
                shared[lexeme] = shared.get(lexeme, 0.0) + best[chunk_id]
    known = sorted(shared, key=lambda lexeme: (-shared[lexeme], lexeme))[:_LOOKED_UP]
    frequencies = {
        lexeme: int(count) for lexeme, count in queries.near_lexemes(connection, variants=known)
    }
    factors = heaviest(shared, frequencies, found.search.corpus.chunk_count)
    if not factors:
        return FeedbackFound()
    hits = found.search.for_words(connection, Words(factors, frequencies)).best(limit)
    by_words = [LegHit(hit.chunk_id, hit.clauses[0].raw_score) for hit in hits]
    return FeedbackFound(by_words, list(factors))


def heaviest(
    shared: Mapping[str, float], frequencies: Mapping[str, int], chunk_count: int
) -> dict[str, float]:
    """Return the words that say most: what the results that have them scored × idf. Pure.

    >>> heaviest({"pump": 2.0, "the": 2.0, "seal": 1.0}, {"pump": 5, "the": 100, "seal": 5}, 100)
    {'pump': 5.824699238765662, 'seal': 2.912349619382831, 'the': 0.009950330853168092}
    """
    values = {
        lexeme: shared[lexeme] * inverse_frequency(chunk_count, frequency)
        for lexeme, frequency in frequencies.items()
    }
    best = sorted(values, key=lambda lexeme: (-values[lexeme], lexeme))
    return {lexeme: values[lexeme] for lexeme in best[:_WORDS]}
