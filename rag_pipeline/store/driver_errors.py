"""Errors of the Postgres driver, turned into ours without passwords."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import PoolTimeout

from rag_pipeline.errors import DatabaseLockedError, DatabaseUnavailableError, StoreError

LOCK_SECONDS = 10
"""Time to wait for a lock that another program holds."""
_LOCK_HOLDERS = """
SELECT l.pid, a.application_name, a.usename, string_agg(DISTINCT c.relname, ', ' ORDER BY c.relname)
FROM pg_locks AS l
INNER JOIN pg_stat_activity AS a USING (pid)
INNER JOIN pg_class AS c ON c.oid = l.relation AND c.relkind = 'r'
WHERE l.granted AND l.locktype = 'relation' AND l.pid <> pg_backend_pid()
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
GROUP BY l.pid, a.application_name, a.usename
ORDER BY l.pid
"""


@contextmanager
def driver_errors(url: str) -> Iterator[None]:
    """Raise `DatabaseUnavailableError` or `StoreError` in place of the driver's errors."""
    try:
        yield
    except psycopg.errors.LockNotAvailable as error:
        raise DatabaseLockedError(
            f"a table has been locked for more than {LOCK_SECONDS} seconds by {_lock_holders(url)}",
            hint="end that program, or wait for it; what has landed stays",
        ) from error
    except (psycopg.Error, PoolTimeout) as error:
        if not _is_connection_lost(error):
            raise StoreError(f"Postgres refused a statement: {first_line(error)}") from error
        raise DatabaseUnavailableError(
            f"Postgres at {without_password(url)} failed: {first_line(error)}",
            hint="run `rag doctor`",
        ) from error


def _lock_holders(url: str) -> str:
    """Describe the sessions whose locks keep others waiting, for a message."""
    try:
        with psycopg.connect(url, connect_timeout=5) as connection:
            rows = connection.execute(_LOCK_HOLDERS).fetchall()
    except psycopg.Error:
        rows = []
    found = [
        f"process {pid} ({name or 'no name'}, user {user}) on {tables}"
        for pid, name, user, tables in rows
    ]
    return ", ".join(found) or "a program that has ended meanwhile"


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
