"""The vector leg over several languages: cosines as if every text were in the same one.

A multilingual model places a text nearer to all texts in its own language, so that unrelated
Korean chunks are closer to a Korean question than the English one that answers it. Chunks of each
language are therefore searched for apart, and their cosines are raised by most of what the question
is farther away, on average, from that language than from the nearest one. (Centring by language:
Libovický, Rosa, Fraser: On the Language Neutrality of Pre-trained Multilingual Representations,
Findings of EMNLP 2020.)
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pgvector
from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.search.asked_query import Vector
from rag_pipeline.search.filters import Scope
from rag_pipeline.search.legs.vector_leg import vector_leg
from rag_pipeline.search.scores import LegHit
from rag_pipeline.search.visibility import Visible
from rag_pipeline.store.embeddings import EmbeddingSpace
from rag_pipeline.store.named_queries import queries, records

_SAMPLE = 1_000
"""Number of chunks whose vectors are averaged: cosines to the averages are right within about a
thousandth."""
_ENOUGH = 10
"""Number of chunks of a language in the sample from which it has an average."""
_BY_LANGUAGE = 0.8
"""Share of a difference of averages that is put down to the language; the rest is the subject."""
_MOST_SKIPPED = 10
"""Maximum number of chunks drawn for one that the reader may see."""
_KEPT_SECONDS = 600.0
"""Time for which averages are kept; a sync hardly moves them."""

Centroids = dict[str, Vector]
"""Average vectors by language, none if there is only one language."""


@dataclass(frozen=True)
class VectorFound:
    """The leg's hits, best first."""

    hits: list[LegHit] = field(default_factory=list)
    languages: Mapping[int, str] = field(default_factory=dict)
    """Languages of the chunks, if the searched ones have several."""


@dataclass(frozen=True)
class _LanguageCentroid:
    language: str
    chunk_count: int
    centroid: pgvector.Vector


@dataclass(frozen=True)
class _ChunkLanguage:
    chunk_id: int
    language: str


class LanguageCentroids:
    """Average vectors of the languages that readers see, kept for some minutes."""

    def __init__(self) -> None:
        self._kept: dict[object, tuple[float, Centroids]] = {}
        self._lock = threading.Lock()

    def of(
        self,
        connection: Connection[TupleRow],
        space: EmbeddingSpace,
        visible: Visible | None,
        readers: object,
    ) -> Centroids:
        """Return the averages for the connection's readers, which are the key they are kept by."""
        key = (space.space_id, readers)
        with self._lock:
            made, centroids = self._kept.get(key, (-_KEPT_SECONDS, {}))
            if time.monotonic() - made > _KEPT_SECONDS:
                centroids = _centroids(connection, space, visible)
                self._kept[key] = time.monotonic(), centroids
        return centroids


def vector_hits_across_languages(
    connection: Connection[TupleRow],
    space: EmbeddingSpace,
    embedding: Vector,
    limit: int,
    scope: Scope,
    visible: Visible | None = None,
    centroids: Mapping[str, Vector] | None = None,
) -> VectorFound:
    """Return the nearest chunks in scope, whatever their language; parameters as `vector_leg`."""
    hits = vector_leg(connection, space, embedding, limit, scope, visible)
    if not hits or not centroids:
        return VectorFound(hits)
    found = {hit.chunk_id: hit for hit in hits}
    languages = _languages(connection, found)
    shares = Counter(languages.values())
    for language in centroids:
        # A language with half of the hits has its best among them.
        if shares[language] < limit // 2:
            more = vector_leg(connection, space, embedding, limit, scope, visible, language)
            found |= {hit.chunk_id: hit for hit in more}
            languages |= dict.fromkeys((hit.chunk_id for hit in more), language)
    present = set(languages.values())
    means = {
        language: float(np.dot(embedding, centroid) / np.linalg.norm(embedding))
        for language, centroid in centroids.items()
        if language in present
    }
    if len(present) < 2:
        return VectorFound(hits)
    raised = [
        replace(hit, raw_score=hit.raw_score + raise_of(means, languages.get(hit.chunk_id)))
        for hit in found.values()
    ]
    best = sorted(raised, key=lambda hit: (-hit.raw_score, hit.chunk_id))[:limit]
    return VectorFound(best, languages)


def raise_of(means: Mapping[str, float], language: str | None) -> float:
    """Return what is added to the cosines of a language; 0 for one without an average.

    >>> raise_of({"en": 0.5, "ko": 0.75}, "en"), raise_of({"en": 0.5, "ko": 0.75}, "de")
    (0.2, 0.0)
    """
    if language is None or language not in means:
        return 0.0
    return _BY_LANGUAGE * (max(means.values()) - means[language])


def _centroids(
    connection: Connection[TupleRow], space: EmbeddingSpace, visible: Visible | None
) -> Centroids:
    if len(list(queries.corpus_languages(connection))) < 2:
        return {}
    stored = int(queries.estimated_chunks(connection))
    if visible:
        stored = max(visible.chunk_count, stored // _MOST_SKIPPED)
    percent = min(100.0, 100 * _SAMPLE / max(1, stored))
    rows = records(
        connection,
        _LanguageCentroid,
        queries.language_centroids,
        prepare=False,
        space_id=space.space_id,
        percent=percent,
    )
    found = {row.language: row.centroid.to_numpy() for row in rows if row.chunk_count >= _ENOUGH}
    return found if len(found) > 1 else {}


def _languages(connection: Connection[TupleRow], chunk_ids: Iterable[int]) -> dict[int, str]:
    rows = records(
        connection, _ChunkLanguage, queries.chunks_in_languages, chunk_ids=list(chunk_ids)
    )
    return {row.chunk_id: row.language for row in rows}
