"""Connections to Postgres: one pool, transactions, and driver errors turned into ours.

`Database` sees and writes everything, `Readers` what its principals may read: whatever is handed
the latter cannot read more, since its connections are bound by row-level security.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

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
from rag_pipeline.store.migrations import apply_migrations, create_database
from rag_pipeline.store.named_queries import queries
from rag_pipeline.text import storable

POOL_SIZE = 5
POOL_TIMEOUT = 30.0
"""Seconds that a caller waits for a free connection before an error."""


class Database:
    """A pool of connections to one migrated database.

    `Database.open(settings)` starts the embedded server or uses `RAG_DATABASE_URL`, creates the
    database where it is missing, and applies the migrations.
    """

    principals: tuple[str, ...] | None = None
    """Whose rows the connections show; None: everybody's."""

    def __init__(self, url: str, security: SecuritySettings | None = None) -> None:
        self._url = url
        self._security = security or SecuritySettings()
        self._pool: ConnectionPool[Connection[TupleRow]] = ConnectionPool(
            url,
            min_size=0,
            max_size=POOL_SIZE,
            timeout=POOL_TIMEOUT,
            open=False,
            configure=_configure,
            kwargs={"application_name": "rag_pipeline"},
        )
        self._lock: Connection[TupleRow] | None = None

    @classmethod
    def open(cls, settings: Settings) -> Database:
        """Open the configured database, migrated.

        Raises `DatabaseUnavailableError` (with the server's address, never its password) and
        `MigrationError`.
        """
        url = database_url(settings)
        with _driver_errors(url):
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
        """Lend a connection; commits at the end of the block, rolls back on an error."""
        with _driver_errors(self._url), self._pool.connection() as connection:
            yield connection

    @property
    def whole(self) -> Database:
        """The database without any restriction, for what is written about a reader's query."""
        return self

    def for_readers(self, principals: Sequence[str] | None = None) -> Database:
        """Return what these principals may read; share it and its models freely.

        None: everything where `security.enabled` is off, else what `security.principals` may read.
        An empty list may read nothing. Of a restricted database, None is itself; anything else
        raises `StoreError`, because it could be more.
        """
        if isinstance(principals, str):
            raise SettingsError("principals are a list", hint='write ["user:kim"]')
        named = self._security.named(principals)
        return self if named is None else Readers(self, named)

    @contextmanager
    def sync_lock(
        self, wait_seconds: float = 0.0, on_wait: Callable[[], None] = lambda: None
    ) -> Iterator[None]:
        """Hold the one lock that every sync takes; released by Postgres if this process dies.

        Waits up to `wait_seconds`, after calling `on_wait` once, then raises `SyncLockedError`.
        """
        told = False
        deadline = time.monotonic() + wait_seconds
        with _driver_errors(self._url), connect(self._url) as connection:
            connection.autocommit = True
            while not queries.lock_sync(connection):
                if time.monotonic() >= deadline:
                    raise SyncLockedError(
                        "another sync is running",
                        hint="wait for it to end",
                    )
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
        """Raise `DatabaseUnavailableError` if `sync_lock` is held here and its connection is gone.

        Postgres has released the lock then, and another sync may run.
        """
        if self._lock is None:
            return
        try:
            self._lock.execute("SELECT 1")
        except psycopg.Error as error:
            raise DatabaseUnavailableError(
                f"the connection that held the sync's lock was lost: {_first_line(error)}",
                hint="what has landed stays; `rag sync` does the rest",
            ) from error


class Readers(Database):
    """A database as some principals see it: every connection reads, by row-level security.

    It shares the connections of the whole one, which closes them.
    """

    def __init__(self, whole: Database, principals: Sequence[str]) -> None:
        self._whole = whole
        self.principals = tuple(principals)

    @property
    def whole(self) -> Database:
        """The database without any restriction."""
        return self._whole

    def for_readers(self, principals: Sequence[str] | None = None) -> Database:
        """Return itself. Raises `StoreError` for principals other than its own."""
        if principals is None or tuple(principals) == self.principals:
            return self
        raise StoreError("this database is open to other principals already")

    def close(self) -> None:
        """Nothing: the connections are the whole database's."""

    @contextmanager
    def connection(self) -> Iterator[Connection[TupleRow]]:
        """Lend a connection in a read-only transaction that shows the principals' rows.

        The transaction cannot be ended within the block, and its end ends the role: no statement
        runs with more rights by accident. Raises `StoreError` where the roles are missing.
        """
        with self._whole.connection() as connection, connection.transaction():
            _take_role(connection, self.principals or ())
            yield connection

    @contextmanager
    def sync_lock(self, *_: object, **__: object) -> Iterator[None]:
        """Raise `StoreError`: readers do not write."""
        raise StoreError("a database that is open to readers is not written")
        yield

    def check_sync_lock(self) -> None:
        """Nothing: it is never held here."""


