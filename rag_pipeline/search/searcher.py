"""Search: the text leg and the vector leg at once, fused, with every score's origin."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from rag_pipeline.analysis import query_weights
from rag_pipeline.embedding import Embedder
from rag_pipeline.search.fusion import FusedHit, LegHit, ScoreDetail, fuse
from rag_pipeline.search.spaces import SpaceEmbedders, space_to_search
from rag_pipeline.search.text_leg import text_leg
from rag_pipeline.search.vector_leg import vector_leg
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.queries import queries
from rag_pipeline.text import clean_text, one_line

MAX_QUERY_CHARACTERS = 8_000
"""A longer query is cut here, and the response says so."""


@dataclass(frozen=True)
class SearchResult:
    """A chunk that was found, and why.

    `score` is the fused score, the sum of the details' contributions. `text_score` is BM25 and
    `vector_score` the cosine similarity; None where the leg did not find the chunk.
    """

    chunk_id: int
    score: float
    text_score: float | None
    vector_score: float | None
    details: tuple[ScoreDetail, ...]
    source_hash: str
    source_path: str
    title: str | None
    chunk_index: int
    kind: str
    breadcrumb_trail: str
    content: str
    page_start: int
    page_end: int
    regions: list[dict[str, float]]
    language: str
    metadata: dict[str, Any]

    @property
    def document(self) -> str:
        """The file's name."""
        return PurePath(self.source_path).name


@dataclass(frozen=True)
class SearchResponse:
    """Results, best first, and how they came about."""

    query: str
    results: list[SearchResult]
    seconds: dict[str, float] = field(default_factory=dict)
    """Per stage: embed, text, vector, fuse."""
    notes: list[str] = field(default_factory=list)
    """What the user should know: a cut query, an empty knowledge base."""


class Searcher:
    """Searches one database, by words and in one embedding space.

    `space` names the space, by default whichever is active at the time of the search. `embedder`
    is used for its own space, where the caller has one at hand.
    """

    def __init__(
        self,
        database: Database,
        settings: Settings,
        *,
        space: str | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        self._database = database
        self._settings = settings.search
        self._space_name = space
        self._embedders = SpaceEmbedders(settings, embedder)

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
    ) -> SearchResponse:
        """Return the `limit` best chunks. No query is an error; an empty one finds nothing.

        `weights` are those of the legs `text` and `vector`; default: the settings'. A leg of weight
        0 does not run.
        """
        notes: list[str] = []
        cleaned = one_line(clean_text(query))
        if len(cleaned) > MAX_QUERY_CHARACTERS:
            notes.append(f"the query was cut after {MAX_QUERY_CHARACTERS} characters")
            cleaned = cleaned[:MAX_QUERY_CHARACTERS]
        if not cleaned:
            return SearchResponse(query, [], notes=["the query is empty"])
        used = dict(weights) if weights is not None else self._settings.weights.model_dump()
        limit = limit or self._settings.limit
        candidates = max(limit, self._settings.candidates)
        seconds: dict[str, float] = {}
        legs = self._run_legs(cleaned, used, candidates, seconds)
        start = time.perf_counter()
        fused = fuse(legs, used, self._settings.rank_constant)[:limit]
        results = self._fetch(fused)
        seconds["fuse"] = time.perf_counter() - start
        if not results:
            notes.append(self._why_nothing())
        return SearchResponse(query, results, seconds, notes)

    def _why_nothing(self) -> str:
        with self._database.connection() as connection:
            corpus = queries.corpus(connection)
        if corpus is None or not corpus[0]:
            return "the knowledge base is empty: run `rag sync FOLDER`"
        return "nothing was found"

    def _run_legs(
        self, query: str, weights: Mapping[str, float], limit: int, seconds: dict[str, float]
    ) -> dict[str, list[LegHit]]:
        """Run the legs that have a weight at the same time, each on its own connection."""
        runners = {"text": self._text, "vector": self._vector}
        wanted = [name for name in runners if weights.get(name, 0.0) > 0]
        with ThreadPoolExecutor(max(1, len(wanted))) as threads:
            futures = {
                name: threads.submit(runners[name], query, limit, seconds) for name in wanted
            }
            return {name: future.result() for name, future in futures.items()}

    def _text(self, query: str, limit: int, seconds: dict[str, float]) -> list[LegHit]:
        start = time.perf_counter()
        with self._database.connection() as connection:
            languages = [language for language, _ in queries.corpus_languages(connection)]
            hits = text_leg(connection, query_weights(query, languages), limit)
        seconds["text"] = time.perf_counter() - start
        return hits

    def _vector(self, query: str, limit: int, seconds: dict[str, float]) -> list[LegHit]:
        with self._database.connection() as connection:
            space = space_to_search(connection, self._space_name)
        if space is None:
            return []
        embedder = self._embedders.of(space)
        start = time.perf_counter()
        embedding = embedder.embed_query(query)
        embedded = time.perf_counter()
        with self._database.connection() as connection:
            hits = vector_leg(connection, space, embedding, limit)
        seconds["embed"] = embedded - start
        seconds["vector"] = time.perf_counter() - embedded
        return hits

    def _fetch(self, fused: list[FusedHit]) -> list[SearchResult]:
        """Read all chunks in one round trip, in the fused order."""
        if not fused:
            return []
        with self._database.connection() as connection:
            rows = queries.found_chunks(connection, chunk_ids=[hit.chunk_id for hit in fused])
            by_id = {row[0]: row for row in rows}
        # A chunk may have been replaced since its leg found it.
        return [_result(hit, by_id[hit.chunk_id]) for hit in fused if hit.chunk_id in by_id]


def _result(hit: FusedHit, row: tuple[Any, ...]) -> SearchResult:
    raw = {detail.leg: detail.raw_score for detail in hit.details}
    (_, source_hash, uri, title, _, chunk_index, kind, trail, content, page_start, page_end) = row[
        :11
    ]
    regions, language, metadata = row[11:]
    return SearchResult(
        chunk_id=hit.chunk_id,
        score=hit.score,
        text_score=raw.get("text"),
        vector_score=raw.get("vector"),
        details=hit.details,
        source_hash=source_hash,
        source_path=uri,
        title=title,
        chunk_index=chunk_index,
        kind=kind,
        breadcrumb_trail=trail,
        content=content,
        page_start=page_start,
        page_end=page_end,
        regions=regions,
        language=language,
        metadata=metadata,
    )
