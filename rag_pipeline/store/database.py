"""Connections to Postgres: one pool, transactions, and the sync lock.

`Database` reads and writes everything. `ReaderDatabase` reads only what its principals may read;
row-level security enforces this on its connections.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
from pgvector.psycopg import register_vector
from psycopg import Connection
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool, PoolTimeout

from rag_pipeline.errors import (
    DatabaseUnavailableError,
    SettingsError,
    StoreError,
    SyncLockedError,
)
from rag_pipeline.settings import SecuritySettings, Settings
from rag_pipeline.store import embedded
from rag_pipeline.store.access_roles import ensure_roles, take_role
from rag_pipeline.store.driver_errors import LOCK_SECONDS, driver_errors, first_line
from rag_pipeline.store.migrations import apply_migrations, create_database
from rag_pipeline.store.named_queries import queries

POOL_SIZE = 5
SYNC_WAIT_SECONDS = 6 * 3600.0
"""How long a sync waits for another one to end."""
POOL_TIMEOUT = 30.0
"""Seconds to wait for a free connection before an error."""
REACH_SECONDS = 1.0
"""Seconds to wait for a connection before checking whether the server can be reached at all."""


class Database:
    """A pool of connections to one migrated database.

    `Database.open(settings)` starts the embedded server or uses `RAG_DATABASE_URL`, creates the
    database if it is missing, and applies the migrations.
    """

    principals: tuple[str, ...] | None = None
    """Whose rows the connections show; None means all rows."""

    def __init__(self, url: str, security: SecuritySettings | None = None) -> None:
        self._url = url
        self._security = security or SecuritySettings()
        self._pool: ConnectionPool[Connection[TupleRow]] = ConnectionPool(
            url,
            min_size=0,
            max_size=POOL_SIZE,
            timeout=POOL_TIMEOUT,
            open=False,
            # A longer pause between attempts would outlast the server's restart.
            reconnect_timeout=REACH_SECONDS,
            configure=_configure,
            kwargs={"application_name": "rag_pipeline"},
        )
        self._lock: Connection[TupleRow] | None = None

    @classmethod
    def open(cls, settings: Settings) -> Database:
        """Open and migrate the configured database.

        Raises `DatabaseUnavailableError` (with the server's address, never its password) and
        `MigrationError`.
        """
        url = database_url(settings)
        with driver_errors(url):
            with connect(url) as connection:
                apply_migrations(connection)
                if settings.security.enabled:
                    ensure_roles(connection)
            database = cls(url, settings.security)
            database._pool.open()
        return database

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()

    @contextmanager
    def connection(self) -> Iterator[Connection[TupleRow]]:
        """Yield a connection; commit at the end of the block, roll back on an error.

        Raises `DatabaseUnavailableError` within about a second if the server cannot be reached.
        """
        with driver_errors(self._url):
            connection = self._working_connection()
            try:
                with connection:
                    yield connection
            finally:
                self._pool.putconn(connection)

    def _working_connection(self) -> Connection[TupleRow]:
        """Return a connection of the pool that works, also right after the server was restarted.

        The pool's own check sleeps between the connections that a restart has broken.
        """
        deadline = time.monotonic() + POOL_TIMEOUT
        while True:
            try:
                connection = self._pool.getconn(timeout=REACH_SECONDS)
            except PoolTimeout:
                if time.monotonic() >= deadline:
                    raise
            else:
                try:
                    self._pool.check_connection(connection)
                    return connection
                except psycopg.Error:
                    self._pool.putconn(connection)
            # Either all connections are in use, or the server is gone, and this raises.
            connect(self._url, connect_timeout=int(2 * REACH_SECONDS)).close()
            self._pool.check()

    @property
    def whole(self) -> Database:
        """The unrestricted database, for example to record the usage of a reader's query."""
        return self

    def for_readers(self, principals: Sequence[str] | None = None) -> Database:
        """Return the database restricted to what these principals may read.

        None means everything if `security.enabled` is off, otherwise what `security.principals` may
        read; an empty list means nothing. On a restricted database None returns itself, and other
        principals raise `StoreError`, since they might read more. Raises `SettingsError` for a
        plain string.
        """
        if isinstance(principals, str):
            raise SettingsError("principals are a list", hint='write ["user:kim"]')
        named = self._security.named(principals)
        return self if named is None else ReaderDatabase(self, named)

    @contextmanager
    def sync_lock(
        self, wait_seconds: float = 0.0, on_wait: Callable[[], None] = lambda: None
    ) -> Iterator[None]:
        """Hold the lock that every sync takes; Postgres releases it if this process dies.

        Calls `on_wait` once if it has to wait; raises `SyncLockedError` after `wait_seconds`.
        """
        told = False
        deadline = time.monotonic() + wait_seconds
        with driver_errors(self._url), connect(self._url) as connection:
            connection.autocommit = True
            while not queries.lock_sync(connection):
                if time.monotonic() >= deadline:
                    raise SyncLockedError("another sync is running", hint="wait for it to end")
                if not told:
                    on_wait()
                    told = True
                time.sleep(0.5)
            self._lock = connection
            try:
                yield
            finally:
                self._lock = None

    def check_sync_lock(self) -> None:
        """Raise `DatabaseUnavailableError` if the connection that holds `sync_lock` is lost.

        Postgres has then released the lock, and another sync may be running.
        """
        if self._lock is None:
            return
        try:
            self._lock.execute("SELECT 1")
        except psycopg.Error as error:
            raise DatabaseUnavailableError(
                f"the connection that held the sync's lock was lost: {first_line(error)}",
                hint="what has landed stays; `rag sync` does the rest",
            ) from error


class ReaderDatabase(Database):
    """A read-only view of a database that shows only the rows its principals may read.

    It uses the connections of the whole database, which also closes them.
    """

    def __init__(self, whole: Database, principals: Sequence[str]) -> None:
        self._whole = whole
        self.principals = tuple(principals)

    @property
    def whole(self) -> Database:
        """The unrestricted database."""
        return self._whole

    def for_readers(self, principals: Sequence[str] | None = None) -> Database:
        """Return itself; raise `StoreError` for principals other than its own."""
        if principals is None or tuple(principals) == self.principals:
            return self
        raise StoreError("this database is open to other principals already")

    def close(self) -> None:
        """Do nothing: the connections belong to the whole database."""

    @contextmanager
    def connection(self) -> Iterator[Connection[TupleRow]]:
        """Yield a connection in a read-only transaction that shows the principals' rows.

        The block cannot end the transaction, and the role ends with it, so no statement runs with
        more rights by accident. Raises `StoreError` if the roles are missing.
        """
        with self._whole.connection() as connection, connection.transaction():
            take_role(connection, self.principals or ())
            yield connection

    @contextmanager
    def sync_lock(self, *_: object, **__: object) -> Iterator[None]:
        """Raise `StoreError`, since readers may not write."""
        raise StoreError("a database that is open to readers is not written")
        yield

    def check_sync_lock(self) -> None:
        """Do nothing: readers never hold the lock."""


def database_url(settings: Settings) -> str:
    """Return the database's URL; start and create the embedded one if it is used."""
    if settings.database_url is not None:
        url = settings.database_url.get_secret_value()
        try:
            conninfo_to_dict(url)
        except psycopg.ProgrammingError:
            # The driver's message would quote the password.
            raise SettingsError(
                "RAG_DATABASE_URL is no valid address", hint="write postgresql://USER@HOST/NAME"
            ) from None
        return url
    maintenance = embedded.start(settings.data_path)
    with driver_errors(maintenance):
        create_database(maintenance, embedded.DATABASE)
    return _with_database(maintenance, embedded.DATABASE)


def connect(url: str, *, connect_timeout: int | None = None) -> Connection[TupleRow]:
    """Open a connection outside the pool, for locks and migrations.

    `connect_timeout` is in seconds, 2 at least; None leaves it to the URL.
    """
    return psycopg.connect(url, application_name="rag_pipeline", connect_timeout=connect_timeout)


def _with_database(url: str, database: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{database}"))


def _configure(connection: Connection[Any]) -> None:
    register_vector(connection)
    connection.execute(f"SET lock_timeout = '{LOCK_SECONDS}s'")
    connection.commit()
