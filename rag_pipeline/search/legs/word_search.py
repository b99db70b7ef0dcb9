"""Scores a query's words over the corpus by exact BM25, with phrases, names and corrections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

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
    inverse_frequency,
)
from rag_pipeline.search.legs.chunk_lookups import WholeMatch, recounted, whole_matches
from rag_pipeline.search.legs.closeness import closeness
from rag_pipeline.search.legs.named_files import NamedChunks
from rag_pipeline.search.legs.phrases import MAX_POSITIONS, Phrase
from rag_pipeline.search.scores import Clause, LegHit
from rag_pipeline.settings import ClauseWeights
from rag_pipeline.store.named_queries import queries

READ_POSTINGS = 300_000
"""Approximate limit of postings read for a query, the rarest words first. Words beyond it are
counted only in the chunks that are best by all the others."""
RECOUNTED = 300
"""Number of best chunks in which those words are counted."""
MAX_WHOLE = 100
"""Chunks with every word of the query whose title and phrase are looked at, best first."""


CLOSE = 50
"""Best chunks in which it is looked how close together the words stand."""


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
    asked: Sequence[frozenset[str]] = ()
    """The query's content words, each with its forms; for titles and closeness."""
    language: str | None = None
    """The one that the query is in, if it can be told and the corpus has it."""
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
        whole = self._with_all_words(scores, total, covered, scope if check else None)
        places = np.union1d(places, whole)
        ids = scores.chunk_ids(places)
        raw = {"words": scores.values[places].astype(np.float64)}
        if fuzzy is not None:
            raw["fuzzy"] = fuzzy.values[places].astype(np.float64)
        if self.named is not None:
            raw["file_name"] = self.named.at(ids)
        if unread:
            factors = {lexeme: self.words.factors[lexeme] for lexeme in unread}
            raw["words"] += recounted(self.connection, self.searched.corpus, factors, ids)
        matches = whole_matches(
            self.connection, self.phrase, self.asked, scores.chunk_ids(whole).tolist()
        )
        # All with the whole query, and no more of the others than are returned.
        order = np.argsort(-self._weighted(raw), kind="stable")
        best = set(ids[order[: limit + len(matches)]].tolist())
        hits = [
            self._hit(
                chunk_id,
                {clause: float(column[place]) for clause, column in raw.items()},
                matches.get(chunk_id, WholeMatch()),
                ceiling,
            )
            for place, chunk_id in enumerate(ids.tolist())
            if chunk_id in best or chunk_id in matches
        ]
        hits = [hit for hit in hits if hit.raw_score > 0]
        hits.sort(key=lambda hit: (-hit.raw_score, hit.chunk_id))
        is_wanted = self.asked and self._weight("closeness") > 0
        return self._with_closeness(hits[:limit]) if is_wanted else hits[:limit]

    def _with_closeness(self, hits: Sequence[LegHit]) -> list[LegHit]:
        """Return the hits, the best with a clause for words that stand close together."""
        found = closeness(
            self.connection,
            dict(zip(self.asked, self._rarities, strict=True)),
            self.unknown,
            [hit.chunk_id for hit in hits[:CLOSE]],
            self.language,
        )
        weight = self._weight("closeness")
        added = [
            hit.plus("closeness", share, weight, weight * share)
            for hit in hits
            for share in (found.get(hit.chunk_id, 0.0),)
        ]
        return sorted(added, key=lambda hit: (-hit.raw_score, hit.chunk_id))

    def sureness(self, hits: Sequence[LegHit]) -> float:
        """Return the most that a hit has of what the query's words could give, 0..1.

        The whole query as title or phrase is all of it. A file name counts unless a filter lists
        the chunks: then it says nothing about them.
        """
        names = 0.0 if self.searched.scope.chunk_ids is not None else 1.0
        return self._best_share(hits, {"words": 1.0, "fuzzy": 1.0, "file_name": names})

    def found_share(self, hits: Sequence[LegHit]) -> float:
        """Return the same of the texts alone; a corrected word may be another word: it is half."""
        return self._best_share(hits, {"words": 1.0, "fuzzy": 0.5})

    def _best_share(self, hits: Sequence[LegHit], counted: Mapping[str, float]) -> float:
        most = 0.0
        for hit in hits:
            if any(clause.is_bonus for clause in hit.clauses):
                return 1.0
            most = max(most, sum(c.raw_score * counted.get(c.name, 0.0) for c in hit.clauses))
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
        """Add up BM25; return which places have every word of the query that was read."""
        bits = self._bits_of(read)
        covered = np.zeros(len(scores.values), dtype=np.uint32) if bits else None
        rows = self._postings([*read, *self.fuzzy.factors])
        for lexeme in read:
            places, rest = scores.places(rows.get(lexeme, ()))
            scores.add(places, rest, self.words.factors[lexeme])
            if covered is not None and lexeme in bits:
                covered[places] |= bits[lexeme]
        if fuzzy is not None:
            for lexeme, factor in self.fuzzy.factors.items():
                fuzzy.add(*fuzzy.places(rows.get(lexeme, ())), factor)
        return None if covered is None else covered == np.bitwise_or.reduce(list(bits.values()))

    def _bits_of(self, read: Sequence[str]) -> dict[str, np.uint32]:
        """Return, by lexeme, a bit for each word of the query whose postings were read.

        Empty if the corpus lacks one of the words, or there are too many. A word that was not read
        is in most chunks.
        """
        known = all(not word.isdisjoint(self.words.factors) for word in self.asked)
        if not known or len(self.asked) > MAX_POSITIONS:
            return {}
        bits: dict[str, np.uint32] = {}
        for number, word in enumerate(self.asked):
            for lexeme in word & frozenset(read):
                bits[lexeme] = bits.get(lexeme, np.uint32(0)) | np.uint32(1 << number)
        return bits

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

    @cached_property
    def _rarities(self) -> list[float]:
        """The inverse document frequency of each of the query's words, in its commonest form."""
        known = self.words.frequencies
        counts = [max((known.get(form, 0) for form in word), default=0) for word in self.asked]
        total = self.searched.corpus.chunk_count
        return [inverse_frequency(total, count) if count else 0.0 for count in counts]

    def _phrase_rarity(self) -> float:
        """Return how rare the phrase's words are together, 1 = as the rarest word, at most."""
        return min(
            1.0, sum(self._rarities) / inverse_frequency(self.searched.corpus.chunk_count, 1)
        )

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
        """Return the best places that have every word of the query."""
        if covered is None:
            return np.zeros(0, dtype=np.int64)
        places = np.flatnonzero(covered)
        best = places[best_places(total[places], MAX_WHOLE)]
        return best if scope is None else self._passing(scores, best, scope)

    def _passing(
        self, scores: Scores, places: NDArray[np.int64], scope: Scope
    ) -> NDArray[np.int64]:
        ids = scores.chunk_ids(places)
        passed = passing(self.connection, scope, ids.tolist())
        kept: NDArray[np.int64] = places[[one in passed for one in ids.tolist()]]
        return kept

    def _hit(
        self, chunk_id: int, raw: Mapping[str, float], match: WholeMatch, ceiling: float
    ) -> LegHit:
        bonus = {
            "title": float(match.in_title),
            "phrase": self._phrase_rarity() if match.as_phrase else 0.0,
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
