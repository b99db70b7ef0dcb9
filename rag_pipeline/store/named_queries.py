"""Every statement of `sql/queries/`, loaded by aiosql: `queries.NAME(connection, **parameters)`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import aiosql
from psycopg import Connection
from psycopg.rows import class_row

from rag_pipeline import sql

QUERIES_DIR = Path(str(sql.__file__)).parent / "queries"
Record = TypeVar("Record")

queries: Any = aiosql.from_path(QUERIES_DIR, "psycopg")
"""aiosql's queries object; its attributes are made from the files, so they have no static types."""


def records(
    connection: Connection[Any], record: type[Record], statement: Any, **parameters: Any
) -> list[Record]:
    """Run a statement of `queries` and return its rows as records.

    The columns of the statement are the fields of the record, by name.
    """
    with connection.cursor(row_factory=class_row(record)) as cursor:
        return cursor.execute(statement.sql, parameters).fetchall()
