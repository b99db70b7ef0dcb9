"""Connections to the databases that are read, never written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from rag_pipeline.errors import SettingsError, SourceError
from rag_pipeline.settings import RelationalSettings


def open_engine(settings: RelationalSettings) -> Engine:
    """Return an engine for the source's database; nothing is connected yet.

    Raises `SettingsError` for an address that SQLAlchemy does not take.
    """
    address = settings.address
    try:
        url = make_url(address)
        if url.drivername in ("postgresql", "postgres"):
            url = url.set(drivername="postgresql+psycopg")
        # Nothing is kept open between questions: the database is somebody else's.
        return create_engine(url, poolclass=NullPool)
    except (ArgumentError, NoSuchModuleError, ImportError) as error:
        # Without the library's text where it could quote a password.
        raise SettingsError(
            f"relational source {settings.name}: the address cannot be used "
            f"({type(error).__name__})",
            hint="write a SQLAlchemy URL and install its driver",
        ) from None


@contextmanager
def reading(engine: Engine, timeout_seconds: float) -> Iterator[Connection]:
    """Lend a connection in a transaction that cannot write and in which no statement runs long.

    Postgres and MySQL enforce both themselves; SQLite by `query_only` and by interrupting the
    statement. Nothing is ever committed. Raises `SourceError`, without any password.
    """
    try:
        with engine.connect() as connection:
            _forbid_writing(connection, timeout_seconds)
            try:
                yield connection
            finally:
                connection.rollback()
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or type(error).__name__).strip().splitlines()
        raise SourceError(
            f"the database {engine.url.render_as_string(hide_password=True)} refused: "
            f"{reason[0] if reason else type(error).__name__}",
            hint="check the address and the rights of its user",
        ) from error


def _forbid_writing(connection: Connection, timeout_seconds: float) -> None:
    milliseconds = int(timeout_seconds * 1000)
    dialect = connection.dialect.name
    if dialect == "postgresql":
        connection.execute(text("SET TRANSACTION READ ONLY"))
        connection.execute(
            text("SELECT set_config('statement_timeout', :value, true)"),
            {"value": str(milliseconds)},
        )
    elif dialect in ("mysql", "mariadb"):
        connection.rollback()
        connection.execute(text("SET TRANSACTION READ ONLY"))
        if getattr(connection.dialect, "is_mariadb", False):
            connection.execute(
                text("SET SESSION max_statement_time = :value"), {"value": timeout_seconds}
            )
        else:
            connection.execute(
                text("SET SESSION MAX_EXECUTION_TIME = :value"), {"value": milliseconds}
            )
    elif dialect == "sqlite":
        _guard_sqlite(connection, timeout_seconds)


def _guard_sqlite(connection: Connection, timeout_seconds: float) -> None:
    import time

    driver = connection.connection.driver_connection
    assert driver is not None
    driver.execute("PRAGMA query_only = ON")
    deadline = [time.monotonic() + timeout_seconds]
    driver.set_progress_handler(lambda: time.monotonic() > deadline[0], 10_000)

    @event.listens_for(connection, "before_cursor_execute")
    def _restart_clock(*_: object) -> None:
        deadline[0] = time.monotonic() + timeout_seconds
