"""Landing a document: in one transaction, replaced whole, counted from the rows themselves."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pandas as pd
import psycopg
import pytest

from rag_pipeline.errors import DatabaseUnavailableError, SettingsError, StoreError
from rag_pipeline.frames import Chunks, check
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.documents import document_states, mark_failed, merge_fingerprints
from rag_pipeline.store.embeddings import (
    EmbeddingSpace,
    cache_vectors,
    cached_vectors,
    ensure_index,
    ensure_space,
)
from rag_pipeline.store.landing import Landing, land
from rag_pipeline.store.source_tables import SourceFile, apply_changes, list_sources
from rag_pipeline.store.statistics import count_everything, refresh_statistics

HASH = "ab" * 32
FILE = SourceFile("/m/a.pdf", "/m", HASH, 3, 1, ("pump",), ("public",))


def chunks(*texts: str) -> pd.DataFrame:
    return check(
        pd.DataFrame(
            {
                "chunk_index": range(len(texts)),
                "parent_index": None,
                "kind": "text",
                "breadcrumb_trail": "Pump > Filter",
                "content": list(texts),
                "context": None,
                "token_count": 3,
                "page_start": 1,
                "page_end": 2,
                "regions": [[{"page": 1, "x0": 0.1, "y0": 0.1, "x1": 0.9, "y1": 0.2}]] * len(texts),
                "content_hash": [hashlib.sha256(text.encode()).hexdigest() for text in texts],
                "metadata": [{"n": index} for index in range(len(texts))],
            }
        ),
        Chunks,
    )


def landing(*texts: str) -> Landing:
    return Landing(
        HASH,
        "Pump",
        2,
        "en",
        [],
        {"chunk_embeddings": "f1"},
        chunks(*texts),
        ["'filter':1 'oil':2"] * len(texts),
        [2] * len(texts),
        np.eye(4, dtype=np.float32)[: len(texts)],
    )


@pytest.fixture
def space(database: Database) -> EmbeddingSpace:
    with database.connection() as connection:
        apply_changes(connection, [FILE], [])
        return ensure_space(connection, "local", "tiny", 4, "1")


def test_landing_replaces_the_document_whole(database: Database, space: EmbeddingSpace) -> None:
    with database.connection() as connection:
        assert land(connection, space.space_id, landing("one", "two", "three"))
    with database.connection() as connection:
        assert land(connection, space.space_id, landing("four", "two"))
        rows = connection.execute("SELECT content FROM chunk ORDER BY chunk_index").fetchall()
        counts = count_everything(connection)
    assert rows == [("four",), ("two",)]
    assert (counts.ready, counts.chunks, counts.vectors) == (1, 2, 2)


def test_readers_never_see_half_a_document(database: Database, space: EmbeddingSpace) -> None:
    with database.connection() as connection:
        land(connection, space.space_id, landing("one", "two", "three"))
    with database.connection() as writer, database.connection() as reader:
        land(writer, space.space_id, landing("four"))
        seen = reader.execute("SELECT count(*) FROM chunk").fetchone()
        assert seen == (3,), "the old document, until the new one is committed"


def test_a_failed_landing_leaves_the_old_document(
    database: Database, space: EmbeddingSpace
) -> None:
    with database.connection() as connection:
        land(connection, space.space_id, landing("one"))
    broken = landing("two", "three")
    broken.embeddings[1, 0] = np.nan
    with pytest.raises(Exception, match="NaN"), database.connection() as connection:
        land(connection, space.space_id, broken)
    with database.connection() as connection:
        assert connection.execute("SELECT content FROM chunk").fetchall() == [("one",)]


def test_a_vanished_document_is_not_landed(database: Database, space: EmbeddingSpace) -> None:
    with database.connection() as connection:
        assert apply_changes(connection, [], [FILE.uri]) == [HASH]
        assert not land(connection, space.space_id, landing("one"))
        assert count_everything(connection).chunks == 0


def test_rows_deleted_by_hand_show_in_the_state(database: Database, space: EmbeddingSpace) -> None:
    with database.connection() as connection:
        land(connection, space.space_id, landing("one", "two"))
        (state,) = document_states(connection, space.space_id, None)
        assert state.is_intact
        connection.execute(
            "DELETE FROM chunk_embedding WHERE chunk_id = (SELECT min(chunk_id) FROM chunk)"
        )
        (state,) = document_states(connection, space.space_id, [HASH])
        assert not state.is_intact
        connection.execute("DELETE FROM chunk")
        (state,) = document_states(connection, space.space_id, None)
        assert not state.is_intact


def test_same_bytes_under_two_names_are_one_document(
    database: Database, space: EmbeddingSpace
) -> None:
    copy = SourceFile("/m/b.pdf", "/m", HASH, 3, 1)
    with database.connection() as connection:
        apply_changes(connection, [copy], [])
        land(connection, space.space_id, landing("one"))
        assert apply_changes(connection, [], [FILE.uri]) == []
        assert count_everything(connection).chunks == 1
        assert [item.uri for item in list_sources(connection)] == ["/m/b.pdf"]
        assert apply_changes(connection, [], [copy.uri]) == [HASH]
        counts = count_everything(connection)
    assert (counts.documents, counts.chunks, counts.vectors) == (0, 0, 0)


def test_failures_are_counted_and_keep_what_was_searchable(
    database: Database, space: EmbeddingSpace
) -> None:
    with database.connection() as connection:
        land(connection, space.space_id, landing("one"))
        for _ in range(2):
            mark_failed(
                connection,
                HASH,
                stage="document_blocks",
                reason="a.pdf: damaged",
                permanent=True,
                fingerprint="f1",
            )
        (state,) = document_states(connection, space.space_id, None)
        assert (state.status, state.failure_count, state.failure_reason) == (
            "failed",
            2,
            "a.pdf: damaged",
        )
        assert count_everything(connection).chunks == 1


def test_vectors_are_cached_once(database: Database, space: EmbeddingSpace) -> None:
    keys = [hashlib.sha256(bytes([number])).digest() for number in range(3)]
    vectors = np.eye(4, dtype=np.float32)[:3]
    with database.connection() as connection:
        cache_vectors(connection, space.space_id, keys, vectors)
        cache_vectors(connection, space.space_id, keys[:1], vectors[:1])
        found = cached_vectors(connection, space.space_id, [*keys, b"\0" * 32])
    assert set(found) == set(keys)
    np.testing.assert_array_equal(found[keys[2]], [0, 0, 1, 0])


def test_the_index_is_built_once_and_used(database: Database, space: EmbeddingSpace) -> None:
    with database.connection() as connection:
        assert not ensure_index(connection, space), "nothing to index yet"
        land(connection, space.space_id, landing("one", "two"))
        assert ensure_index(connection, space)
        assert not ensure_index(connection, space)
        connection.execute("SET enable_seqscan = off")
        connection.execute("SET enable_sort = off")
        plan = connection.execute(
            "EXPLAIN SELECT chunk_id FROM chunk_embedding WHERE space_id = %s "
            "ORDER BY embedding::halfvec(4) <=> '[1,0,0,0]'::halfvec(4) LIMIT 1",
            (space.space_id,),
        ).fetchall()
    assert any("chunk_embedding_hnsw" in line for (line,) in plan)


def test_the_first_space_is_active_and_later_ones_wait(
    database: Database, space: EmbeddingSpace
) -> None:
    with database.connection() as connection:
        assert space.state == "active"
        assert ensure_space(connection, "local", "other", 8, "1").state == "building"
        assert ensure_space(connection, "local", "tiny", 4, "1") == space
        other_version = ensure_space(connection, "local", "tiny", 4, "2")
        assert other_version.space_id != space.space_id, "vectors of two versions never meet"


def test_statistics_count_chunks_per_lexeme(database: Database, space: EmbeddingSpace) -> None:
    with database.connection() as connection:
        land(connection, space.space_id, landing("one", "two"))
        assert refresh_statistics(connection)
        assert not refresh_statistics(connection), "nothing changed since"
        rows = connection.execute("SELECT lexeme, document_frequency FROM lexeme ORDER BY 1")
        assert rows.fetchall() == [("filter", 2), ("oil", 2)]
        total = connection.execute("SELECT chunk_count, lexeme_total FROM corpus_statistics")
        assert total.fetchone() == (2, 4)


def test_the_old_content_stays_until_the_new_one_lands(
    database: Database, space: EmbeddingSpace
) -> None:
    new_hash = "cd" * 32
    with database.connection() as connection:
        land(connection, space.space_id, landing("old"))
        changed = replace(FILE, source_hash=new_hash)
        assert apply_changes(connection, [changed], [], [(HASH, new_hash)]) == []
        assert connection.execute("SELECT content FROM chunk").fetchall() == [("old",)]
        mark_failed(
            connection, new_hash, stage="s", reason="damaged", permanent=True, fingerprint="f"
        )
        assert connection.execute("SELECT content FROM chunk").fetchall() == [("old",)]
        land(connection, space.space_id, replace(landing("new"), source_hash=new_hash))
        assert connection.execute("SELECT content FROM chunk").fetchall() == [("new",)]
        assert count_everything(connection).documents == 1


def test_a_file_that_changes_back_and_one_that_goes(
    database: Database, space: EmbeddingSpace
) -> None:
    second, third = "cd" * 32, "ef" * 32
    with database.connection() as connection:
        land(connection, space.space_id, landing("old"))
        apply_changes(connection, [replace(FILE, source_hash=second)], [], [(HASH, second)])
        apply_changes(connection, [replace(FILE, source_hash=third)], [], [(second, third)])
        assert connection.execute("SELECT content FROM chunk").fetchall() == [("old",)]
        assert count_everything(connection).documents == 1
        apply_changes(connection, [FILE], [], [(third, HASH)])
        (state,) = document_states(connection, space.space_id, None)
        assert (state.source_hash, state.status) == (HASH, "ready")
        apply_changes(connection, [replace(FILE, source_hash=second)], [], [(HASH, second)])
        apply_changes(connection, [], [FILE.uri])
        assert connection.execute("SELECT count(*) FROM document").fetchone() == (0,)


def test_doing_the_failed_stage_clears_the_failure(
    database: Database, space: EmbeddingSpace
) -> None:
    with database.connection() as connection:
        mark_failed(connection, HASH, stage="a", reason="r", permanent=True, fingerprint="f")
        merge_fingerprints(connection, HASH, {"b": "f"})
        (state,) = document_states(connection, space.space_id, None)
        assert state.status == "failed"
        merge_fingerprints(connection, HASH, {"a": "f"})
        (state,) = document_states(connection, space.space_id, None)
        assert (state.status, state.failure_stage) == ("pending", None)


SECRET = "hunter2"


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://kim:{SECRET}@127.0.0.1:1/rag",
        f"host=127.0.0.1 port=1 user=kim password={SECRET}",
        f"postgresql://127.0.0.1:1/rag?user=kim&password={SECRET}",
    ],
)
def test_a_password_never_stands_in_an_error(url: str) -> None:
    with pytest.raises(DatabaseUnavailableError) as caught:
        Database.open(Settings(database_url=url))  # type: ignore[arg-type]
    assert SECRET not in str(caught.value)
    assert "kim@127.0.0.1:1" in str(caught.value)
    assert isinstance(caught.value.__cause__, psycopg.OperationalError)


def test_a_malformed_address_is_a_settings_error() -> None:
    with pytest.raises(SettingsError, match="no valid address") as caught:
        Database.open(Settings(database_url=f"kim:{SECRET}@nowhere"))  # type: ignore[arg-type]
    assert SECRET not in str(caught.value)


def test_a_refused_statement_is_not_a_lost_connection(database: Database) -> None:
    with pytest.raises(StoreError, match="refused"), database.connection() as connection:
        connection.execute("SET LOCAL statement_timeout = 1; SELECT pg_sleep(1)")
