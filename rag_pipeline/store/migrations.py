"""The schema: `sql/migrations/NNN_name.sql`, each applied once, in order, under a lock."""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import dataclass
from importlib import resources

import psycopg
from psycopg import Connection, sql
from psycopg.rows import TupleRow, class_row

from rag_pipeline.errors import MigrationError

_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('rag_pipeline migrations', 0))"
_LEDGER = """
CREATE TABLE IF NOT EXISTS schema_migration (
    version integer PRIMARY KEY,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)"""


@dataclass(frozen=True)
class Migration:
    """One file of `sql/migrations/`."""

    version: int
    name: str
    statements: str

    @property
    def checksum(self) -> str:
        """SHA-256 of the file's text; detects edits to an applied migration."""
        return hashlib.sha256(self.statements.encode()).hexdigest()


@dataclass(frozen=True)
class _Applied:
    """A row of the ledger."""

    version: int
    checksum: str


def list_migrations() -> list[Migration]:
    """Return all migrations in order of version."""
    folder = resources.files("rag_pipeline.sql") / "migrations"
    migrations = [
        Migration(int(file.name.split("_")[0]), file.name, file.read_text(encoding="utf-8"))
        for file in folder.iterdir()
        if file.name.endswith(".sql")
    ]
    return sorted(migrations, key=lambda migration: migration.version)


def apply_migrations(connection: Connection[TupleRow]) -> list[Migration]:
    """Apply missing migrations, each in its own transaction; return those applied.

    Raises `MigrationError` if an applied file was edited or a migration fails.
    """
    migrations = list_migrations()
    applied = _applied(connection)
    _refuse_edited(migrations, applied)
    done = []
    for migration in migrations:
        if migration.version not in applied and _apply(connection, migration):
            done.append(migration)
    if done:
        _give_rights(connection)
    return done


def _give_rights(connection: Connection[TupleRow]) -> None:
    """Create the access-control roles and grant their rights on new tables.

    Roles belong to the server. A user who may not create them gets a store without access control,
    and an error once access control is used (`ensure_roles`).
    """
    with contextlib.suppress(psycopg.errors.InsufficientPrivilege), connection.transaction():
        connection.execute(_LOCK)
        connection.execute("SELECT secure_store()")


def _applied(connection: Connection[TupleRow]) -> dict[int, str]:
    with connection.transaction():
        exists = connection.execute(
            "SELECT 1 WHERE to_regclass('schema_migration') IS NOT NULL"
        ).fetchone()
        if exists is None:
            return {}
        with connection.cursor(row_factory=class_row(_Applied)) as cursor:
            cursor.execute("SELECT version, checksum FROM schema_migration")
            return {row.version: row.checksum for row in cursor}


def _refuse_edited(migrations: list[Migration], applied: dict[int, str]) -> None:
    for migration in migrations:
        if applied.get(migration.version, migration.checksum) != migration.checksum:
            raise MigrationError(
                f"{migration.name} was changed after it had been applied",
                hint="restore the file and put the change into a new migration",
            )


def _apply(connection: Connection[TupleRow], migration: Migration) -> bool:
    try:
        with connection.transaction():
            connection.execute(_LOCK)
            connection.execute(_LEDGER)
            # Another process may have applied it while this one waited for the lock.
            row = connection.execute(
                "SELECT 1 FROM schema_migration WHERE version = %s", (migration.version,)
            ).fetchone()
            if row is not None:
                return False
            connection.execute(migration.statements.encode())
            connection.execute(
                "INSERT INTO schema_migration (version, name, checksum) VALUES (%s, %s, %s)",
                (migration.version, migration.name, migration.checksum),
            )
    except psycopg.Error as error:
        raise MigrationError(
            f"{migration.name} failed: {str(error).splitlines()[0]}",
            hint="nothing of it was kept; run `rag doctor` to see what the server lacks",
        ) from error
    return True


def create_database(maintenance_url: str, name: str) -> bool:
    """Create the database if it is missing; return whether it was.

    The locale is the built-in C.UTF-8, because with LC_CTYPE C pg_trgm silently drops every Korean
    letter. Sorting by code point (LC_COLLATE C) is fastest and the same everywhere.
    """
    with psycopg.connect(maintenance_url, autocommit=True) as connection:
        exists = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,))
        if exists.fetchone() is not None:
            return False
        try:
            connection.execute(
                sql.SQL(
                    "CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER builtin "
                    "BUILTIN_LOCALE 'C.UTF-8' LC_COLLATE 'C' LC_CTYPE 'C.UTF-8'"
                ).format(sql.Identifier(name))
            )
        except (psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
            # Another process created it first.
            return False
    return True
