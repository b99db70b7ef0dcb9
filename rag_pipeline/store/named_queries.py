"""Every statement in `sql/queries/`, loaded by aiosql: `queries.NAME(connection, **parameters)`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import aiosql
from psycopg import Connection
from psycopg.rows import class_row

from rag_pipeline import sql

QUERIES_DIR = Path(str(sql.__file__)).parent / "queries"
Record = TypeVar("Record")

queries: Any = aiosql.from_path(QUERIES_DIR, "psycopg", encoding="utf-8")
"""aiosql builds its attributes from the files, so they have no static types."""


def records(
    connection: Connection[Any],
    record: type[Record],
    statement: Any,
    *,
    prepare: bool | None = None,
    **parameters: Any,
) -> list[Record]:
    """Run a statement of `queries` and return its rows as records.

    The columns of the statement are the fields of the record, by name. `prepare=False` has
    Postgres plan for these very parameters.
    """
    with connection.cursor(row_factory=class_row(record)) as cursor:
        return cursor.execute(statement.sql, parameters, prepare=prepare).fetchall()


def first_record(
    connection: Connection[Any], record: type[Record], statement: Any, **parameters: Any
) -> Record | None:
    """Run a statement of `queries`; return its first row as a record, None if there is no row."""
    return next(iter(records(connection, record, statement, **parameters)), None)
