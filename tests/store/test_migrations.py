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


RELEASED = {
    "001_schema.sql": "00c0db02381c73894b7cba09c3f9b3fe3bd7b8141345793d284a980758769c00",
    "002_usage_spaces_sections.sql": (
        "e060cabe75501c6b8b7b0af8286c283d0a5c12bcc45bcc2cbf877c554b08e503"
    ),
    "003_search.sql": "e949652cc79803b3821b96cb358cfcabeababe36e8384d6a996a9a0dff2aedd2",
}
"""Stores have applied these files: an edit would lock their owners out."""


def test_released_migrations_stay_as_they_are() -> None:
    found = {migration.name: migration.checksum for migration in list_migrations()}
    assert found | RELEASED == found


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
