"""The roles of row-level security: created once, taken by every reader's transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence

import psycopg
from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.errors import StoreError
from rag_pipeline.store.driver_errors import first_line
from rag_pipeline.store.named_queries import queries
from rag_pipeline.text import storable

_ROLES_HINT = (
    "as a superuser run CREATE ROLE rag_reader NOLOGIN; CREATE ROLE rag_writer NOLOGIN; "
    "GRANT rag_reader, rag_writer TO the user of RAG_DATABASE_URL; then `rag migrate`"
)


def take_role(connection: Connection[TupleRow], principals: Sequence[str]) -> None:
    """Bind the transaction to the read-only role `rag_reader`, in one round trip.

    Names that Postgres cannot store match no reader and are left out. Raises `StoreError` if the
    roles are missing.
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
            f"access control cannot be enforced: {first_line(error)}", hint=_ROLES_HINT
        ) from error


def ensure_roles(connection: Connection[TupleRow]) -> bool:
    """Create the roles `rag_reader` and `rag_writer` if needed; return whether they were created.

    They belong to the server, so a dump does not contain them. Raises `StoreError` if the user may
    not create them.
    """
    with connection.transaction():
        if queries.has_roles(connection):
            return False
        try:
            with connection.transaction():
                queries.secure_store(connection)
        except psycopg.errors.InsufficientPrivilege as error:
            raise StoreError(
                f"the roles of access control are missing: {first_line(error)}", hint=_ROLES_HINT
            ) from error
    return True
