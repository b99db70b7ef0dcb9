"""Scores a query's words over the corpus by exact BM25, with phrases, names and corrections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.search.filters import Scope, passing
from rag_pipeline.search.legs.bm25_postings import (
    K1,
    Corpus,
    Scores,
    best_places,
)
from rag_pipeline.search.legs.chunk_lookups import PhrasePlace, phrase_places, recounted
from rag_pipeline.search.legs.named_files import NamedChunks
from rag_pipeline.search.legs.phrases import Phrase
from rag_pipeline.search.scores import Clause, LegHit
from rag_pipeline.settings import ClauseWeights
from rag_pipeline.store.named_queries import queries

READ_POSTINGS = 300_000
"""Approximate limit of postings read for a query, the rarest words first. Words beyond it are
counted only in the chunks that are best by all the others."""
RECOUNTED = 300
"""Number of best chunks in which those words are counted."""
MAX_PHRASES = 100
"""Chunks with every word of the query that are checked for the phrase, best by words first."""


@dataclass(frozen=True)
class Searched:
    """What is searched: a snapshot of the corpus, and which of its chunks."""

    corpus: Corpus
    has_dead: bool
    """Whether postings may name deleted chunks."""
    languages: Sequence[str]
    scope: Scope


@dataclass(frozen=True)
class Words:
    """Lexemes to score: factor = weight × inverse document frequency."""

    factors: dict[str, float]
    frequencies: dict[str, int]


@dataclass
class WordSearch:
    """Words to look for in a corpus, and what else counts."""

    connection: Connection[TupleRow]
    searched: Searched
    words: Words
    most_postings: int
    clauses: ClauseWeights = field(default_factory=ClauseWeights)
    fuzzy: Words = field(default_factory=lambda: Words({}, {}))
    phrase: Phrase | None = None
    named: NamedChunks | None = None
    unknown: float = 0.0
    """Total weight of words that are missing from the corpus."""

    def best(self, limit: int) -> list[LegHit]:
        """Return the `limit` best chunks with their clauses."""
        read, unread = self._affordable()
        scores = Scores(self.searched.corpus)
        fuzzy = Scores(self.searched.corpus) if self.fuzzy.factors else None
        covered = self._score(scores, fuzzy, read)
        ceiling, scope = self._ceiling(), self.searched.scope
        total = self._total(scores, fuzzy)
        if scope.chunk_ids is not None:
            total = _only(total, scores.places_of(np.asarray(scope.chunk_ids, dtype=np.int64)))
        count = max(limit, RECOUNTED) if unread else limit
        check = self.searched.has_dead or (not scope.is_everything and scope.chunk_ids is None)
        places = self._verified(scores, total, count, scope if check else None)
        with_phrase = self._with_all_words(scores, total, covered, scope if check else None)
        places = np.union1d(places, with_phrase)
        ids = scores.chunk_ids(places)
        raw = {"words": scores.values[places].astype(np.float64)}
        if fuzzy is not None:
            raw["fuzzy"] = fuzzy.values[places].astype(np.float64)
        if self.named is not None:
            raw["file_name"] = self.named.at(ids)
        if unread:
            factors = {lexeme: self.words.factors[lexeme] for lexeme in unread}
            raw["words"] += recounted(self.connection, self.searched.corpus, factors, ids)
        phrases = phrase_places(
            self.connection, self.phrase, scores.chunk_ids(with_phrase).tolist()
        )
        # All with the phrase, and no more of the others than are returned.
        order = np.argsort(-self._weighted(raw), kind="stable")
        best = set(ids[order[: limit + len(phrases)]].tolist())
        hits = [
            self._hit(
                chunk_id,
                {clause: float(column[place]) for clause, column in raw.items()},
                phrases.get(chunk_id, PhrasePlace()),
                ceiling,
            )
            for place, chunk_id in enumerate(ids.tolist())
            if chunk_id in best or chunk_id in phrases
        ]
        hits = [hit for hit in hits if hit.raw_score > 0]
        return sorted(hits, key=lambda hit: (-hit.raw_score, hit.chunk_id))[:limit]

    def sureness(self, hits: Sequence[LegHit]) -> float:
        """Return the most that a hit has of what the query's words could give, 0..1.

        A phrase is all of it. A file name counts unless a filter lists the chunks: then it says
        nothing about them.
        """
        counted = {"words", "fuzzy"}
        if self.searched.scope.chunk_ids is None:
            counted.add("file_name")
        most = 0.0
        for hit in hits:
            if any(clause.is_bonus for clause in hit.clauses):
                return 1.0
            most = max(most, sum(c.raw_score for c in hit.clauses if c.name in counted))
        return min(1.0, most / self._ceiling())

    def _affordable(self) -> tuple[list[str], list[str]]:
        """Split the words into those whose postings are read, rarest first, and the rest.

        A word in half of the chunks says next to nothing beside rarer ones.
        """
        frequencies = self.words.frequencies
        by_rarity = sorted(self.words.factors, key=lambda lexeme: (frequencies[lexeme], lexeme))
        read: list[str] = []
        total = 0
        for place, lexeme in enumerate(by_rarity):
            total += frequencies[lexeme]
            if read and total > self.most_postings:
                return read, by_rarity[place:]
            read.append(lexeme)
        return read, []

    def _score(
        self, scores: Scores, fuzzy: Scores | None, read: Sequence[str]
    ) -> NDArray[np.bool_] | None:
        """Add up BM25; return which places have every word of the phrase that was read."""
        phrase = self._distinct_phrase()
        counted = set(phrase).intersection(read) if phrase else set()
        covered = np.zeros(len(scores.values), dtype=np.uint8) if counted else None
        rows = self._postings([*read, *self.fuzzy.factors])
        for lexeme in read:
            places, rest = scores.places(rows.get(lexeme, ()))
            scores.add(places, rest, self.words.factors[lexeme])
            if covered is not None and lexeme in counted:
                covered[places] += 1
        if fuzzy is not None:
            for lexeme, factor in self.fuzzy.factors.items():
                fuzzy.add(*fuzzy.places(rows.get(lexeme, ())), factor)
        return None if covered is None else covered == len(counted)

    def _weight(self, clause: str) -> float:
        return float(getattr(self.clauses, clause))

    def _weighted(self, raw: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the weighted sum of the clauses."""
        columns = [self._weight(clause) * column for clause, column in raw.items()]
        total: NDArray[np.float64] = np.sum(columns, axis=0)
        return total

    def _total(self, scores: Scores, fuzzy: Scores | None) -> NDArray[np.float32]:
        """Return what orders the places: the words, and the other clauses relative to them.

        All are parts of the same ceiling. A file name ranks chunks that have a word; it finds none.
        """
        total = scores.values
        if fuzzy is not None:
            total = total + fuzzy.values * np.float32(self.clauses.fuzzy / self.clauses.words)
        if self.named is not None:
            places = scores.places_of(self.named.chunk_ids)
            found = total[places]
            share = self.named.scores * np.float32(self.clauses.file_name / self.clauses.words)
            total = total.copy()
            total[places] = found + share * (found > 0)
        return total

    def _postings(self, lexemes: Sequence[str]) -> dict[str, list[tuple[int, bytes]]]:
        rows: dict[str, list[tuple[int, bytes]]] = {}
        with self.connection.cursor(binary=True) as cursor:
            cursor.execute(queries.postings.sql, {"lexemes": list(lexemes)})
            for lexeme, bucket, postings in cursor:
                rows.setdefault(lexeme, []).append((bucket, postings))
        return rows

    def _distinct_phrase(self) -> tuple[str, ...]:
        """Return the phrase's lexemes; none if the corpus lacks one of them."""
        if self.phrase is None or not (self.clauses.phrase_in_trail or self.clauses.phrase_in_text):
            return ()
        lexemes = self.phrase.lexemes
        return lexemes if all(self.words.frequencies.get(one) for one in lexemes) else ()

    def _ceiling(self) -> float:
        """Return the BM25 score of a chunk that is full of everything asked for."""
        known = sum(self.words.factors.values())
        return max(1e-9, (K1 + 1) * (known + self.unknown))

    def _verified(
        self,
        scores: Scores,
        total: NDArray[np.float32],
        count: int,
        scope: Scope | None,
    ) -> NDArray[np.int64]:
        """Return the best places whose chunks exist and pass; a `scope` of None passes all."""
        if scope is None:
            return best_places(total, count)
        found: list[int] = []
        seen = 0
        size = 2 * count
        while True:
            places = best_places(total, size)
            found += self._passing(scores, places[seen:], scope).tolist()
            if len(found) >= count or len(places) < size:
                return np.asarray(found[:count], dtype=np.int64)
            seen = len(places)
            size *= 4

    def _with_all_words(
        self,
        scores: Scores,
        total: NDArray[np.float32],
        covered: NDArray[np.bool_] | None,
        scope: Scope | None,
    ) -> NDArray[np.int64]:
        """Return the best places that have every word of the phrase."""
        if covered is None:
            return np.zeros(0, dtype=np.int64)
        places = np.flatnonzero(covered)
        best = places[best_places(total[places], MAX_PHRASES)]
        return best if scope is None else self._passing(scores, best, scope)

    def _passing(
        self, scores: Scores, places: NDArray[np.int64], scope: Scope
    ) -> NDArray[np.int64]:
        ids = scores.chunk_ids(places)
        passed = passing(self.connection, scope, ids.tolist())
        kept: NDArray[np.int64] = places[[one in passed for one in ids.tolist()]]
        return kept

    def _hit(
        self, chunk_id: int, raw: Mapping[str, float], phrase: PhrasePlace, ceiling: float
    ) -> LegHit:
        bonus = {
            "phrase_in_trail": float(phrase.in_trail),
            "phrase_in_text": float(phrase.in_text),
        }
        parts = [(name, value, value, self._weight(name)) for name, value in bonus.items()]
        parts += [
            (name, value, min(1.0, value / ceiling), self._weight(name))
            for name, value in raw.items()
        ]
        total = sum(weight * part for _, _, part, weight in parts)
        return LegHit(
            chunk_id,
            total,
            tuple(
                Clause(name, value, weight, weight * part / total, name in bonus)
                for name, value, part, weight in parts
                if weight * part > 0
            ),
        )


def _only(total: NDArray[np.float32], places: NDArray[np.int64]) -> NDArray[np.float32]:
    kept = np.zeros_like(total)
    kept[places] = total[places]
    return kept
