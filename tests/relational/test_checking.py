"""SQL of others: what is let through, and what is not."""

from __future__ import annotations

import pytest

from rag_pipeline.relational.questions.sql_check import RefusedSqlError, checked_sql
from rag_pipeline.relational.schema.table_schema import Schema


@pytest.mark.parametrize(
    ("statement", "runs"),
    [
        (
            "SELECT count(*) FROM clients",
            'SELECT COUNT(*) AS "_col_0" FROM "clients" AS "clients" LIMIT 5',
        ),
        (
            "with c as (select country, count(*) as n from clients group by country) "
            "select country, n from c order by n desc limit 1;",
            'WITH "c" AS (SELECT "clients"."country" AS "country", COUNT(*) AS "n" '
            'FROM "clients" AS "clients" GROUP BY "clients"."country") '
            'SELECT "c"."country" AS "country", "c"."n" AS "n" FROM "c" AS "c" '
            'ORDER BY "n" DESC LIMIT 1',
        ),
    ],
)
def test_a_query_runs_with_a_limit(schema: Schema, statement: str, runs: str) -> None:
    assert checked_sql(statement, schema, "postgresql", 5) == runs


def test_a_larger_limit_is_lowered(schema: Schema) -> None:
    sql = checked_sql("SELECT name FROM clients LIMIT 900", schema, "sqlite", 5)
    assert sql.endswith("LIMIT 5")
    assert checked_sql("SELECT name FROM clients LIMIT 1 + 99", schema, "sqlite", 5).endswith(
        "LIMIT 5"
    )


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("", "one statement"),
        ("SELECT 1; SELECT 2", "one statement"),
        ("SELECT count(*) FROM clients; DROP TABLE clients", "one statement"),
        ("DELETE FROM clients", "must be a SELECT"),
        ("UPDATE clients SET name = 'x'", "must be a SELECT"),
        ("DROP TABLE clients", "must be a SELECT"),
        ("SET ROLE postgres", "must be a SELECT"),
        ("COPY clients TO 'clients.csv'", "must be a SELECT"),
        ("EXPLAIN ANALYZE DELETE FROM clients", "must be a SELECT"),
        ("WITH gone AS (DELETE FROM clients RETURNING *) SELECT * FROM gone", "Delete"),
        (
            "WITH new AS (INSERT INTO clients (name) VALUES ('x') RETURNING *) SELECT * FROM new",
            "Insert",
        ),
        ("SELECT * INTO copy FROM clients", "Into"),
        ("SELECT * FROM clients FOR UPDATE", "Lock"),
        ("SELECT * FROM pg_shadow", "no table pg_shadow"),
        ("SELECT * FROM information_schema.tables", "no table tables"),
        ("SELECT * FROM other.clients", "no table other.clients"),
        ("SELECT * FROM invoices_of_all", "no table invoices_of_all"),
        ("SELECT salary FROM clients", "salary"),
        ("SELECT clients.salary FROM clients", "salary"),
        ("SELECT pg_read_file('/etc/passwd')", "Anonymous"),
        ("SELECT pg_sleep(100)", "Anonymous"),
        ("SELECT * FROM dblink('x', 'y') AS t(a int)", "Anonymous"),
        ("SELECT * FROM generate_series(1, 1000000000)", "GenerateSeries|tables only"),
        ("SELECT repeat('x', 1000000000)", "Repeat"),
        ("SELECT lo_import('/etc/passwd')", "Anonymous"),
        ("SELECT current_setting('is_superuser')", "Anonymous"),
        ("SELECT name FROM clients WHERE id = $1", "Parameter|Placeholder"),
        (
            "WITH RECURSIVE n AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM n) SELECT * FROM n",
            "recursive",
        ),
        ("SELECT count( FROM clients", "."),
        ("이건 SQL이 아닙니다", "."),
        ("SELECT " + "(" * 3000 + "1" + ")" * 3000, "."),
        ("SELECT '" + "x" * 20_000 + "'", "too long"),
    ],
)
def test_anything_else_is_refused(schema: Schema, statement: str, why: str) -> None:
    with pytest.raises(RefusedSqlError, match=why):
        checked_sql(statement, schema, "postgresql", 5)
