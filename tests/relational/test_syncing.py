"""Rows in the store: what changed is done again, nothing else; and they are found."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from rag_pipeline.errors import BudgetError, SettingsError
from rag_pipeline.relational.narrowing import named_rows
from rag_pipeline.relational.questions.question_cutting import QuestionReader
from rag_pipeline.relational.rows.row_sync import (
    forget_relational,
    sync_relational,
    sync_relational_sources,
)
from rag_pipeline.relational.schema.connecting import open_engine, reading
from rag_pipeline.relational.schema.table_schema import Schema
from rag_pipeline.search import Searcher
from rag_pipeline.settings import EmbeddingSettings, RelationalSettings, Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.documents import document_states
from rag_pipeline.store.source_tables import list_sources
from rag_pipeline.sync.finish import finish
from tests.relational.conftest import Source
from tests.relational.contexts import context_of


def sync(
    database: Database, settings: Settings, source: RelationalSettings
) -> tuple[int, int, int, int, int]:
    report = sync_relational(context_of(database, settings), source)
    return report.new, report.changed, report.deleted, report.unchanged, report.embedded


def change(workshop: Path, statement: str) -> None:
    with sqlite3.connect(workshop) as connection:
        connection.execute(statement)


def test_only_what_changed_is_done_again(
    database: Database, settings: Settings, source: Source, workshop: Path
) -> None:
    one = source(strategy="child")
    assert sync(database, settings, one) == (3, 0, 0, 0, 5)
    assert sync(database, settings, one) == (0, 0, 0, 3, 0)
    # One line of one of two invoices: one chunk.
    change(workshop, "UPDATE invoice_lines SET quantity = 5 WHERE invoice_id = 10 AND part_id = 1")
    assert sync(database, settings, one) == (0, 1, 0, 2, 1)
    change(workshop, "DELETE FROM clients WHERE id = 3")
    change(workshop, "INSERT INTO clients VALUES (4, 'Newcomer', 'Kiel', 'Germany', 1, NULL)")
    # The one who is gone was named by another row: that one changed, its children's chunks did not.
    assert sync(database, settings, one) == (1, 1, 1, 1, 1)
    with database.connection() as connection:
        # A sync of files neither sees these rows nor takes them for vanished files.
        assert list_sources(connection) == []
        assert document_states(connection, None, None) == []
        chunks = connection.execute("SELECT count(*) FROM chunk").fetchone()
    assert chunks == (5,)
    named = settings.model_copy(update={"relational": [one]})
    assert forget_relational(database, named) == 0
    assert forget_relational(database, settings) == 3


def test_rows_are_found(database: Database, settings: Settings, source: Source) -> None:
    sync(database, settings, source(strategy="entity"))
    finish(context_of(database, settings))
    best = Searcher(database, settings).search("Who has bought a Gasket?").results[0]
    assert best.title == "Nordwerk"
    assert "Rotor" in best.content
    assert best.metadata["keys"]["parts"] == ["1", "2"]
    assert best.metadata["counts"]["invoices"] == 2
    assert best.metadata["values"]["is_active"] is True
    assert np.isclose(best.score, sum(detail.contribution for detail in best.details))


def test_rows_that_a_question_names(schema: Schema, source: Source) -> None:
    roots = ["clients", "parts"]
    reader = QuestionReader(schema)
    with reading(open_engine(source()), 5) as connection:
        (only,) = named_rows(connection, reader, "What did Nordwerk buy?", roots)
        assert (only.table, only.keys, only.by_name) == ("clients", ("1",), True)
        first, second = named_rows(connection, reader, "Which clients bought the Rotor?", roots)
        assert (first.table, first.keys) == ("parts", ("2",))
        assert (second.table, second.keys) == ("clients", ("1", "2"))
        assert named_rows(connection, reader, "What is new?", roots) == []


def test_readers_and_tags_change_without_work(
    database: Database, settings: Settings, source: Source
) -> None:
    sync(database, settings, source())
    assert sync(database, settings, source(tags=["crm"], readers=["group:sales"])) == (
        0,
        0,
        0,
        3,
        0,
    )
    with database.connection() as connection:
        rows = connection.execute("SELECT DISTINCT tags, readers FROM source").fetchall()
    assert rows == [(["crm"], ["group:sales"])]


def test_an_empty_root_table_keeps_its_rows(
    database: Database, settings: Settings, source: Source, workshop: Path
) -> None:
    sync(database, settings, source())
    change(workshop, "DELETE FROM clients")
    report = sync_relational(context_of(database, settings), source())
    assert (report.rows, report.deleted, report.kept) == (0, 0, 3)
    assert "--force" in report.notes[0]
    forced = sync_relational(context_of(database, settings), source(), force=True)
    assert (forced.deleted, forced.kept) == (3, 0)


def test_a_database_that_fails_does_so_alone(
    database: Database, settings: Settings, source: Source, tmp_path: Path
) -> None:
    broken = source(name="broken", url=f"sqlite:///{tmp_path}/no/such.db")
    no_table = source(name="no_table", root="orders")
    reports = sync_relational_sources(context_of(database, settings), [broken, no_table, source()])
    assert [report.new for report in reports] == [0, 0, 3]
    assert "no/such.db cannot be read" in str(reports[0].error)
    assert "no table orders" in str(reports[1].error)
    assert reports[2].error is None


def test_the_limit_of_cost_holds(database: Database, settings: Settings, source: Source) -> None:
    values = {"provider": "openai", "model": "unheard-of", "dimensions": 8, "api_key": "sk-x"}
    embedding = EmbeddingSettings.model_validate(values | {"base_url": "http://127.0.0.1:9/v1"})
    limited = settings.model_copy(
        update={
            "embedding": embedding,
            "sync": settings.sync.model_copy(update={"max_cost_usd": 0.01}),
        }
    )
    with pytest.raises(BudgetError, match="no price is known"):
        sync_relational(context_of(database, limited), source())
    # A thousand dollars a token: the first batch is above the limit, nothing is sent.
    priced = limited.model_copy(update={"prices": {"openai/unheard-of": 1e9}})
    with pytest.raises(BudgetError, match="its next step"):
        sync_relational(context_of(database, priced), source())


def test_times_of_change_tell_what_is_read_whole(
    database: Database, settings: Settings, tmp_path: Path
) -> None:
    file = tmp_path / "timed.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(TIMED)
    timed = RelationalSettings(name="timed", url=f"sqlite:///{file}", root="clients")
    assert sync(database, settings, timed) == (2, 0, 0, 0, 2)
    # The newest second proves nothing: those rows are read whole once more, and are the same.
    assert sync(database, settings, timed) == (0, 0, 0, 2, 0)
    # Without a new time a change is not seen, where times are trusted.
    change(file, "UPDATE clients SET name = 'Quiet' WHERE id = 1")
    assert sync(database, settings, timed) == (0, 0, 0, 2, 0)
    change(file, "UPDATE clients SET updated_at = '2024-05-06 00:00:00' WHERE id = 1")
    assert sync(database, settings, timed) == (0, 1, 0, 1, 1)
    # Rows that come and go are seen by their keys: of the root, and below it.
    change(file, "DELETE FROM orders WHERE id = 10")
    assert sync(database, settings, timed) == (0, 1, 0, 1, 1)
    change(file, "INSERT INTO orders VALUES (12, 2, 9, '2020-01-01 00:00:00')")
    assert sync(database, settings, timed) == (0, 1, 0, 1, 1)
    change(file, "DELETE FROM clients WHERE id = 2")
    assert sync(database, settings, timed) == (0, 0, 1, 1, 0)
    change(file, "UPDATE clients SET name = 'Still' WHERE id = 1")
    suspicious = timed.model_copy(update={"trust_updated_at": False})
    assert sync(database, settings, suspicious) == (0, 1, 0, 0, 1)


TIMED = """
CREATE TABLE clients (id INTEGER PRIMARY KEY, name VARCHAR(20), updated_at DATETIME);
CREATE TABLE orders (id INTEGER PRIMARY KEY, client_id INTEGER REFERENCES clients, quantity INTEGER,
    updated_at DATETIME);
