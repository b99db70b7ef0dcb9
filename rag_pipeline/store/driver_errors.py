"""Errors of the Postgres driver, turned into ours without passwords."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import PoolTimeout

from rag_pipeline.errors import DatabaseUnavailableError, StoreError


@contextmanager
def driver_errors(url: str) -> Iterator[None]:
    """Raise `DatabaseUnavailableError` or `StoreError` in place of the driver's errors."""
    try:
        yield
    except (psycopg.Error, PoolTimeout) as error:
        if not _is_connection_lost(error):
            raise StoreError(f"Postgres refused a statement: {first_line(error)}") from error
        raise DatabaseUnavailableError(
            f"Postgres at {without_password(url)} failed: {first_line(error)}",
            hint="run `rag doctor`",
        ) from error


def _is_connection_lost(error: Exception) -> bool:
    """Return whether the connection failed, as opposed to a refused statement.

    That is SQLSTATE class 08 (connection), 53 (resources) or 57P (shutdown), or no SQLSTATE if no
    server answered.
    """
    if isinstance(error, PoolTimeout):
        return True
    if not isinstance(error, psycopg.OperationalError):
        return False
    state = error.sqlstate
    return state is None or state.startswith(("08", "53", "57P"))


def first_line(error: Exception) -> str:
    """Return the first line of an error's message, or its type if it has none."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def without_password(url: str) -> str:
    """Return a server's address without its password, for any form of URL.

    >>> without_password("postgresql://kim:secret@db:5432/rag")
    'postgresql://kim@db:5432/rag'
    >>> without_password("host=db password=secret dbname=rag")
    'postgresql://db/rag'
    """
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        return "the given address"
    user = f"{parts['user']}@" if parts.get("user") else ""
    host = str(parts.get("host") or "")
    port = f":{parts['port']}" if parts.get("port") else ""
    name = parts.get("dbname") or ""
    if host.startswith("/"):
        return f"postgresql://{user}/{name}?host={quote(host, safe='/')}"
    return f"postgresql://{user}{host}{port}/{name}"