def _take_role(connection: Connection[TupleRow], principals: Sequence[str]) -> None:
    """Bind the transaction to the role `rag_reader`, in one round trip.

    Names that Postgres cannot hold are no document's reader, and stand for nobody.
    """
    names = [name for name in principals if storable(name) == name]
    try:
        connection.execute(
            "SELECT set_config('transaction_read_only', 'on', true), "
            "set_config('rag.principals', %s, true), set_config('role', 'rag_reader', true)",
            (json.dumps(names, ensure_ascii=False),),
        )
    except (psycopg.errors.InvalidParameterValue, psycopg.errors.InsufficientPrivilege) as error:
        raise StoreError(
            f"access control cannot be enforced: {_first_line(error)}", hint=_ROLES_HINT
        ) from error


_ROLES_HINT = (
    "as a superuser run CREATE ROLE rag_reader NOLOGIN; CREATE ROLE rag_writer NOLOGIN; "
    "GRANT rag_reader, rag_writer TO the user of RAG_DATABASE_URL; then `rag migrate`"
)


def ensure_roles(connection: Connection[TupleRow]) -> bool:
    """Make the roles `rag_reader` and `rag_writer` with their rights; return whether they were due.

    They belong to the server: a dump does not bring them along. Raises `StoreError` where the user
    may not.
    """
    with connection.transaction():
        if queries.has_roles(connection):
            return False
        try:
            with connection.transaction():
                queries.secure_store(connection)
        except psycopg.errors.InsufficientPrivilege as error:
            raise StoreError(
                f"the roles of access control are missing: {_first_line(error)}", hint=_ROLES_HINT
            ) from error
    return True


def database_url(settings: Settings) -> str:
    """Return the URL of the database, started and created where it is the embedded one."""
    if settings.database_url is not None:
        url = settings.database_url.get_secret_value()
        try:
            conninfo_to_dict(url)
        except psycopg.ProgrammingError:
            # Without the driver's text, which would quote the password.
            raise SettingsError(
                "RAG_DATABASE_URL is no valid address", hint="write postgresql://USER@HOST/NAME"
            ) from None
        return url
    maintenance = embedded.start(settings.data_path)
    with _driver_errors(maintenance):
        create_database(maintenance, embedded.DATABASE)
    return _with_database(maintenance, embedded.DATABASE)


def connect(url: str) -> Connection[TupleRow]:
    """Open one connection outside the pool, for locks and migrations."""
    return psycopg.connect(url, application_name="rag_pipeline")


def without_password(url: str) -> str:
    """Return the address of a server as it may be shown, whatever form the URL has.

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


def _with_database(url: str, database: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{database}"))


def _configure(connection: Connection[Any]) -> None:
    register_vector(connection)
    connection.commit()


@contextmanager
def _driver_errors(url: str) -> Iterator[None]:
    """Turn the driver's errors into ours, and keep passwords out of them."""
    try:
        yield
    except (psycopg.Error, PoolTimeout) as error:
        if not _is_connection_lost(error):
            raise StoreError(f"Postgres refused a statement: {_first_line(error)}") from error
        raise DatabaseUnavailableError(
            f"Postgres at {without_password(url)} failed: {_first_line(error)}",
            hint="run `rag doctor`",
        ) from error


def _is_connection_lost(error: Exception) -> bool:
    """Tell a server that is away or ends the connection from one that refuses a statement.

    SQLSTATE classes 08 (connection), 53 (resources) and 57P (shutdown); none at all where no
    server answered.
    """
    if isinstance(error, PoolTimeout):
        return True
    if not isinstance(error, psycopg.OperationalError):
        return False
    state = error.sqlstate
    return state is None or state.startswith(("08", "53", "57P"))


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
