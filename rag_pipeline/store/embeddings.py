"""Embedding spaces, the cache of vectors, and the HNSW index of each space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pgvector import HalfVector
from psycopg import Connection, sql
from psycopg.rows import TupleRow

from rag_pipeline.store.named_queries import first_record, queries, records

Vectors = np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True)
class EmbeddingSpace:
    """Vectors of one model, dimension count and version."""

    space_id: int
    provider: str
    model: str
    dimensions: int
    state: str
    pinned: bool = False
    version: str = ""
    is_filling: bool = False
    """Whether some chunks may lack a vector in it."""

    @property
    def name(self) -> str:
        """Its name in `rag spaces`, such as `local/multilingual-e5-small/384@1`."""
        return f"{self.provider}/{self.model}/{self.dimensions}@{self.version}"


@dataclass(frozen=True)
class SpaceRow:
    """A space as `rag spaces list` shows it."""

    space: EmbeddingSpace
    vectors: int
    cached: int
    chunks: int
    """Chunks in the whole store; a complete space has a vector for each."""

    @property
    def is_complete(self) -> bool:
        """Whether every chunk has a vector in the space."""
        return self.vectors >= self.chunks


@dataclass(frozen=True)
class VectorCoverage:
    """How many of the chunks that a connection may see have a vector in a space."""

    chunks: int
    vectors: int

    @property
    def lacking(self) -> int:
        """Chunks that are found by words only."""
        return self.chunks - self.vectors

    def describe(self) -> str:
        """Return what a user is told while vectors are missing; empty if none are.

        >>> VectorCoverage(1000, 999).describe()
        'vectors for 99 % of chunks; the others are found by words only'
        """
        if not self.lacking:
            return ""
        share = 100 * self.vectors // self.chunks
        return f"vectors for {share} % of chunks; the others are found by words only"


@dataclass(frozen=True)
class ChunkToEmbed:
    """A stored chunk, as far as its vector depends on it."""

    source_hash: str
    chunk_id: int
    breadcrumb_trail: str
    context: str | None
    content: str
    token_count: int
    has_vector: bool


@dataclass(frozen=True)
class _SpaceCounts:
    space_id: int
    vectors: int
    cached: int
    chunks: int


@dataclass(frozen=True)
class _CachedVector:
    input_hash: bytes
    embedding: HalfVector


def ensure_space(
    connection: Connection[TupleRow], provider: str, model: str, dimensions: int, version: str
) -> EmbeddingSpace:
    """Return the space of this model, created if missing; the first space is active at once."""
    space = find_space(connection, provider, model, dimensions, version)
    if space is None:
        queries.insert_space(
            connection, provider=provider, model=model, dimensions=dimensions, version=version
        )
        space = find_space(connection, provider, model, dimensions, version)
        assert space is not None  # inserted, or found by the conflict
    return space


def find_space(
    connection: Connection[TupleRow], provider: str, model: str, dimensions: int, version: str
) -> EmbeddingSpace | None:
    """Return the space of this model, if there is one."""
    return first_record(
        connection,
        EmbeddingSpace,
        queries.find_space,
        provider=provider,
        model=model,
        dimensions=dimensions,
        version=version,
    )


def activate_space(connection: Connection[TupleRow], space_id: int) -> None:
    """Make searches use this space, in the caller's transaction."""
    queries.retire_active_space(connection, space_id=space_id)
    queries.activate_space(connection, space_id=space_id)


def active_space(connection: Connection[TupleRow]) -> EmbeddingSpace | None:
    """Return the space that searches use, if there is one."""
    return first_record(connection, EmbeddingSpace, queries.active_space)


def known_spaces(connection: Connection[TupleRow]) -> list[EmbeddingSpace]:
    """Return every space, the active one first, without counting its vectors."""
    return records(connection, EmbeddingSpace, queries.known_spaces)


def list_spaces(connection: Connection[TupleRow]) -> list[SpaceRow]:
    """Return every space with its counts, the active one first."""
    counts = {row.space_id: row for row in records(connection, _SpaceCounts, queries.count_spaces)}
    return [
        SpaceRow(space, found.vectors, found.cached, found.chunks)
        for space in known_spaces(connection)
        if (found := counts.get(space.space_id))
    ]


def vector_coverage(connection: Connection[TupleRow], space_id: int) -> VectorCoverage:
    """Count the chunks, and those that have a vector in a space."""
    found = first_record(connection, VectorCoverage, queries.vector_coverage, space_id=space_id)
    assert found is not None  # an aggregate has one row
    return found


