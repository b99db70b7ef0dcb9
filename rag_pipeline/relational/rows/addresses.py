"""Names of a source and of its rows in the store."""

from __future__ import annotations

import hashlib
from urllib.parse import quote

from rag_pipeline.relational.rows.row_reading import Record
from rag_pipeline.relational.rows.row_views import key_text
from rag_pipeline.settings import RelationalSettings

ROOT_PREFIX = "relational:"
SHORT_HASH = 16
"""Digits of a row's hash that name it as an original."""


def root_of(settings: RelationalSettings) -> str:
    """Return the name that a relational source has in the table `source`."""
    return f"{ROOT_PREFIX}{settings.name}"


def uri_of(settings: RelationalSettings, record: Record) -> str:
    """Return the address of a root row: `relational:SOURCE/TABLE/KEY`."""
    return f"{root_of(settings)}/{record.table}/{quote(key_text(record.key), safe='|')}"


def hash_of(uri: str) -> str:
    """Return the document's key of a row: rows are named, not addressed by their content."""
    return hashlib.sha256(uri.encode()).hexdigest()
