"""The statements that a search runs, recorded as Postgres receives them (`rag search --sql`)."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from psycopg import ClientCursor, Connection, Cursor
from psycopg.abc import Params
from psycopg.rows import TupleRow
from psycopg.sql import SQL, Composed

from rag_pipeline.store.database import Database
from rag_pipeline.store.named_queries import queries


@dataclass(frozen=True)
class Statement:
    """One statement that was run."""

    name: str
    """Its name in `sql/queries/`; empty for one that is not kept there."""
    comment: str
    """What `sql/queries/` says about it, mostly which index serves it."""
    sql: str
    """With its parameters written out, so that psql can run it."""


class RecordedDatabase(Database):
    """A database whose connections record their statements in `statements`; shares its pool."""

    def __init__(self, database: Database) -> None:
        self._recorded = database
        self.principals = database.principals
        self.statements: list[Statement] = []

    @property
    def whole(self) -> Database:
        """The database without any restriction."""
        return self._recorded.whole

    @contextmanager
    def connection(self) -> Iterator[Connection[TupleRow]]:
        """Yield a connection of the recorded database."""
        with self._recorded.connection() as connection:
            usual = connection.cursor_factory
            connection.cursor_factory = _recording_cursor(self.statements)
            try:
                yield connection
            finally:
                connection.cursor_factory = usual


def _recording_cursor(statements: list[Statement]) -> type[Cursor[Any]]:
    """Return a class of cursors that append each statement before it runs.

    Appending to a list is atomic, so cursors of several threads may share one.
    """

    class RecordingCursor(Cursor[Any]):
        def execute(
            self, query: Any, params: Params | None = None, **options: Any
        ) -> RecordingCursor:
            text = query.as_string(self.connection) if isinstance(query, (SQL, Composed)) else query
            name, comment = _known(str(text))
            written = ClientCursor(self.connection).mogrify(query, params)
            statements.append(Statement(name, comment, written.strip()))
            super().execute(query, params, **options)
            return self

    return RecordingCursor


def _known(text: str) -> tuple[str, str]:
    """Return name and comment of a statement of `sql/queries/`, or two empty texts."""
    for name, comment, pattern in _patterns():
        if pattern.fullmatch(text.strip()):
            return name, comment
    return "", ""


def _pattern(sql: str) -> re.Pattern[str]:
    # The number of dimensions is filled in as a literal.
    return re.compile(re.escape(sql.strip()).replace(r"\{dimensions\}", r"\d+"))


@functools.cache
def _patterns() -> list[tuple[str, str, re.Pattern[str]]]:
    return [
        (
            name,
            " ".join((getattr(queries, name).__doc__ or "").split()),
            re.compile(
                re.escape(getattr(queries, name).sql.strip()).replace(r"\{dimensions\}", r"\d+")
            ),
        )
        for name in queries.available_queries
        if not name.endswith("_cursor")
    ]
