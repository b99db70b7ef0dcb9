"""The schema: applied once, in order, and safe against edits and races."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from rag_pipeline.errors import MigrationError
from rag_pipeline.store.database import connect
from rag_pipeline.store.migrations import apply_migrations, create_database, list_migrations


@pytest.fixture
def empty_url(server_url: str, request: pytest.FixtureRequest) -> str:
    name = f"empty_{abs(hash(request.node.nodeid))}"
    assert create_database(server_url, name)
    assert not create_database(server_url, name), "a second call makes nothing"
    return server_url.replace("/postgres?", f"/{name}?")


def test_applied_once_in_order(empty_url: str) -> None:
    with connect(empty_url) as connection:
        done = apply_migrations(connection)
        versions = [m.version for m in done]
        assert versions == sorted(set(versions))
        assert versions[:4] == [1, 2, 3, 4]
        assert apply_migrations(connection) == []
        rows = connection.execute("SELECT version FROM schema_migration ORDER BY 1").fetchall()
    assert [row[0] for row in rows] == [m.version for m in list_migrations()]


def test_two_at_once_apply_each_once(empty_url: str) -> None:
    def migrate() -> int:
        with connect(empty_url) as connection:
            return len(apply_migrations(connection))

    with ThreadPoolExecutor(4) as threads:
        counts = list(threads.map(lambda _: migrate(), range(4)))
    assert sum(counts) == len(list_migrations())


def test_an_edited_migration_is_refused(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE schema_migration SET checksum = 'other' WHERE version = 1")
        connection.commit()
        with pytest.raises(MigrationError, match=r"001_schema\.sql was changed after"):
            apply_migrations(connection)


def test_korean_letters_have_trigrams(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        row = connection.execute("SELECT cardinality(show_trgm('주행거리'))").fetchone()
    assert row == (5,)
