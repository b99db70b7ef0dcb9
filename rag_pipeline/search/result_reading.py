"""Reads the chunks of fused hits and their vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from pgvector import HalfVector
from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.search.asked_query import Vector
from rag_pipeline.search.scores import FusedHit
from rag_pipeline.search.search_results import FoundChunk, SearchResult
from rag_pipeline.store.embeddings import EmbeddingSpace
from rag_pipeline.store.named_queries import queries, records


@dataclass(frozen=True)
class FoundVector:
    """A row of the statement `found_vectors`."""

    chunk_id: int
    embedding: HalfVector


def read_results(connection: Connection[TupleRow], hits: Sequence[FusedHit]) -> list[SearchResult]:
    """Read the chunks of all hits in one round trip; return the results in the hits' order."""
    if not hits:
        return []
    rows = records(
        connection, FoundChunk, queries.found_chunks, chunk_ids=[hit.chunk_id for hit in hits]
    )
    by_id = {row.chunk_id: row for row in rows}
    # A chunk may have been replaced since its leg found it.
    return [_result(hit, by_id[hit.chunk_id]) for hit in hits if hit.chunk_id in by_id]


def read_vectors(
    connection: Connection[TupleRow],
    space: EmbeddingSpace | None,
    results: Iterable[SearchResult],
) -> dict[int, Vector]:
    """Return the vectors of results in a space, by chunk id."""
    if space is None:
        return {}
    rows = records(
        connection,
        FoundVector,
        queries.found_vectors,
        space_id=space.space_id,
        chunk_ids=[one.chunk_id for one in results],
    )
    return {row.chunk_id: row.embedding.to_numpy().astype(np.float32) for row in rows}


def _result(hit: FusedHit, chunk: FoundChunk) -> SearchResult:
    return SearchResult(
        **vars(chunk),
        score=hit.score,
        text_score=hit.raw_scores.get("text"),
        vector_score=hit.raw_scores.get("vector"),
        details=hit.details,
    )
