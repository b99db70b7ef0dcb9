"""The vector leg: nearest neighbours by cosine, from the HNSW index of a space."""

from __future__ import annotations

from typing import Any

import numpy as np
from pgvector import HalfVector
from psycopg import Connection, sql
from psycopg.rows import TupleRow

from rag_pipeline.search.fusion import LegHit
from rag_pipeline.store.embeddings import EmbeddingSpace
from rag_pipeline.store.queries import queries

MAX_EF_SEARCH = 1_000
"""pgvector's upper bound of hnsw.ef_search."""


def vector_leg(
    connection: Connection[TupleRow],
    space: EmbeddingSpace,
    embedding: np.ndarray[Any, np.dtype[np.float32]],
    limit: int,
) -> list[LegHit]:
    """Return the nearest chunks, best first; raw score = cosine similarity, -1..1.

    ef_search is raised to the number of rows wanted (an index scan gives no more than it), and the
    scan goes on iteratively where a filter leaves too few.
    """
    ef_search = min(MAX_EF_SEARCH, max(100, limit))
    connection.execute(
        "SELECT set_config('hnsw.ef_search', %s, true), "
        "set_config('hnsw.iterative_scan', 'strict_order', true)",
        (str(ef_search),),
    )
    statement = sql.SQL(queries.vector_candidates.sql).format(
        dimensions=sql.Literal(space.dimensions)
    )
    rows = connection.execute(
        statement,
        {"space_id": space.space_id, "embedding": HalfVector(embedding), "limit": limit},
    ).fetchall()
    return [LegHit(chunk_id, float(similarity)) for chunk_id, similarity in rows]
