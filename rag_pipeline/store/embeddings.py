"""Embedding spaces, the cache of vectors, and the HNSW index of each space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pgvector import HalfVector
from psycopg import Connection, sql
from psycopg.rows import TupleRow

from rag_pipeline.store.named_queries import queries

Vectors = np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True)
class EmbeddingSpace:
    """One model with one length of vector."""

    space_id: int
    provider: str
    model: str
    dimensions: int
    state: str
    pinned: bool = False
    version: str = ""

    @property
    def name(self) -> str:
        """What `rag spaces` calls it: `local/multilingual-e5-small/384@1`."""
        return f"{self.provider}/{self.model}/{self.dimensions}@{self.version}"


@dataclass(frozen=True)
class SpaceRow:
    """A space as `rag spaces list` shows it."""

    space: EmbeddingSpace
    vectors: int
    cached: int
    chunks: int
    """Chunks of the whole store: the space is complete when it has a vector for each."""

    @property
    def is_complete(self) -> bool:
        """Every chunk has a vector in it."""
        return self.vectors >= self.chunks


def ensure_space(
    connection: Connection[TupleRow], provider: str, model: str, dimensions: int, version: str
) -> EmbeddingSpace:
    """Return the space of this model, made where it is missing; the first one is active at once."""
    key = {"provider": provider, "model": model, "dimensions": dimensions, "version": version}
    row = queries.find_space(connection, **key)
    if row is None:
        queries.insert_space(connection, **key)
        row = queries.find_space(connection, **key)
    return EmbeddingSpace(*row)


def find_space(
    connection: Connection[TupleRow], provider: str, model: str, dimensions: int, version: str
) -> EmbeddingSpace | None:
    """Return the space of this model, if there is one."""
    row = queries.find_space(
        connection, provider=provider, model=model, dimensions=dimensions, version=version
    )
    return EmbeddingSpace(*row) if row else None


def activate_space(connection: Connection[TupleRow], space_id: int) -> None:
    """Let searches use this space, in the caller's transaction."""
    queries.retire_active_space(connection, space_id=space_id)
    queries.activate_space(connection, space_id=space_id)


def active_space(connection: Connection[TupleRow]) -> EmbeddingSpace | None:
    """Return the space that searches use, if there is one."""
    row = queries.active_space(connection)
    return EmbeddingSpace(*row) if row else None


def known_spaces(connection: Connection[TupleRow]) -> list[EmbeddingSpace]:
    """Return every space, the active one first, without counting anything."""
    return [EmbeddingSpace(*row) for row in queries.known_spaces(connection)]


def list_spaces(connection: Connection[TupleRow]) -> list[SpaceRow]:
    """Return every space, the active one first."""
    return [
        SpaceRow(
            EmbeddingSpace(space_id, provider, model, dimensions, state, pinned, version),
            vectors,
            cached,
            chunks,
        )
        for (
            space_id,
            provider,
            model,
            dimensions,
            version,
            state,
            pinned,
            vectors,
            cached,
            chunks,
        ) in queries.list_spaces(connection)
    ]


def lacking_vectors(connection: Connection[TupleRow], space_id: int) -> int:
    """Count the chunks that have no vector in a space: they are not found by meaning there."""
    return int(queries.lacking_vectors(connection, space_id=space_id))


def pin_space(connection: Connection[TupleRow], space_id: int | None) -> None:
    """Keep this space active whatever the settings name; None lets the settings decide again."""
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
    """Return the vectors of those inputs that were embedded before, by hash."""
    rows = queries.cached_embeddings(connection, space_id=space_id, input_hashes=list(input_hashes))
    return {
        bytes(input_hash): np.asarray(vector.to_numpy(), dtype=np.float32)
        for input_hash, vector in rows
    }


def cache_vectors(
    connection: Connection[TupleRow],
    space_id: int,
    input_hashes: Sequence[bytes],
    vectors: Vectors,
) -> None:
    """Keep vectors for ever after: one COPY, one INSERT, in the caller's transaction."""
    connection.execute(queries.create_cache_load.sql)
    with connection.cursor() as cursor, cursor.copy(queries.copy_cache_load.sql) as copy:
        copy.set_types(["int4", "bytea", "halfvec"])
        for input_hash, vector in zip(input_hashes, vectors, strict=True):
            copy.write_row((space_id, input_hash, HalfVector(vector)))
    queries.merge_cache_load(connection)


def ensure_index(connection: Connection[TupleRow], space: EmbeddingSpace) -> bool:
    """Build the HNSW index of a space where it is missing; return whether it was.

    Built after the first load: that is several times faster than filling an index row by row, and
    the graph is better. Later rows go into the index as they land.
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
