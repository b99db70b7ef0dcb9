"""The vector leg over several languages: cosines as if every text were in the same one.

A multilingual model places a text nearer to all texts in its own language, so that unrelated
Korean chunks are closer to a Korean question than the English one that answers it. Chunks of each
language are therefore searched for apart, and their cosines are raised by most of what the question
is farther away, on average, from that language than from the nearest one. (Centring by language:
Libovický, Rosa, Fraser: On the Language Neutrality of Pre-trained Multilingual Representations,
Findings of EMNLP 2020.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from pgvector import HalfVector
from psycopg import Connection, sql
from psycopg.rows import TupleRow, class_row

from rag_pipeline.search.asked_query import Vector
from rag_pipeline.search.filters import Scope
from rag_pipeline.search.legs.vector_leg import vector_leg
from rag_pipeline.search.scores import LegHit
from rag_pipeline.search.visibility import Visible
from rag_pipeline.store.embeddings import EmbeddingSpace
from rag_pipeline.store.named_queries import queries, records

_SAMPLE = 600
"""Number of chunks whose cosines give the averages, within about a thousandth."""
_ENOUGH = 10
"""Number of chunks of a language in the sample from which it has an average."""
_BY_LANGUAGE = 0.8
"""Share of a difference of averages that is put down to the language; the rest is the subject."""
_MOST_SKIPPED = 10
"""Maximum number of chunks drawn for one that the reader may see."""


@dataclass(frozen=True)
class VectorFound:
    """The leg's hits, best first."""

    hits: list[LegHit] = field(default_factory=list)
    languages: Mapping[int, str] = field(default_factory=dict)
    """Languages of the chunks, if the searched ones have several."""


@dataclass(frozen=True)
class _MeanCosine:
    language: str
    chunk_count: int
    mean: float


@dataclass(frozen=True)
class _ChunkLanguage:
    chunk_id: int
    language: str


def vector_hits_across_languages(
    connection: Connection[TupleRow],
    space: EmbeddingSpace,
    embedding: Vector,
    limit: int,
    scope: Scope,
    visible: Visible | None = None,
) -> VectorFound:
    """Return the nearest chunks in scope, whatever their language; parameters as `vector_leg`."""
    hits = vector_leg(connection, space, embedding, limit, scope, visible)
    means = _means(connection, space, embedding, scope, visible) if hits else {}
    if len(means) < 2:
        return VectorFound(hits)
    found = {hit.chunk_id: hit for hit in hits}
    languages = _languages(connection, found)
    for language in means:
        if sum(one == language for one in languages.values()) < limit:
            more = vector_leg(connection, space, embedding, limit, scope, visible, language)
            found |= {hit.chunk_id: hit for hit in more}
            languages |= dict.fromkeys((hit.chunk_id for hit in more), language)
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


def _means(
    connection: Connection[TupleRow],
    space: EmbeddingSpace,
    embedding: Vector,
    scope: Scope,
    visible: Visible | None,
) -> dict[str, float]:
    """Return the average cosine to the chunks in scope, by language, of a sample of them."""
    if len(list(queries.corpus_languages(connection))) < 2:
        return {}
    parameters: dict[str, object] = {
        "space_id": space.space_id,
        "embedding": HalfVector(embedding),
    }
    if scope.chunk_ids is not None:
        step = max(1, len(scope.chunk_ids) // _SAMPLE)
        statement = queries.mean_cosines_of.sql
        parameters["chunk_ids"] = scope.chunk_ids[::step]
    else:
        stored = int(queries.estimated_chunks(connection))
        if visible:
            stored = max(visible.chunk_count, stored // _MOST_SKIPPED)
        statement = queries.mean_cosines_sampled.sql
        parameters["percent"] = min(100.0, 100 * _SAMPLE / max(1, stored))
    composed = sql.SQL(statement).format(dimensions=sql.Literal(space.dimensions))
    with connection.cursor(row_factory=class_row(_MeanCosine)) as cursor:
        rows = cursor.execute(composed, parameters, prepare=False).fetchall()
    return {row.language: row.mean for row in rows if row.chunk_count >= _ENOUGH}


def _languages(connection: Connection[TupleRow], chunk_ids: Iterable[int]) -> dict[int, str]:
    rows = records(
        connection, _ChunkLanguage, queries.chunks_in_languages, chunk_ids=list(chunk_ids)
    )
    return {row.chunk_id: row.language for row in rows}
