"""Search: runs the text leg and the vector leg, fuses them, and explains every score."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import replace
from typing import Unpack

from rag_pipeline.embedding import Embedder
from rag_pipeline.search.asked_query import AskedQuery
from rag_pipeline.search.filters import EVERYTHING, Filters, Scope, resolve
from rag_pipeline.search.legs.feedback_leg import (
    FEEDBACK_RESULTS,
    fading,
    feedback_leg,
)
from rag_pipeline.search.legs.text_leg import SURE_OF_WORDS, text_leg
from rag_pipeline.search.legs.vector_languages import (
    LanguageCentroids,
    vector_hits_across_languages,
)
from rag_pipeline.search.ranking.fusion import fuse
from rag_pipeline.search.ranking.likely_words import with_likely_words
from rag_pipeline.search.ranking.relevance import boosted, certainty, with_relevance
from rag_pipeline.search.ranking.reranker import rerank
from rag_pipeline.search.ranking.result_context import expand as expand_results
from rag_pipeline.search.ranking.result_pages import ranked_pages
from rag_pipeline.search.ranking.selection import maximal_marginal_relevance, without_duplicates
from rag_pipeline.search.result_reading import read_results, read_vectors
from rag_pipeline.search.scores import FusedHit, LegHit
from rag_pipeline.search.search_request import SearchOptions, SearchRequest
from rag_pipeline.search.search_results import SearchResponse, SearchResult
from rag_pipeline.search.search_run import SearchRun
from rag_pipeline.search.search_space import SpaceEmbedders, space_to_search
from rag_pipeline.search.sql_statements import RecordedDatabase, Statement
from rag_pipeline.search.visibility import posting_buckets, visible_chunks
from rag_pipeline.settings import SearchSettings, Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.embeddings import vector_coverage


class Searcher:
    """Searches one database, by words and in one embedding space.

    `space` names the space, by default the one that is active at the time of the search.
    `embedder`, if given, is used for its own space. `principals` are those who search; see
    `Database.for_readers`.
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
        self._centroids = LanguageCentroids()

    def reading_from(self, database: Database) -> Searcher:
        """Return a searcher with the same models over another reader's database."""
        other = copy(self)
        other._database = database.for_readers()
        return other

    def with_settings(self, settings: Settings) -> Searcher:
        """Return a searcher with the same models and the search's part of other settings."""
        other = copy(self)
        other._settings = settings.search
        return other

    @property
    def embedder(self) -> Embedder:
        """The embedder of the current space."""
        with self._database.connection() as connection:
            return self._embedders.of(space_to_search(connection, self._space_name))

    def search(
        self, query: str | SearchRequest, **options: Unpack[SearchOptions]
    ) -> SearchResponse:
        """Return the best chunks for a request, or for a query with options of `SearchRequest`.

        No query is invalid; an empty one finds nothing. If nothing is found, the notes say why.
        """
        request = SearchRequest.of(query, **options)
        asked = AskedQuery.of(request.query)
        if not asked.text:
            return SearchResponse(request.query, [], notes=["the query is empty"])
        return self._answer(request, asked)

    def statements(
        self, query: str | SearchRequest, **options: Unpack[SearchOptions]
    ) -> list[Statement]:
        """Run a search and return the statements it sent, in order."""
        other = copy(self)
        other._database = recorded = RecordedDatabase(self._database)
        other.search(query, **options)
        return recorded.statements

    def _answer(self, request: SearchRequest, asked: AskedQuery) -> SearchResponse:
        """Search for a query that is not empty."""
        run = self._run(request, asked)
        notes = list(asked.notes)
        results = self._chosen([run], notes)
        if run.repetitions:
            notes.append(f"{run.repetitions} results that repeat better ones stand under these")
        if run.space is not None and run.space.is_filling:
            with self._database.connection() as connection:
                told = vector_coverage(connection, run.space.space_id).describe()
            notes += [told] if told else []
        if not results:
            notes.append(self._why_nothing(run))
        return SearchResponse(
            request.query,
            results,
            run.seconds,
            notes,
            run.text.corrections,
            run.feedback.words,
            run.certainty,
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
        if run.languages:
            likely = with_likely_words(
                legs.get("text", []), legs["vector"], run.languages, run.asked.language
            )
            legs = {**legs, "text": likely}
        fused = self._with_feedback(run, legs, _fused(legs, run.weights, run.settings))
        run.certainty = certainty(run.text.found_share, run.best_cosine, run.settings.relevance)
        count = run.pool_size
        while not self._read(run, fused[:count]) and count < len(fused):
            count *= 2
        feedback = run.seconds.get("feedback", 0.0)
        run.seconds["fuse"] = time.perf_counter() - start - feedback
        return run

    def _read(self, run: SearchRun, hits: Sequence[FusedHit]) -> bool:
        """Read hits as results; return whether enough are left beside repetitions."""
        with self._database.connection() as connection:
            read = read_results(connection, hits)
        settings = run.settings
        ordered = boosted(read, settings.relevance, run.asked.language)
        fetched = with_relevance(ordered, run.certainty)
        least = settings.relevance_threshold
        results = [one for one in fetched if one.relevance >= least]
        run.weak = len(fetched) - len(results)
        run.results, run.repetitions = without_duplicates(results, settings.duplicate_similarity)
        return bool(run.weak) or len(run.results) >= settings.limit

    def _chosen(self, runs: Sequence[SearchRun], notes: list[str]) -> list[SearchResult]:
        """Choose the results of one or more runs; those of earlier runs come first.

        The reranker is called once for all of them.
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
            with self._database.connection() as connection:
                space = space_to_search(connection, self._space_name)
                vectors = read_vectors(connection, space, itertools.chain(*groups))
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
                    return "these principals, or nobody if none are given, may read nothing"
                return "the knowledge base is empty: run `rag sync FOLDER`"
        return "nothing was found"

    def _run_legs(self, run: SearchRun) -> dict[str, list[LegHit]]:
        """Run the legs that have a weight in parallel, each on its own connection."""
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
        """Return the hits, fused again with words of the best ones if the query found little."""
        weight = run.weights.get("text", 0.0) * run.settings.feedback
        share = fading(run.text)
        # Without vectors, a few matching words would start from the wrong results.
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
        run.seconds["feedback"] = time.perf_counter() - start
        return fused

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
            readers = self._database.principals
            centroids = self._centroids.of(connection, space, visible, readers)
            found = vector_hits_across_languages(
                connection, space, embedding, run.candidates, run.scope, visible, centroids
            )
        run.languages, hits = found.languages, found.hits
        if hits and space.provider == "local":
            run.best_cosine = max(hit.raw_score for hit in hits)
        run.seconds["embed"] = embedded - start
        run.seconds["vector"] = time.perf_counter() - embedded
        return hits


def _fused(
    legs: Mapping[str, list[LegHit]], weights: Mapping[str, float], settings: SearchSettings
) -> list[FusedHit]:
    sure = {"text": SURE_OF_WORDS * settings.clauses.words}
    return fuse(legs, weights, settings.fusion, settings.rank_constant, sure=sure)