INSERT INTO clients VALUES (1, 'Early', '2024-01-01 00:00:00'), (2, 'Late', '2024-09-09 09:09:09');
INSERT INTO orders VALUES (10, 1, 3, '2024-01-01 00:00:00'), (11, 2, 5, '2024-03-03 00:00:00');
INSERT INTO clients VALUES (3, 'Unseen', '2024-09-09 09:09:10');
DELETE FROM clients WHERE id = 3;
"""


def test_duplicates_are_left_out_and_come_back(
    database: Database, settings: Settings, source: Source, workshop: Path
) -> None:
    change(workshop, "INSERT INTO clients VALUES (4, 'Twin', 'Kiel', 'Germany', 1, NULL)")
    change(workshop, "INSERT INTO clients VALUES (5, 'Twin', 'Kiel', 'Germany', 1, NULL)")
    once = source(strategy="entity", duplicates="exact", exclude=["clients.id"])
    assert sync(database, settings, once) == (5, 0, 0, 0, 4)
    assert titles(database) == ["Hansol Works", "Idle Mills", "Nordwerk", "Twin"]
    assert sync(database, settings, once) == (0, 0, 0, 5, 0)
    # The first twin moves: the second one is no duplicate any more.
    change(workshop, "UPDATE clients SET city = 'Jena' WHERE id = 4")
    assert sync(database, settings, once) == (0, 2, 0, 3, 1)
    assert titles(database).count("Twin") == 2
    change(workshop, "UPDATE clients SET city = 'Kiel' WHERE id = 4")
    assert sync(database, settings, once)[:4] == (0, 1, 0, 4)
    change(workshop, "DELETE FROM clients WHERE id = 5")
    assert sync(database, settings, once) == (0, 1, 1, 3, 0)
    assert titles(database).count("Twin") == 1


def test_a_row_that_repeats_what_another_said_until_now(
    database: Database, settings: Settings, source: Source, workshop: Path
) -> None:
    change(workshop, "INSERT INTO clients VALUES (4, 'First', 'Kiel', 'Germany', 1, NULL)")
    change(workshop, "INSERT INTO clients VALUES (5, 'Second', 'Kiel', 'Germany', 1, NULL)")
    once = source(strategy="entity", duplicates="exact", exclude=["clients.id"])
    sync(database, settings, once)
    # Row 4 is read first, while row 5 is still stored under the name that it has just lost.
    change(workshop, "UPDATE clients SET name = 'Second' WHERE id = 4")
    change(workshop, "UPDATE clients SET name = 'Third' WHERE id = 5")
    assert sync(database, settings, once)[:4] == (0, 2, 0, 3)
    assert titles(database)[-2:] == ["Second", "Third"]
    assert sync(database, settings, once)[:4] == (0, 0, 0, 5)


def test_semantic_duplicates(database: Database, settings: Settings, source: Source) -> None:
    # Of one likeness and more, every chunk but the first is the same.
    alike = source(strategy="entity", duplicates="semantic", duplicate_similarity=0.1)
    report = sync_relational(context_of(database, settings), alike)
    assert (report.new, report.chunks, report.duplicates) == (3, 1, 2)
    again = sync_relational(context_of(database, settings), alike)
    assert (again.unchanged, again.embedded) == (3, 0)
    strict = source(strategy="entity", duplicates="semantic", duplicate_similarity=1.0)
    report = sync_relational(context_of(database, settings), strict)
    assert (report.changed, report.chunks, report.duplicates) == (3, 3, 0)


def titles(database: Database) -> list[str]:
    with database.connection() as connection:
        rows = connection.execute(
            "SELECT d.title FROM document AS d JOIN chunk AS c USING (source_hash) ORDER BY 1"
        ).fetchall()
    return [title for (title,) in rows]


def test_two_projects_do_not_share_a_source(
    database: Database, settings: Settings, source: Source, tmp_path: Path
) -> None:
    sync(database, settings, source())
    other = settings.model_copy(update={"project_dir": tmp_path / "other"})
    with pytest.raises(SettingsError, match="belongs to the project"):
        sync_relational(context_of(database, other), source())
    assert forget_relational(database, other) == 0
