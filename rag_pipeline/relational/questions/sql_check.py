"""SQL that somebody else wrote, checked before it runs: one query over known tables and columns.

Parsed by sqlglot in the database's dialect. What runs is what was checked: the parsed tree, written
out again, with a limit of rows. Functions are allowed by kind: those that sqlglot knows as
computations over values; whatever it does not know (`pg_read_file`, `dblink`, `pg_sleep`) is
refused, and so is everything that writes, locks, or reads other than the schema's tables.
"""

from __future__ import annotations

import sqlglot
from sqlalchemy import String, types
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.schema import MappingSchema

from rag_pipeline.errors import RagError
from rag_pipeline.relational.schema.table_schema import Schema, TableInfo

DIALECTS = {"postgresql": "postgres", "mysql": "mysql", "mariadb": "mysql", "sqlite": "sqlite"}
"""Names of SQLAlchemy to those of sqlglot."""
FORBIDDEN = (
    exp.DML,
    exp.DDL,
    exp.Command,
    exp.Into,
    exp.Lock,
    exp.Set,
    exp.Parameter,
    exp.SessionParameter,
    exp.Placeholder,
    exp.Anonymous,
    exp.GenerateSeries,
    exp.ReadCSV,
    exp.Repeat,
    exp.Pad,
)
"""Parts that no question for a number needs: writing, locking, settings, unknown functions, and
what makes much out of little."""
QUERIES = (exp.Select, exp.SetOperation)
MAX_CHARACTERS = 10_000


class RefusedSqlError(RagError):
    """A statement that is not run; the message says why."""


def checked_sql(text: str, schema: Schema, dialect: str, limit: int) -> str:
    """Return the statement as it may run, with at most `limit` rows.

    Raises `RefusedSqlError`.
    """
    if len(text) > MAX_CHARACTERS:
        raise RefusedSqlError("the statement is too long")
    name = DIALECTS.get(dialect, dialect)
    try:
        trees = [tree for tree in sqlglot.parse(text, read=name) if tree is not None]
        if len(trees) != 1:
            raise RefusedSqlError("it must be exactly one statement")
        tree = trees[0]
        _require_query(tree)
        _require_known_tables(tree, schema)
        # Postgres tells upper from lower case where names are quoted; the others do not.
        columns = MappingSchema(
            {one.name: _columns(one) for one in schema.tables.values()},
            dialect=name,
            normalize=name != "postgres",
        )
        found = qualify(tree, schema=columns, dialect=name)
        return _limited(found, limit).sql(dialect=name)
    except (SqlglotError, RecursionError) as error:
        reason = str(error).strip().splitlines()
        raise RefusedSqlError(reason[0] if reason else "it cannot be read") from error


def _require_query(tree: exp.Expr) -> None:
    if not isinstance(tree, QUERIES):
        raise RefusedSqlError("it must be a SELECT")
    for node in tree.walk():
        if isinstance(node, FORBIDDEN):
            raise RefusedSqlError(f"it must not have {type(node).__name__}: {node.sql()[:60]}")
        if isinstance(node, exp.With) and node.args.get("recursive"):
            raise RefusedSqlError("it must not be recursive")


def _require_known_tables(tree: exp.Expr, schema: Schema) -> None:
    known = {name.lower() for name in schema.tables}
    own = {one.alias.lower() for one in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier) or table.args.get("catalog"):
            raise RefusedSqlError(f"it must read tables only: {table.sql()[:60]}")
        if table.name.lower() not in known | own:
            raise RefusedSqlError(f"there is no table {table.name}")
        if table.db and table.db not in {info.table.schema for info in schema.tables.values()}:
            raise RefusedSqlError(f"there is no table {table.db}.{table.name}")


def _limited(tree: exp.Expr, limit: int) -> exp.Query:
    assert isinstance(tree, exp.Query)
    own = tree.args.get("limit")
    if own is None:
        return tree.limit(limit)
    count = own.expression if isinstance(own, exp.Limit) else None
    if isinstance(count, exp.Literal) and count.is_int and int(count.name) <= limit:
        return tree
    return exp.select("*").from_(tree.subquery("answer")).limit(limit)


def _columns(table: TableInfo) -> dict[str, str]:
    return {column.name: _kind(column.type) for column in table.table.columns}


def _kind(kind: object) -> str:
    """Return a type's family: all that the check needs."""
    families = (
        (types.Boolean, "boolean"),
        (types.Integer, "bigint"),
        (types.Float, "double"),
        (types.Numeric, "decimal"),
        (types.DateTime, "timestamp"),
        (types.Date, "date"),
        (String, "text"),
    )
    return next((name for family, name in families if isinstance(kind, family)), "text")
