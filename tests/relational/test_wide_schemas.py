"""Databases with many tables and columns: what is looked up in all of them at once."""

from __future__ import annotations

from pathlib import Path

from benchmarks.relational_tables import hundred_tables
from tests.relational.test_other_schemas import answerer_of


def test_more_text_columns_than_one_statement_holds(tmp_path: Path) -> None:
    columns = ", ".join(f"colour{i} VARCHAR(20)" for i in range(600))
    values = ", ".join(f"'shade {i}'" for i in range(600))
    statements = (
        f"CREATE TABLE pieces (piece_id INTEGER PRIMARY KEY, {columns});"
        f"INSERT INTO pieces VALUES (1, {values});"
    )
    answerer = answerer_of(tmp_path, statements)
    assert answerer.answer("How many pieces are shade 599?").text == "1"
    assert "“shade”" in answerer.answer("How many pieces are shade 700?").text


def test_a_hundred_tables_are_asked_in_time(tmp_path: Path) -> None:
    figures = hundred_tables(tmp_path, 2)
    assert figures["hundred_tables.tables"] == 100
    # A tenth of it on an idle machine: far above what a slow one takes, far below a rebuild.
    assert figures["hundred_tables.p95_cpu_ms"] < 300
