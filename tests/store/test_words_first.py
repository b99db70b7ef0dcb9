"""A document that lands by words: what it takes over, what is missing, and how it is filled in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rag_pipeline.store.database import Database
from rag_pipeline.store.embeddings import (
    EmbeddingSpace,
    activate_space,
    add_vectors,
    cache_vectors,
    chunks_to_embed,
    end_filling,
    ensure_space,
    find_space,
    unembedded_tokens,
    vector_coverage,
)
from rag_pipeline.store.landing import land
from rag_pipeline.store.source_tables import apply_changes
from tests.store.test_documents import FILE, HASH, landing

ONE = np.eye(4, dtype=np.float32)[:1]


@pytest.fixture
def first(database: Database) -> EmbeddingSpace:
    with database.connection() as connection:
        apply_changes(connection, [FILE], [])
        return ensure_space(connection, "local", "tiny", 4, "1")


def is_filling(database: Database, version: str) -> bool:
    with database.connection() as connection:
        space = find_space(connection, "local", "tiny", 4, version)
        assert space is not None
        return space.is_filling


def test_cached_vectors_are_taken_over_and_the_others_filled_in(
    database: Database, first: EmbeddingSpace
) -> None:
    by_words = replace(landing("one", "two", "three"), embeddings=None)
    cached = bytes.fromhex(by_words.chunks["content_hash"][1])
    assert not is_filling(database, "1")
    with database.connection() as connection:
        cache_vectors(connection, first.space_id, [cached], ONE)
        assert land(connection, first.space_id, by_words)
    assert is_filling(database, "1")
    with database.connection() as connection:
        chunks = chunks_to_embed(connection, first.space_id, [HASH])[HASH]
        assert [chunk.has_vector for chunk in chunks] == [False, True, False]
        assert unembedded_tokens(connection, first.space_id, [HASH]) == 6
        coverage = vector_coverage(connection, first.space_id)
        assert (coverage.chunks, coverage.lacking) == (3, 2)
        assert coverage.describe().startswith("vectors for 33 % of chunks")
        end_filling(connection)
    assert is_filling(database, "1"), "two chunks have none yet"

    lacking = [chunk.chunk_id for chunk in chunks if not chunk.has_vector]
    with database.connection() as connection:
        # One of them is deleted before its vector is there.
        connection.execute("DELETE FROM chunk WHERE chunk_id = %s", [lacking[0]])
        add_vectors(connection, first.space_id, lacking, np.repeat(ONE, 2, axis=0))
        assert vector_coverage(connection, first.space_id).lacking == 0
        end_filling(connection)
    assert not is_filling(database, "1")


def test_what_lands_in_a_new_space_is_missing_in_the_active_one(
    database: Database, first: EmbeddingSpace
) -> None:
    with database.connection() as connection:
        second = ensure_space(connection, "local", "tiny", 4, "2")
        land(connection, first.space_id, landing("one"))
        end_filling(connection)
    assert (is_filling(database, "1"), is_filling(database, "2")) == (False, True)
    with database.connection() as connection:
        land(connection, second.space_id, landing("one", "new"))
        end_filling(connection)
        assert vector_coverage(connection, first.space_id).lacking == 1, "only the new text"
    assert (is_filling(database, "1"), is_filling(database, "2")) == (True, False)
    with database.connection() as connection:
        activate_space(connection, second.space_id)
    assert is_filling(database, "1"), "nobody keeps count of a retired space"
