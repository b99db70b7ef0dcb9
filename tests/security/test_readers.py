"""Readers that change, old stores, and writers at the same time."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psycopg
import pytest
from psycopg import sql

from rag_pipeline.errors import SettingsError, StoreError
from rag_pipeline.settings import SecuritySettings, Settings, may_read
from rag_pipeline.store.access_roles import ensure_roles
from rag_pipeline.store.database import Database, connect
from rag_pipeline.store.migrations import apply_migrations, create_database, list_migrations
from rag_pipeline.store.named_queries import queries
from rag_pipeline.store.source_tables import SourceFile, apply_changes
from rag_pipeline.system import RagSystem
from tests.search.conftest import DIMENSIONS, finish, land_document, source_hash_of, space_of


def file_of(name: str, readers: Sequence[str], source_hash: str | None = None) -> SourceFile:
    return SourceFile(
        f"/m/{name}", "/m", source_hash or source_hash_of(name), 1, 1, readers=tuple(readers)
    )


def give(database: Database, name: str, readers: Sequence[str]) -> None:
    """Do what a sync does when readers change in the settings."""
    with database.connection() as connection:
        apply_changes(connection, [file_of(name, readers)], [])


def words_of(database: Database, *principals: str) -> set[str]:
    with database.for_readers(principals).connection() as connection:
        rows = connection.execute("SELECT DISTINCT lexeme FROM posting").fetchall()
        texts = connection.execute("SELECT content FROM chunk").fetchall()
    found = {lexeme for (lexeme,) in rows}
    assert found == {word for (text,) in texts for word in text.split()}
    return found


def letters(number: int) -> str:
    """Return a word of its own for a number, of which nothing is a stem or a segment."""
    return "x" + "".join(chr(ord("a") + int(digit)) for digit in f"{number:03}") + "x"


def misplaced(database: Database) -> int:
    with database.connection() as connection:
        return int(queries.misplaced_chunks(connection))


def vectors_of(database: Database) -> dict[str, bytes]:
    with database.connection() as connection:
        rows = connection.execute(
            "SELECT c.content, e.embedding::text FROM chunk AS c "
            "INNER JOIN chunk_embedding AS e ON e.chunk_id = c.chunk_id ORDER BY 1"
        )
        return {content: vector.encode() for content, vector in rows}


def test_changed_readers_hold_at_once_and_keep_the_vectors(database: Database) -> None:
    vectors = np.eye(DIMENSIONS)[:3]
    land_document(database, "one", ["alpha beta", "beta gamma", "delta"], vectors=vectors)
    land_document(database, "two", ["epsilon"])
    before = vectors_of(database)
    assert words_of(database, "user:kim") == {"alpha", "beta", "gamma", "delta", "epsilon"}
    for readers in (["group:a"], ["group:a", "user:kim"], ["group:a"]):
        give(database, "one", readers)
        assert vectors_of(database) == before
        assert misplaced(database) == 0
        assert words_of(database, "group:a") == {"alpha", "beta", "gamma", "delta", "epsilon"}
        seen = words_of(database, "user:kim")
        assert seen == {"epsilon"} | (
            {"alpha", "beta", "gamma", "delta"} if "user:kim" in readers else set()
        )
    give(database, "one", [])
    assert words_of(database, "group:a", "user:kim") == {"epsilon"}
    give(database, "one", ["public", "group:a"])
    assert words_of(database, "user:x") == {"alpha", "beta", "gamma", "delta", "epsilon"}
    with database.connection() as connection:
        totals = connection.execute(
            "SELECT sum(chunk_count), sum(lexeme_total), sum(dead_count) FROM posting_bucket"
        ).fetchone()
    assert totals == (4, 6, 0)


def test_what_is_landed_anew_stays_among_its_readers(database: Database) -> None:
    for texts in (["alpha"], ["beta gamma"], ["delta"] * 3):
        land_document(database, "one", texts, readers=["group:a"])
        assert misplaced(database) == 0
        finish(database)
        assert words_of(database, "group:a") == set(" ".join(texts).split())
        assert words_of(database, "group:b") == set()


def test_a_document_of_two_files_is_read_by_the_readers_of_either(database: Database) -> None:
    source_hash = land_document(database, "one", ["alpha"], readers=["group:a"])
    with database.connection() as connection:
        apply_changes(connection, [file_of("copy", ["group:b"], source_hash)], [])
    for group, uri in (("group:a", "/m/one"), ("group:b", "/m/copy")):
        assert words_of(database, group) == {"alpha"}
        with database.for_readers([group]).connection() as connection:
            # But not where it lies for the others.
            assert connection.execute("SELECT uri FROM source").fetchall() == [(uri,)]
            rows = list(queries.found_chunks(connection, chunk_ids=[_only_chunk(connection)]))
            assert [row[2] for row in rows] == [uri]
    with database.connection() as connection:
        apply_changes(connection, [], ["/m/one"])
    assert words_of(database, "group:a") == set()
    assert words_of(database, "group:b") == {"alpha"}


def _only_chunk(connection: psycopg.Connection) -> int:
    ((chunk_id,),) = connection.execute("SELECT chunk_id FROM chunk").fetchall()
    return int(chunk_id)


@pytest.mark.parametrize(
    ("before", "after", "old_content"),
    [
        (["group:a"], ["group:a"], ["group:a"]),
        # The new content may be for all because what the old one said is no longer in it.
        (["group:a"], ["public"], ["group:a"]),
        (["public"], ["group:a"], ["group:a"]),
        (["group:a", "group:b"], ["group:b", "group:c"], ["group:b"]),
        (["group:a"], ["group:b"], []),
    ],
)
def test_old_content_that_waits_for_its_successor(
    database: Database, before: list[str], after: list[str], old_content: list[str]
) -> None:
    old = land_document(database, "one", ["alpha"], readers=before)
    new = source_hash_of("new content")
    with database.connection() as connection:
        apply_changes(connection, [file_of("one", after, new)], [], [(old, new)])
    for group in ("group:a", "group:b", "group:c", "user:x"):
        expected = {"alpha"} if may_read(old_content, [group]) else set()
        assert words_of(database, group) == expected, group
        with database.for_readers([group]).connection() as connection:
            ids = [row[0] for row in connection.execute("SELECT chunk_id FROM chunk")]
            assert len(list(queries.found_chunks(connection, chunk_ids=ids))) == len(ids)


def test_an_aborted_change_changes_nothing(database: Database) -> None:
    land_document(database, "one", ["alpha"])
    with database.connection() as connection:
        apply_changes(connection, [file_of("one", ["group:a"])], [])
        connection.rollback()
    assert words_of(database, "user:x") == {"alpha"}
    assert misplaced(database) == 0


def test_a_chunk_among_other_readers_ids_is_refused(database: Database) -> None:
    land_document(database, "one", ["alpha"], readers=["group:a"])
    with pytest.raises(StoreError, match="among those of other readers"), \
            database.connection() as connection:  # fmt: skip
        connection.execute(
            "INSERT INTO chunk (source_hash, chunk_index, kind, breadcrumb_trail, content, "
            "token_count, page_start, page_end, regions, content_hash, language, search_vector, "
            "lexeme_count) VALUES (%s, 9, 'text', '', 'omega', 1, 1, 1, '[]', 'x', 'en', "
            "'''omega'':1', 1)",
            (source_hash_of("one"),),
        )


def test_many_landings_into_the_same_readers_at_once(database: Database) -> None:
    """As many buckets as are needed, no id twice, no deadlock."""
    space_of(database)
    barrier = threading.Barrier(4)

    def write(worker: int) -> None:
        barrier.wait()
        for turn in range(6):
            name = f"{worker}-{turn % 3}"
            # Other texts the second time: the same would keep their ids.
            texts = [letters(i + 700 * (turn // 3)) for i in range(700)]
            land_document(database, name, texts, readers=[f"group:{worker % 2}"])

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(4)))
    assert misplaced(database) == 0
    with database.connection() as connection:
        rows = connection.execute(
            "SELECT r.readers, sum(b.chunk_count), count(*) FROM posting_bucket AS b "
            "INNER JOIN reader_set AS r ON r.reader_set_id = b.reader_set_id "
            "WHERE b.chunk_count > 0 GROUP BY 1 ORDER BY 1"
        ).fetchall()
    assert [(readers, chunks) for readers, chunks, _ in rows] == [
        (["group:0"], 4200),
        (["group:1"], 4200),
    ]
    assert all(buckets == 2 for *_, buckets in rows), "8,400 ids were given away"


def test_readers_change_while_others_land(database: Database) -> None:
    space_of(database)
    land_document(database, "moving", [f"m{letters(i)}" for i in range(300)])
    stop = threading.Event()

    def land() -> None:
        turn = 0
        while not stop.is_set():
            land_document(database, "busy", [f"b{letters(turn)}{letters(i)}" for i in range(50)])
            turn += 1

    with ThreadPoolExecutor(1) as threads:
        landing = threads.submit(land)
        for turn in range(8):
            give(database, "moving", ["group:a"] if turn % 2 == 0 else ["public"])
        stop.set()
        landing.result()
    finish(database)
    assert misplaced(database) == 0
    assert len([word for word in words_of(database, "user:x") if word[0] == "m"]) == 300


def test_readers_by_source_tag_and_glob() -> None:
    security = SecuritySettings(
        tags={"internal": ["group:staff"], "legal": ["group:legal", "group:staff"]},
        documents={
            "contracts/**": ["group:legal"],
            "*.secret.pdf": ["user:kim"],
            "open/*": ["public"],
        },
    )
    source = ("group:service",)
    assert security.readers_of("/m/a.pdf", [], source) == source
    assert security.readers_of("/m/a.pdf", ["internal"], source) == ("group:staff",)
    assert security.readers_of("/m/a.pdf", ["internal", "legal"], source) == ("group:staff",)
    assert security.readers_of("/m/Contracts/x/a.pdf", ["internal"], source) == ("group:legal",)
    assert security.readers_of("/m/open/a.pdf", ["internal"], source) == ("public",)
    assert security.readers_of("/m/contracts/a.secret.pdf", [], source) == (), "nobody is in both"
    assert security.readers_of("s3://b/x/contracts/a.pdf", [], source) == ("group:legal",)


def test_a_sync_applies_readers_and_nothing_else(
    tmp_path: Path, database_url: str, models_dir: Path
) -> None:
    """S10: no parse, no embedding."""
    from tests.conftest import make_settings

    folder = tmp_path / "manuals"
    (folder / "internal").mkdir(parents=True)
    (folder / "pump.md").write_text("# Pump\n\nThe pump runs at 4 bar.\n", encoding="utf-8")
    (folder / "internal" / "valve.md").write_text("# Valve\n\nThe valve leaks.\n", encoding="utf-8")
    settings = make_settings(tmp_path / "project", database_url, models_dir)
    place, url = settings.project_dir, settings.database_url
    with RagSystem(place, database_url=url) as system:
        assert len(system.add_directory(folder).done) == 2
    rules = '[security.documents]\n"internal/**" = ["group:staff"]\n'
    (place / "rag.toml").write_text(rules, encoding="utf-8")
    with RagSystem(place, database_url=url) as system:
        with system.database.connection() as connection:
            ids = "SELECT max(xmin::text::bigint) FROM embedding_cache"
            cached = connection.execute(ids).fetchone()
        added = system.add_directory(folder, readers=["user:kim"])
        assert (added.done, added.current, added.failures) == ([], 2, {})
        with system.database.connection() as connection:
            assert connection.execute(ids).fetchone() == cached
        assert misplaced(system.database) == 0

        def seen(*principals: str) -> set[str]:
            response = system.reading_as(principals).search("pump valve")
            return {one.source_path.rsplit("/", 1)[-1] for one in response.results}

        assert seen("user:kim") == {"pump.md"}
        assert seen("group:staff") == {"valve.md"}
        assert seen("user:x") == set()
    # What the settings alone restrict may be asked for others; what was opened for others may not.
    with RagSystem(place, database_url=url, security=SecuritySettings(enabled=True)) as system:
        assert system.search("pump valve").results == []
        assert seen("user:kim") == {"pump.md"}
        assert seen("group:staff") == {"valve.md"}
    with (
        RagSystem(place, database_url=url, principals=["user:kim"]) as system,
        pytest.raises(StoreError),
    ):
        seen("group:staff")


def test_a_store_of_before(server_url: str) -> None:
    """Migration 004 moves what is not public."""
    name = "before_004"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS before_004 WITH (FORCE)")
    create_database(server_url, name)
    url = server_url.replace("/postgres?", f"/{name}?")
    with connect(url) as connection:
        for migration in list_migrations()[:3]:
            connection.execute(migration.statements.encode())
        connection.execute(
            "CREATE TABLE schema_migration (version integer PRIMARY KEY, name text NOT NULL, "
            "checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"
        )
        for migration in list_migrations()[:3]:
            connection.execute(
                "INSERT INTO schema_migration (version, name, checksum) VALUES (%s, %s, %s)",
                (migration.version, migration.name, migration.checksum),
            )
        connection.execute(
            "INSERT INTO embedding_space (provider, model, dimensions, version, state) "
            "VALUES ('test', 'tiny', 4, '1', 'active')"
        )
        documents = {"open": "{public}", "closed": "{group:a}", "both": "{group:a,group:b}"}
        for place, (document, readers) in enumerate(documents.items()):
            key = source_hash_of(document)
            connection.execute(
                "INSERT INTO document (source_hash, language, status, chunk_count) "
                "VALUES (%s, 'en', 'ready', 2)",
                (key,),
            )
            connection.execute(
                "INSERT INTO source (uri, root, source_hash, size, modified_ns, readers) "
                "VALUES (%s, '/m', %s, 1, 1, %s)",
                (f"/m/{document}", key, readers),
            )
            connection.execute(
                "INSERT INTO chunk (source_hash, chunk_index, kind, breadcrumb_trail, content, "
                "token_count, page_start, page_end, regions, content_hash, language, "
                "search_vector, lexeme_count) SELECT %(key)s, i, 'text', '', %(name)s || i, 1, 1, "
                "1, '[]', 'x', 'en', to_tsvector('simple', %(name)s || i), 1 "
                "FROM generate_series(0, 1) AS i",
                {"key": key, "name": document},
            )
            connection.execute(
                "INSERT INTO chunk_embedding SELECT chunk_id, 1, "
                "('[' || %s || ',1,' || chunk_index || ',0]')::halfvec FROM chunk "
                "WHERE source_hash = %s",
                (place, key),
            )
        connection.commit()
        assert apply_migrations(connection)[0].version == 4
    database = Database.open(Settings(database_url=url))
    try:
        assert misplaced(database) == 0
        assert len(vectors_of(database)) == 6
        assert words_of(database, "user:x") == {"open0", "open1"}
        assert words_of(database, "group:b") == {"open0", "open1", "both0", "both1"}
        assert len(words_of(database, "group:a")) == 6
    finally:
        database.close()
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def test_roles_that_a_dump_did_not_bring_are_made_again(database: Database) -> None:
    with database.connection() as connection:
        assert not ensure_roles(connection), "nothing to do"
        connection.execute("REVOKE SELECT ON posting FROM rag_reader")
        assert ensure_roles(connection)
        connection.execute("SET LOCAL ROLE rag_reader")
        assert connection.execute("SELECT * FROM posting").fetchall() == []


def test_principals_are_a_list_and_are_not_widened(database: Database) -> None:
    with pytest.raises(SettingsError):
        database.for_readers("user:kim")
    kim = database.for_readers(["user:kim"])
    assert kim.for_readers() is kim
    with pytest.raises(StoreError):
        kim.for_readers(["user:lee"])
    odd = ['user:"kim"', "user:{a,b}", "user:\\", "유저:김", "user:'x'; --"]
    land_document(database, "odd", ["alpha"], readers=odd)
    for principal in odd:
        assert words_of(database, principal) == {"alpha"}
    assert words_of(database, "user:a", "user:{a", "b}") == set()
