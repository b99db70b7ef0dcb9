"""What stays of a document when it lands again: rows, ids, vectors and postings of its chunks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.errors import StoreError
from rag_pipeline.store.database import Database
from rag_pipeline.store.embeddings import EmbeddingSpace, ensure_space
from rag_pipeline.store.landing import Landing, land, land_all
from rag_pipeline.store.source_tables import SourceFile, apply_changes
from rag_pipeline.store.statistics import refresh_statistics
from tests.store.test_documents import FILE, HASH, chunks, landing

NEW_HASH = "cd" * 32
MANY = 40
"""Chunks of a document of which one is edited."""
WORDS = 5
"""Of each chunk: the number's own word, and four that all have."""


@pytest.fixture
def space(database: Database) -> EmbeddingSpace:
    with database.connection() as connection:
        apply_changes(connection, [FILE], [])
        return ensure_space(connection, "local", "tiny", 4, "1")


def long_document(*numbers: int, source_hash: str = HASH) -> Landing:
    """A document with a chunk for each number, with vectors that depend on it."""
    vectors = np.array([[1.0, number, number**2, 1.0] for number in numbers], dtype=np.float32)
    return replace(
        landing(),
        source_hash=source_hash,
        chunks=chunks(*(f"text {number}" for number in numbers)),
        search_vectors=[f"'a':1 'b':2 'c':3 'd':4 'n{number}':5" for number in numbers],
        lexeme_counts=[WORDS] * len(numbers),
        embeddings=vectors,
    )


def edit_file(connection: Connection[TupleRow]) -> None:
    """Let the file have other content."""
    changed = SourceFile(FILE.uri, FILE.root, NEW_HASH, 4, 2, FILE.tags, FILE.readers)
    apply_changes(connection, [changed], [], [(HASH, NEW_HASH)])


def ids(connection: Connection[TupleRow], source_hash: str) -> dict[str, int]:
    rows = connection.execute(
        "SELECT content, chunk_id FROM chunk WHERE source_hash = %s ORDER BY chunk_index",
        [source_hash],
    )
    return dict(rows.fetchall())


def writes(database: Database) -> dict[str, int]:
    """Return how many rows of each table were ever written, as Postgres counts them."""
    with database.connection() as connection:
        connection.execute("SELECT pg_stat_force_next_flush()")
    with database.connection() as connection:
        connection.execute("SELECT pg_stat_clear_snapshot()")
        rows = connection.execute(
            "SELECT relname, n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_user_tables "
            "WHERE schemaname NOT LIKE 'pg_temp%'"
        )
        return dict(rows.fetchall())


def test_ids_and_vectors_outlive_an_edit(database: Database, space: EmbeddingSpace) -> None:
    numbers = list(range(MANY))
    with database.connection() as connection:
        land(connection, space.space_id, long_document(*numbers))
        before = ids(connection, HASH)
        refresh_statistics(connection)
        edit_file(connection)
    counted = writes(database)
    # One is gone, one is new before it, two change places, the rest stays.
    edited = [*numbers[:10], 100, *numbers[11:20], 21, 20, *numbers[22:]]
    by_words = replace(long_document(*edited, source_hash=NEW_HASH), embeddings=None)
    with database.connection() as connection:
        assert land(connection, space.space_id, by_words)
        after = ids(connection, NEW_HASH)
        refresh_statistics(connection)
        lacking = connection.execute(
            "SELECT content FROM chunk LEFT JOIN chunk_embedding USING (chunk_id) "
            "WHERE embedding IS NULL"
        ).fetchall()
        vectors = dict(
            connection.execute(
                "SELECT content, (embedding::vector::real[])[2] FROM chunk "
                "JOIN chunk_embedding USING (chunk_id)"
            ).fetchall()
        )
        documents = connection.execute("SELECT source_hash FROM document").fetchall()
    assert list(after) == [f"text {number}" for number in edited], "in the order of the file"
    assert {text: after[text] for text in after if text != "text 100"} == {
        text: before[text] for text in before if text != "text 10"
    }
    assert lacking == [("text 100",)]
    assert vectors["text 21"] == 21
    assert documents == [(NEW_HASH,)]

    written = {name: count - counted.get(name, 0) for name, count in writes(database).items()}
    assert written["chunk_embedding"] == 1, "the vector of the chunk that is gone"
    assert written["chunk"] == MANY - 1 + 2, "each kept one's place, one gone, one new"
    assert written["posting"] <= 2 * WORDS
    assert written["lexeme"] <= 2 * WORDS


def test_the_same_content_again_writes_no_chunk(database: Database, space: EmbeddingSpace) -> None:
    with database.connection() as connection:
        land(connection, space.space_id, long_document(1, 2, 3))
    before = writes(database)
    with database.connection() as connection:
        land(connection, space.space_id, long_document(1, 2, 3))
    after = writes(database)
    for table in ("chunk", "chunk_embedding", "posting", "posting_bucket"):
        assert after[table] == before[table]


def test_vectors_read_in_context_go_with_their_neighbours(
    database: Database, space: EmbeddingSpace
) -> None:
    with database.connection() as connection:
        land(connection, space.space_id, long_document(1, 2, 3))
        other = replace(long_document(1, 4, 3), embeddings=None, is_contextual=True)
        land(connection, space.space_id, other)
        count = connection.execute("SELECT count(*) FROM chunk_embedding").fetchone()
    assert count == (0,), "all are to be made again"


def test_documents_that_land_together_are_as_alone(
    database: Database, space: EmbeddingSpace
) -> None:
    files = [replace(FILE, uri=f"/m/{n}.pdf", source_hash=f"{n:064x}") for n in range(4)]
    several = [
        long_document(*range(n, n + 3), source_hash=file.source_hash)
        for n, file in enumerate(files)
    ]
    gone = long_document(7, source_hash="ef" * 32)
    with database.connection() as connection:
        apply_changes(connection, files, [FILE.uri])
        land(connection, space.space_id, several[1])
        landed = land_all(connection, space.space_id, [*several, gone])
        for one in several:
            found = ids(connection, one.source_hash)
            assert list(found) == one.chunks["content"].tolist()
        vectors = connection.execute("SELECT count(*) FROM chunk_embedding").fetchone()
    assert set(landed) == {one.source_hash for one in several}, "the one without a file is left out"
    assert vectors == (12,)


def test_one_that_cannot_be_written_is_told(database: Database, space: EmbeddingSpace) -> None:
    broken = long_document(1)
    broken.search_vectors[0] = "'unclosed"
    with pytest.raises(StoreError), database.connection() as connection:
        land(connection, space.space_id, broken)
