"""The vector leg: nearest neighbours by cosine, from a space's HNSW index or exactly."""

from __future__ import annotations

from dataclasses import dataclass

from pgvector import HalfVector
from psycopg import Connection, sql
from psycopg.rows import TupleRow, class_row

from rag_pipeline.search.asked_query import Vector
from rag_pipeline.search.filters import EVERYTHING, Scope
from rag_pipeline.search.scores import LegHit
from rag_pipeline.search.visibility import Visible
from rag_pipeline.store.embeddings import EmbeddingSpace
from rag_pipeline.store.named_queries import queries

MAX_EF_SEARCH = 1_000
"""pgvector's upper bound for hnsw.ef_search."""
EF_SEARCH = 200
"""Minimum breadth of the search in the graph. Among a million clustered vectors, 120 misses the
whole neighbourhood of one query in sixty and 200 of none, in about the same time
(docs/search.md)."""
MAX_SCANNED = 60_000
"""Maximum number of rows of a filtered scan; if too few pass, an exact search follows."""


@dataclass(frozen=True)
class Neighbour:
    """A chunk and its cosine similarity: a row of the statements `vector_…`."""

    chunk_id: int
    similarity: float


def vector_leg(
    connection: Connection[TupleRow],
    space: EmbeddingSpace,
    embedding: Vector,
    limit: int,
    scope: Scope = EVERYTHING,
    visible: Visible | None = None,
    language: str | None = None,
) -> list[LegHit]:
    """Return the nearest chunks in scope, best first; raw score = cosine similarity, -1..1.

    Without a filter the index is used, with ef_search raised to the number of rows wanted, because
    a scan yields no more. If few chunks pass a filter, all of them are compared; otherwise the
    index is scanned until enough have passed, followed by an exact search if that fails.
    Row-level security is such a filter too: `visible` is what the connection shows, None for all.
    `language` limits the hits to chunks in it.
    """
    parameters: dict[str, object] = {
        "space_id": space.space_id,
        "embedding": HalfVector(embedding),
        "limit": limit,
        "language": language,
        **scope.parameters,
    }
    if scope.chunk_ids is not None:
        parameters["chunk_ids"] = scope.chunk_ids
        return _hits(connection, queries.vector_exact.sql, space, parameters)
    by_index, exactly, enough = queries.vector_candidates.sql, None, limit
    if not scope.is_everything or language is not None:
        by_index = queries.vector_candidates_filtered.sql
        exactly = queries.vector_exact_filtered.sql
    if scope.is_everything and visible is not None:
        parameters |= {"firsts": visible.firsts, "lasts": visible.lasts}
        exactly, enough = queries.vector_exact_ranges.sql, min(limit, visible.chunk_count)
        if visible.is_few(limit):
            return _hits(connection, exactly, space, parameters)
    _prefer_index(connection, limit)
    hits = _hits(connection, by_index, space, parameters)
    if exactly is not None and len(hits) < enough:
        connection.execute("SELECT set_config('enable_sort', 'on', true)")
        hits = _hits(connection, exactly, space, parameters)
    return hits


def _prefer_index(connection: Connection[TupleRow], limit: int) -> None:
    """Set this transaction up for the index: without sorting, its order is the only plan."""
    connection.execute(
        "SELECT set_config('hnsw.ef_search', %s, true), "
        "set_config('hnsw.iterative_scan', 'relaxed_order', true), "
        "set_config('hnsw.max_scan_tuples', %s, true), "
        "set_config('enable_sort', 'off', true)",
        (str(min(MAX_EF_SEARCH, max(EF_SEARCH, limit))), str(MAX_SCANNED)),
    )


def _hits(
    connection: Connection[TupleRow],
    statement: str,
    space: EmbeddingSpace,
    parameters: dict[str, object],
) -> list[LegHit]:
    composed = sql.SQL(statement).format(dimensions=sql.Literal(space.dimensions))
    # Not prepared, because a generic plan suits no filter.
    with connection.cursor(row_factory=class_row(Neighbour)) as cursor:
        rows = cursor.execute(composed, parameters, prepare=False).fetchall()
    hits = [LegHit(row.chunk_id, row.similarity) for row in rows]
    # A relaxed scan yields its rows only nearly in order.
    return sorted(hits, key=lambda hit: (-hit.raw_score, hit.chunk_id))
