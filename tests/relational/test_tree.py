"""The tree of relations and what is read along it, in one statement a batch."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.dialects import mysql, postgresql

from rag_pipeline.errors import SettingsError, SourceError
from rag_pipeline.relational.rows.row_chunks import Chunker
from rag_pipeline.relational.rows.row_reading import batch_statement, read_batch
from rag_pipeline.relational.rows.row_text import Renderer
from rag_pipeline.relational.rows.row_views import Viewer, keys_of
from rag_pipeline.relational.schema.connecting import open_engine, reading
from rag_pipeline.relational.schema.lexicon import Lexicon
from rag_pipeline.relational.schema.relation_tree import build_tree
from rag_pipeline.relational.schema.table_schema import Schema, read_schema
from tests.relational.conftest import Source


def count_words(texts: list[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def test_kinds_of_relations(schema: Schema, source: Source) -> None:
    tree = build_tree(schema, source(depth=2))
    found = {node.group: node.kind for node in tree.walk()}
    assert found == {
        "": "root",
        "clients by referred_by": "many",
        "client_notes": "one",
        "invoices": "many",
        "invoice_lines": "many",
    }
    parts = build_tree(schema, source(root="parts", depth=1))
    kinds = {
        node.table.name: (node.kind, node.through and node.through.name) for node in parts.walk()
    }
    assert kinds["tags"] == ("many_to_many", "part_tags")


def test_a_table_that_names_itself_does_not_go_on_for_ever(schema: Schema, source: Source) -> None:
    tree = build_tree(schema, source(depth=5))
    groups = [node.group for node in tree.walk() if node.table.name == "clients"]
    assert groups == ["", "clients by referred_by"], "and those it referred, which go no further"
    assert [reference.table.name for reference in tree.references] == ["clients"]


def test_unknown_root(schema: Schema, source: Source) -> None:
    with pytest.raises(SettingsError, match="no table orders; known: client_notes, clients"):
        build_tree(schema, source(root="orders"))


def test_one_statement_a_batch(schema: Schema, source: Source) -> None:
    engine = open_engine(source())
    statements: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *args: statements.append(args[2]))
    with reading(engine, 5) as connection:
        tree = build_tree(schema, source())
        batches = [read_batch(connection, tree, 2), read_batch(connection, tree, 2, (2,))]
    assert [batch.keys for batch in batches] == [[(1,), (2,)], [(3,)]]
    assert [[one.key for one in batch.records] for batch in batches] == [[(1,), (2,)], [(3,)]]
    assert sum(statement.startswith("WITH") for statement in statements) == 2
    nordwerk = batches[0].records[0]
    assert [invoice.key for invoice in nordwerk.children["invoices"]] == [(10,), (11,)]
    line = nordwerk.children["invoices"][0].children["invoice_lines"][1]
    assert line.references["part_id"].values == {"part_name": "Rotor"}
    assert keys_of(nordwerk)["parts"] == ["1", "2"]


@pytest.mark.parametrize(
    ("dialect", "name", "functions"),
    [
        (postgresql.dialect(), "postgresql", ["json_agg", "json_build_array"]),
        (mysql.dialect(), "mysql", ["JSON_ARRAYAGG", "JSON_ARRAY"]),
    ],
)
def test_other_dialects(
    schema: Schema, source: Source, dialect: object, name: str, functions: list[str]
) -> None:
    statement = batch_statement(name, build_tree(schema, source()), 10, None)
    sql = str(statement.compile(dialect=dialect))  # type: ignore[arg-type]
    assert all(function in sql for function in functions)


@pytest.mark.parametrize(
    ("strategy", "expected"), [("entity", 3), ("child", 5), ("parent_child", 6), ("auto", 3)]
)
def test_strategies(schema: Schema, source: Source, strategy: str, expected: int) -> None:
    settings = source(strategy=strategy)
    viewer = Viewer(schema, "en")
    chunker = Chunker(settings, schema, Renderer(settings, Path()), count_words)
    with reading(open_engine(settings), 5) as connection:
        records = read_batch(connection, build_tree(schema, settings), 10).records
    made = chunker.chunks_of([viewer.view(record) for record in records])
    # Nordwerk: a note and two invoices; Hansol Works: an invoice; Idle Mills: nothing.
    assert sum(len(entity.chunks) for entity in made) == expected
    if strategy == "parent_child":
        assert made[0].sections["chunk_index"].tolist() == [3]
        assert made[0].chunks["parent_index"].dropna().tolist() == [3, 3]


def test_text(schema: Schema, source: Source) -> None:
    settings = source(language="ko", strategy="entity")
    renderer = Renderer(settings, Path())
    with reading(open_engine(settings), 5) as connection:
        record = read_batch(connection, build_tree(schema, settings), 1).records[0]
    text = renderer.whole(Viewer(schema, "ko").view(record))
    assert "고객 Nordwerk" in text
    assert "청구서: 2건" in text
    # 2.5 × 4 + 80 × 0.75 + 3 × 10
    assert re.search(r"금액 100\b", text)
    assert "Prefers delivery by rail" in text


def test_a_template_cannot_leave_its_sandbox(source: Source, tmp_path: Path) -> None:
    (tmp_path / "own.jinja").write_text("{{ ''.__class__.__mro__ }}")
    renderer = Renderer(source(template="own.jinja"), tmp_path)
    with pytest.raises(SettingsError, match=r"own\.jinja fails"):
        renderer._render(mode="whole")


def test_nothing_can_be_written(source: Source) -> None:
    from sqlalchemy import text

    with (
        pytest.raises(SourceError, match="readonly"),
        reading(open_engine(source()), 5) as connection,
    ):
        connection.execute(text("DELETE FROM clients"))


def test_a_slow_statement_is_stopped(source: Source) -> None:
    from sqlalchemy import text

    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT sum(x) FROM n"
    with (
        pytest.raises(SourceError, match="interrupted"),
        reading(open_engine(source()), 0.2) as connection,
    ):
        connection.execute(text(endless))


def test_a_password_is_refused_in_the_settings(source: Source) -> None:
    with pytest.raises(ValueError, match="password"):
        source(url="postgresql://kim:secret@db/shop")


def test_states_and_flags_are_summed_up(tmp_path: Path, source: Source) -> None:
    import sqlite3

    with sqlite3.connect(tmp_path / "returns.db") as connection:
        connection.executescript(
            "CREATE TABLE clients (id INTEGER PRIMARY KEY, name VARCHAR(20));"
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, client_id INTEGER REFERENCES clients,"
            " status VARCHAR(10), is_returned BOOLEAN);"
            "INSERT INTO clients VALUES (1, 'Nordwerk');"
            "INSERT INTO orders VALUES (1, 1, 'shipped', 0), (2, 1, 'shipped', 1),"
            " (3, 1, 'open', 1);"
        )
    settings = source(url=f"sqlite:///{tmp_path}/returns.db")
    schema = read_schema(open_engine(settings), Lexicon())
    with reading(open_engine(settings), 5) as connection:
        record = read_batch(connection, build_tree(schema, settings), 1).records[0]
    text = Renderer(settings, Path()).whole(Viewer(schema, "en").view(record))
    assert "orders: 3; status shipped (2), open; is returned 2 / 3" in text
    assert "- orders 2: status: shipped; is returned: yes" in text