def end_filling(connection: Connection[TupleRow]) -> None:
    """Note for each space in use that no chunk lacks a vector any more, where that is so."""
    queries.end_filling(connection)


def unembedded_tokens(
    connection: Connection[TupleRow], space_id: int, source_hashes: Sequence[str]
) -> int:
    """Return the tokens of these documents' chunks that have no vector in a space."""
    hashes = list(source_hashes)
    return int(queries.unembedded_tokens(connection, space_id=space_id, source_hashes=hashes))


def chunks_to_embed(
    connection: Connection[TupleRow], space_id: int, source_hashes: Sequence[str]
) -> dict[str, list[ChunkToEmbed]]:
    """Return all chunks of documents in order, with whether they have a vector in a space."""
    found = records(
        connection,
        ChunkToEmbed,
        queries.chunks_to_embed,
        space_id=space_id,
        source_hashes=list(source_hashes),
    )
    chunks: dict[str, list[ChunkToEmbed]] = {source_hash: [] for source_hash in source_hashes}
    for chunk in found:
        chunks[chunk.source_hash].append(chunk)
    return chunks


def add_vectors(
    connection: Connection[TupleRow], space_id: int, chunk_ids: Sequence[int], vectors: Vectors
) -> None:
    """Give stored chunks their vectors (chunks x dimensions), in the caller's transaction.

    Chunks that are gone, or have a vector already, are left out.
    """
    connection.execute(queries.create_vector_load.sql)
    with connection.cursor() as cursor, cursor.copy(queries.copy_vector_load.sql) as copy:
        copy.set_types(["int8", "halfvec"])
        for chunk_id, vector in zip(chunk_ids, vectors, strict=True):
            copy.write_row((chunk_id, HalfVector(vector)))
    queries.merge_vector_load(connection, space_id=space_id)


def pin_space(connection: Connection[TupleRow], space_id: int | None) -> None:
    """Keep this space active whatever the settings say; None returns the choice to them."""
    queries.pin_space(connection, space_id=space_id)


def drop_space(connection: Connection[TupleRow], space_id: int) -> None:
    """Delete a space with its vectors, its cache and its index, in the caller's transaction."""
    connection.execute(
        sql.SQL("DROP INDEX IF EXISTS {}").format(sql.Identifier(_index_name(space_id)))
    )
    queries.delete_space(connection, space_id=space_id)


def cached_vectors(
    connection: Connection[TupleRow], space_id: int, input_hashes: Sequence[bytes]
) -> dict[bytes, Vectors]:
    """Return the cached vectors among these inputs, by hash."""
    found = records(
        connection,
        _CachedVector,
        queries.cached_embeddings,
        space_id=space_id,
        input_hashes=list(input_hashes),
    )
    return {
        bytes(row.input_hash): np.asarray(row.embedding.to_numpy(), dtype=np.float32)
        for row in found
    }


def cache_vectors(
    connection: Connection[TupleRow],
    space_id: int,
    input_hashes: Sequence[bytes],
    vectors: Vectors,
) -> None:
    """Cache vectors permanently, by one COPY and one INSERT, in the caller's transaction."""
    connection.execute(queries.create_cache_load.sql)
    with connection.cursor() as cursor, cursor.copy(queries.copy_cache_load.sql) as copy:
        copy.set_types(["int4", "bytea", "halfvec"])
        for input_hash, vector in zip(input_hashes, vectors, strict=True):
            copy.write_row((space_id, input_hash, HalfVector(vector)))
    queries.merge_cache_load(connection)


def ensure_index(connection: Connection[TupleRow], space: EmbeddingSpace) -> bool:
    """Build a space's HNSW index if it is missing; return whether it was.

    Building after the first load is several times faster than row-by-row inserts, and gives a
    better graph. Later rows are indexed as they land.
    """
    name = _index_name(space.space_id)
    if queries.has_index(connection, index_name=name):
        return False
    if not queries.count_space_vectors(connection, space_id=space.space_id):
        return False
    connection.execute(
        sql.SQL(
            "CREATE INDEX IF NOT EXISTS {name} ON chunk_embedding "
            "USING hnsw ((embedding::halfvec({dimensions})) halfvec_cosine_ops) "
            "WHERE space_id = {space_id}"
        ).format(
            name=sql.Identifier(name),
            dimensions=sql.Literal(space.dimensions),
            space_id=sql.Literal(space.space_id),
        )
    )
    return True


def _index_name(space_id: int) -> str:
    return f"chunk_embedding_hnsw_{space_id}"
