"""Search: the text leg and the vector leg at once, fused, with every score's origin."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from rag_pipeline.embedding import Embedder
from rag_pipeline.search.filters import EVERYTHING, Filters, Scope, resolve
from rag_pipeline.search.legs.feedback_leg import (
    FEEDBACK_RESULTS,
    FeedbackFound,
    fading,
    feedback_leg,
)
from rag_pipeline.search.legs.text_leg import SURE_OF_WORDS, TextFound, text_leg
from rag_pipeline.search.legs.vector_leg import vector_leg
from rag_pipeline.search.ranking.fusion import FusedHit, LegHit, fuse
from rag_pipeline.search.ranking.relevance import relevance
from rag_pipeline.search.ranking.reranker import rerank
from rag_pipeline.search.ranking.result_context import expand as expand_results
from rag_pipeline.search.ranking.result_pages import ranked_pages
from rag_pipeline.search.ranking.selection import maximal_marginal_relevance, without_duplicates
from rag_pipeline.search.search_results import SearchResponse, SearchResult, to_result
from rag_pipeline.search.search_space import SpaceEmbedders, space_to_search
from rag_pipeline.search.sql_statements import Statement, search_statements
from rag_pipeline.search.visibility import visible_chunks
from rag_pipeline.settings import SearchSettings, Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.embeddings import EmbeddingSpace
from rag_pipeline.store.named_queries import queries
from rag_pipeline.text import clean_text, one_line

MAX_QUERY_CHARACTERS = 8_000
"""A longer query is cut here, and the response says so."""
_POOL = 4
"""Results looked at for each one returned, where some are left out for being alike or weak."""


@dataclass
class _Run:
    """What one search is asked for, and what is learnt on the way."""

    query: str
    weights: Mapping[str, float]
    limit: int
    candidates: int
    settings: SearchSettings
    scope: Scope
    seconds: dict[str, float]
    text: TextFound = field(default_factory=TextFound)
    feedback: FeedbackFound = field(default_factory=FeedbackFound)
    space: EmbeddingSpace | None = None
    embedding: np.ndarray[Any, np.dtype[np.float32]] | None = None
    similarities: dict[int, float] = field(default_factory=dict)
    """Cosines of results that no leg but feedback found, for their relevance."""


class Searcher:
    """Searches one database, by words and in one embedding space.

    `space` names the space, by default whichever is active at the time of the search. `embedder`
    is used for its own space, where the caller has one at hand. `principals` are those who search;
    see `Database.for_readers`.
    """

    def __init__(
        self,
        database: Database,
        settings: Settings,
        *,
        space: str | None = None,
        embedder: Embedder | None = None,
        principals: Sequence[str] | None = None,
    ) -> None:
        self._database = database.for_readers(principals)
        self._settings = settings.search
        self._space_name = space
        self._embedders = SpaceEmbedders(settings, embedder)

    def reading_from(self, database: Database) -> Searcher:
        """Return a searcher of the same models over a database as others see it."""
        other = copy(self)
        other._database = database.for_readers()
        return other

    @property
    def embedder(self) -> Embedder:
        """The embedder of the space that is searched now."""
        with self._database.connection() as connection:
            return self._embedders.of(space_to_search(connection, self._space_name))

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        weights: Mapping[str, float] | None = None,
        filters: Filters | None = None,
        relevance_threshold: float | None = None,
        selection: Literal["top_k", "mmr"] | None = None,
        mmr_lambda: float | None = None,
        duplicate_similarity: float | None = None,
        expand: Literal["none", "parent", "neighbours"] | None = None,
    ) -> SearchResponse:
        """Return the `limit` best chunks. No query is an error; an empty one finds nothing.

        `weights` are those of the legs `text` and `vector`; a leg of weight 0 does not run. What is
        not given is as the settings have it. Where nothing is found, the notes say why.
        """
        notes: list[str] = []
        cleaned = one_line(clean_text(query))
        if len(cleaned) > MAX_QUERY_CHARACTERS:
            notes.append(f"the query was cut after {MAX_QUERY_CHARACTERS} characters")
            cleaned = cleaned[:MAX_QUERY_CHARACTERS]
        if not cleaned:
            return SearchResponse(query, [], notes=["the query is empty"])
        given = {
            "relevance_threshold": relevance_threshold,
            "selection": selection,
            "mmr_lambda": mmr_lambda,
            "duplicate_similarity": duplicate_similarity,
            "expand": expand,
        }
        settings = self._settings.model_copy(
            update={name: value for name, value in given.items() if value is not None}
        )
        seconds: dict[str, float] = {}
        limit = limit or settings.limit
        run = _Run(
            query=cleaned,
            weights=dict(weights) if weights is not None else settings.weights.model_dump(),
            limit=limit,
            candidates=max(limit, settings.candidates),
            settings=settings,
            scope=self._scope(filters, seconds),
            seconds=seconds,
        )
        results = [] if run.scope.is_nothing else self._results(run, notes)
        if not results and not notes:
            notes.append(self._why_nothing(run.scope))
        return SearchResponse(
            query, results, seconds, notes, run.text.corrections, run.feedback.words
        )

    def statements(
        self,
        query: str,
        *,
        limit: int | None = None,
        weights: Mapping[str, float] | None = None,
        filters: Filters | None = None,
    ) -> list[Statement]:
        """Return the statements that a search sends, with their parameters, without running them.

        The space and the corpus' languages are read, nothing else; what a statement takes from the
        one before it stays a named parameter.
        """
        used = dict(weights) if weights is not None else self._settings.weights.model_dump()
        limit = limit or self._settings.limit
        with self._database.connection() as connection:
            space = space_to_search(connection, self._space_name) if used.get("vector") else None
            return search_statements(
                connection,
                one_line(clean_text(query))[:MAX_QUERY_CHARACTERS],
                max(limit, self._settings.candidates),
                space=space,
                by_text=bool(used.get("text")),
                by_name=bool(self._settings.clauses.file_name),
                by_feedback=bool(space and used.get("text") and self._settings.feedback),
                filters=filters or Filters(),
            )

    def _scope(self, filters: Filters | None, seconds: dict[str, float]) -> Scope:
        if filters is None or filters.is_empty:
            return EVERYTHING
        start = time.perf_counter()
        with self._database.connection() as connection:
            is_restricted = self._database.principals is not None
            scope = resolve(connection, filters, is_restricted=is_restricted)
        seconds["filter"] = time.perf_counter() - start
        return scope

    def _results(self, run: _Run, notes: list[str]) -> list[SearchResult]:
        legs = self._run_legs(run)
        start = time.perf_counter()
        settings = run.settings
        fused = self._with_feedback(run, legs, _fused(legs, run.weights, settings))
        results = self._fetch(fused[: self._pool_size(run)], run)
        if results and settings.relevance_threshold > 0:
            results = [one for one in results if one.relevance >= settings.relevance_threshold]
            if not results:
                notes.append(
                    f"nothing of relevance {settings.relevance_threshold:g} or more was found"
                )
        results, repetitions = without_duplicates(results, settings.duplicate_similarity)
        if settings.reranker.url is not None:
            results, failure = rerank(run.query, results, settings.reranker)
            notes += [failure] if failure else []
        if settings.selection == "mmr":
            vectors = self._vectors([one.chunk_id for one in results])
            results = maximal_marginal_relevance(results, vectors, run.limit, settings.mmr_lambda)
        results = [
            replace(
                one, pages=ranked_pages(one.content, one.regions, one.language, run.text.factors)
            )
            for one in results[: run.limit]
        ]
        if repetitions:
            notes.append(f"{repetitions} results that repeat better ones were left out")
        if settings.expand != "none":
            with self._database.connection() as connection:
                results = expand_results(connection, results, settings.expand)
        feedback = run.seconds.get("feedback", 0.0)
        run.seconds["fuse"] = time.perf_counter() - start - feedback
        return results

    def _pool_size(self, run: _Run) -> int:
        settings = run.settings
        size = run.limit
        if (
            settings.selection == "mmr"
            or settings.duplicate_similarity < 1
            or settings.relevance_threshold > 0
        ):
            size = _POOL * run.limit
        if settings.reranker.url is not None:
            size = max(size, settings.reranker.candidates)
        return size

    def _why_nothing(self, scope: Scope) -> str:
        if scope.is_nothing:
            return "no chunk passes the filters"
        with self._database.connection() as connection:
            if not any(row[1] for row in queries.posting_buckets(connection)):
                if self._database.principals is not None:
                    return "nothing is open to these principals, or to nobody where none are named"
                return "the knowledge base is empty: run `rag sync FOLDER`"
        return "nothing was found"

    def _run_legs(self, run: _Run) -> dict[str, list[LegHit]]:
        """Run the legs that have a weight at the same time, each on its own connection."""
        runners = {"text": self._text, "vector": self._vector}
        wanted = [name for name in runners if run.weights.get(name, 0.0) > 0]
        if len(wanted) == 1:
            return {wanted[0]: runners[wanted[0]](run)}
        with ThreadPoolExecutor(max(1, len(wanted))) as threads:
            futures = {name: threads.submit(runners[name], run) for name in wanted}
            return {name: future.result() for name, future in futures.items()}

    def _text(self, run: _Run) -> list[LegHit]:
        start = time.perf_counter()
        with self._database.connection() as connection:
            run.text = text_leg(
                connection,
                run.query,
                run.candidates,
                clauses=run.settings.clauses,
                scope=run.scope,
            )
        run.seconds["text"] = time.perf_counter() - start
        return run.text.hits

    def _with_feedback(
        self, run: _Run, legs: Mapping[str, list[LegHit]], fused: list[FusedHit]
    ) -> list[FusedHit]:
        """Return the hits, fused anew with words of the best where the query's own say little."""
        weight = run.weights.get("text", 0.0) * run.settings.feedback
        share = fading(run.text)
        # By little of the words alone, the first results would be the wrong ones to go on with.
        if not legs.get("vector") or not weight > 0 or not share > 0:
            return fused
        start = time.perf_counter()
        best = {hit.chunk_id: hit.score for hit in fused[:FEEDBACK_RESULTS]}
        with self._database.connection() as connection:
            run.feedback = feedback_leg(connection, run.text, best, run.candidates)
        if run.feedback.hits:
            legs = {**legs, "feedback": run.feedback.hits}
            weights = {**run.weights, "feedback": weight * share}
            fused = _fused(legs, weights, run.settings)
            self._compare(run, fused[: self._pool_size(run)])
        run.seconds["feedback"] = time.perf_counter() - start
        return fused

    def _compare(self, run: _Run, hits: Sequence[FusedHit]) -> None:
        """Read the cosines of hits that neither leg found: their relevance is unknown else."""
        unknown = [hit.chunk_id for hit in hits if hit.raw_scores.keys() == {"feedback"}]
        if run.space is None or run.embedding is None or not unknown:
            return
        scope = Scope(chunk_ids=sorted(unknown), is_everything=False)
        with self._database.connection() as connection:
            nearest = vector_leg(connection, run.space, run.embedding, len(unknown), scope)
        run.similarities = {hit.chunk_id: hit.raw_score for hit in nearest}

    def _vector(self, run: _Run) -> list[LegHit]:
        visible = None
        with self._database.connection() as connection:
            space = space_to_search(connection, self._space_name)
            if self._database.principals is not None and run.scope.is_everything:
                visible = visible_chunks(connection)
        if space is None or (visible is not None and not visible.chunk_count):
            return []
        embedder = self._embedders.of(space)
        start = time.perf_counter()
        embedding = embedder.embed_query(run.query)
        run.space, run.embedding = space, embedding
        embedded = time.perf_counter()
        with self._database.connection() as connection:
            hits = vector_leg(connection, space, embedding, run.candidates, run.scope, visible)
        run.seconds["embed"] = embedded - start
        run.seconds["vector"] = time.perf_counter() - embedded
        return hits

    def _fetch(self, fused: list[FusedHit], run: _Run) -> list[SearchResult]:
        """Read all chunks in one round trip, in the fused order."""
        if not fused:
            return []
        with self._database.connection() as connection:
            rows = queries.found_chunks(connection, chunk_ids=[hit.chunk_id for hit in fused])
            by_id = {row[0]: row for row in rows}
        # A chunk may have been replaced since its leg found it.
        found = [to_result(hit, by_id[hit.chunk_id]) for hit in fused if hit.chunk_id in by_id]
        return [
            replace(
                one,
                relevance=relevance(
                    one.text_score,
                    run.similarities.get(one.chunk_id, one.vector_score),
                    one.details,
                    run.settings.relevance,
                    run.settings.clauses,
                    tags=one.tags,
                    updated_at=one.updated_at,
                ),
            )
            for one in found
        ]

    def _vectors(self, chunk_ids: list[int]) -> dict[int, np.ndarray[Any, Any]]:
        with self._database.connection() as connection:
            space = space_to_search(connection, self._space_name)
            if space is None:
                return {}
            rows = queries.found_vectors(connection, space_id=space.space_id, chunk_ids=chunk_ids)
            return {chunk_id: vector.to_numpy() for chunk_id, vector in rows}


def _fused(
    legs: Mapping[str, list[LegHit]], weights: Mapping[str, float], settings: SearchSettings
) -> list[FusedHit]:
    sure = {"text": SURE_OF_WORDS * settings.clauses.words}
    return fuse(legs, weights, settings.fusion, settings.rank_constant, sure=sure)
