"""Search: the text leg and the vector leg at once, fused, with every score's origin."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from rag_pipeline.embedding import Embedder
from rag_pipeline.search.asked_query import AskedQuery
from rag_pipeline.search.filters import EVERYTHING, Filters, Scope, resolve
from rag_pipeline.search.legs.feedback_leg import (
    FEEDBACK_RESULTS,
    fading,
    feedback_leg,
)
from rag_pipeline.search.legs.text_leg import SURE_OF_WORDS, text_leg
from rag_pipeline.search.legs.vector_leg import vector_leg
from rag_pipeline.search.ranking.fusion import FusedHit, LegHit, fuse
from rag_pipeline.search.ranking.relevance import relevance
from rag_pipeline.search.ranking.reranker import rerank
from rag_pipeline.search.ranking.result_context import expand as expand_results
from rag_pipeline.search.ranking.result_pages import ranked_pages
from rag_pipeline.search.ranking.selection import maximal_marginal_relevance, without_duplicates
from rag_pipeline.search.search_request import SearchRequest
from rag_pipeline.search.search_results import (
    FoundChunk,
    SearchResponse,
    SearchResult,
    to_result,
)
from rag_pipeline.search.search_run import SearchRun
from rag_pipeline.search.search_space import SpaceEmbedders, space_to_search
from rag_pipeline.search.sql_statements import RecordedDatabase, Statement
from rag_pipeline.search.visibility import posting_buckets, visible_chunks
from rag_pipeline.settings import SearchSettings, Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.named_queries import queries, records

_POOL = 4
"""Results looked at for each one returned, where some are left out for being alike or weak."""


class Searcher:
    """Searches one database, by words and in one embedding space.

    `space` names the space, by default whichever is active at the time of the search. `embedder`
    is used for its own space, if the caller has one at hand. `principals` are those who search;
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
        """Return a searcher with the same models over a database as others see it."""
        other = copy(self)
        other._database = database.for_readers()
        return other

    @property
    def embedder(self) -> Embedder:
        """The embedder of the space that is searched now."""
        with self._database.connection() as connection:
            return self._embedders.of(space_to_search(connection, self._space_name))

    def search(self, query: str | SearchRequest, **options: Any) -> SearchResponse:
        """Return the best chunks for a request, or for a query with options of `SearchRequest`.

        No query is an error; an empty one finds nothing. If nothing is found, the notes say why.
        """
        request = SearchRequest.of(query, **options)
        asked = AskedQuery.of(request.query)
        if not asked.text:
            return SearchResponse(request.query, [], notes=["the query is empty"])
        return self._answer(request, asked)

    def statements(self, query: str | SearchRequest, **options: Any) -> list[Statement]:
        """Run a search and return the statements that it sent, in the order they were sent."""
        other = copy(self)
        other._database = recorded = RecordedDatabase(self._database)
        other.search(query, **options)
        return recorded.statements

    def _answer(self, request: SearchRequest, asked: AskedQuery) -> SearchResponse:
        """Search; the query is not empty."""
        run = self._run(request, asked)
        notes = list(asked.notes)
        results = self._chosen([run], notes)
        if run.repetitions:
            notes.append(f"{run.repetitions} results that repeat better ones were left out")
        if not results:
            notes.append(self._why_nothing(run))
        return SearchResponse(
            request.query, results, run.seconds, notes, run.text.corrections, run.feedback.words
        )

    def _run(self, request: SearchRequest, asked: AskedQuery) -> SearchRun:
        """Find the candidates of a request."""
        weights = request.weights or self._settings.weights.model_dump()
        seconds: dict[str, float] = {}
        run = SearchRun(
            asked=asked,
            weights=dict(weights),
            settings=request.settings(self._settings),
            scope=self._scope(request.filters, seconds),
            seconds=seconds,
        )
        if run.scope.is_nothing:
            return run
        legs = self._run_legs(run)
        start = time.perf_counter()
        fused = self._with_feedback(run, legs, _fused(legs, run.weights, run.settings))
        fetched = self._fetch(fused[: run.pool_size], run)
        least = run.settings.relevance_threshold
        results = [one for one in fetched if one.relevance >= least] if least else fetched
        run.weak = len(fetched) - len(results)
        run.results, run.repetitions = without_duplicates(
            results, run.settings.duplicate_similarity
        )
        feedback = run.seconds.get("feedback", 0.0)
        run.seconds["fuse"] = time.perf_counter() - start - feedback
        return run

    def _chosen(self, runs: Sequence[SearchRun], notes: list[str]) -> list[SearchResult]:
        """Choose the results of one or more runs; those of an earlier run come first.

        The reranker is asked once for all of them.
        """
        settings, asked = runs[0].settings, runs[0].asked
        owners: dict[int, SearchRun] = {}
        for run in runs:
            owners.update({one.chunk_id: run for one in run.results if one.chunk_id not in owners})
        groups = [[one for one in run.results if owners[one.chunk_id] is run] for run in runs]
        if settings.reranker.url is not None:
            flat = list(itertools.chain(*groups))
            reranked, failure = rerank(asked.text, flat, settings.reranker)
            notes += [failure] if failure else []
            groups = [[one for one in reranked if owners[one.chunk_id] is run] for run in runs]
        if settings.selection == "mmr":
            vectors = self._vectors([one.chunk_id for one in itertools.chain(*groups)])
            groups = [
                maximal_marginal_relevance(group, vectors, settings.limit, settings.mmr_lambda)
                for group in groups
            ]
        results = [
            replace(
                one,
                pages=ranked_pages(
                    one.content, one.regions, one.language, owners[one.chunk_id].text.factors
                ),
            )
            for one in itertools.islice(itertools.chain(*groups), settings.limit)
        ]
        if settings.expand != "none":
            with self._database.connection() as connection:
                results = expand_results(connection, results, settings.expand)
        return results

    def _scope(self, filters: Filters, seconds: dict[str, float]) -> Scope:
        if filters.is_empty:
            return EVERYTHING
        start = time.perf_counter()
        with self._database.connection() as connection:
            is_restricted = self._database.principals is not None
            scope = resolve(connection, filters, is_restricted=is_restricted)
        seconds["filter"] = time.perf_counter() - start
        return scope

    def _why_nothing(self, run: SearchRun) -> str:
        if run.scope.is_nothing:
            return "no chunk passes the filters"
        if run.weak:
            least = run.settings.relevance_threshold
            return f"nothing of relevance {least:g} or more was found"
        with self._database.connection() as connection:
            if not any(one.chunk_count for one in posting_buckets(connection)):
                if self._database.principals is not None:
                    return "nothing is open to these principals, or to nobody where none are named"
                return "the knowledge base is empty: run `rag sync FOLDER`"
        return "nothing was found"

    def _run_legs(self, run: SearchRun) -> dict[str, list[LegHit]]:
        """Run the legs that have a weight at the same time, each on its own connection."""
        runners = {"text": self._text, "vector": self._vector}
        wanted = [name for name in runners if run.weights.get(name, 0.0) > 0]
        if len(wanted) == 1:
            return {wanted[0]: runners[wanted[0]](run)}
        with ThreadPoolExecutor(max(1, len(wanted))) as threads:
            futures = {name: threads.submit(runners[name], run) for name in wanted}
            return {name: future.result() for name, future in futures.items()}

    def _text(self, run: SearchRun) -> list[LegHit]:
        start = time.perf_counter()
        with self._database.connection() as connection:
            run.text = text_leg(
                connection,
                run.asked.text,
                run.candidates,
                clauses=run.settings.clauses,
                scope=run.scope,
            )
        run.seconds["text"] = time.perf_counter() - start
        return run.text.hits

    def _with_feedback(
        self, run: SearchRun, legs: Mapping[str, list[LegHit]], fused: list[FusedHit]
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
            self._compare(run, fused[: run.pool_size])
        run.seconds["feedback"] = time.perf_counter() - start
        return fused

    def _compare(self, run: SearchRun, hits: Sequence[FusedHit]) -> None:
        """Read the cosines of hits that neither leg found: their relevance is unknown else."""
        unknown = [hit.chunk_id for hit in hits if hit.raw_scores.keys() == {"feedback"}]
        if run.space is None or run.embedding is None or not unknown:
            return
        scope = Scope(chunk_ids=sorted(unknown), is_everything=False)
        with self._database.connection() as connection:
            nearest = vector_leg(connection, run.space, run.embedding, len(unknown), scope)
        run.similarities = {hit.chunk_id: hit.raw_score for hit in nearest}

    def _vector(self, run: SearchRun) -> list[LegHit]:
        visible = None
        with self._database.connection() as connection:
            space = space_to_search(connection, self._space_name)
            if self._database.principals is not None and run.scope.is_everything:
                visible = visible_chunks(connection)
        if space is None or (visible is not None and not visible.chunk_count):
            return []
        embedder = self._embedders.of(space)
        start = time.perf_counter()
        embedding = run.asked.vector(embedder)
        run.space, run.embedding = space, embedding
        embedded = time.perf_counter()
        with self._database.connection() as connection:
            hits = vector_leg(connection, space, embedding, run.candidates, run.scope, visible)
        run.seconds["embed"] = embedded - start
        run.seconds["vector"] = time.perf_counter() - embedded
        return hits

    def _fetch(self, fused: list[FusedHit], run: SearchRun) -> list[SearchResult]:
        """Read all chunks in one round trip, in the fused order."""
        if not fused:
            return []
        with self._database.connection() as connection:
            rows = records(
                connection,
                FoundChunk,
                queries.found_chunks,
                chunk_ids=[hit.chunk_id for hit in fused],
            )
            by_id = {row.chunk_id: row for row in rows}
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
