"""States and failures of documents. `landing` writes their chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from rag_pipeline.store.named_queries import queries, records


@dataclass(frozen=True)
class DocumentState:
    """What the store holds for a document: the input of a sync plan."""

    source_hash: str
    status: str = "pending"
    fingerprints: dict[str, str] = field(default_factory=dict)
    failure_stage: str | None = None
    failure_reason: str | None = None
    failure_permanent: bool | None = None
    failure_fingerprint: str | None = None
    failure_count: int = 0
    has_chunks: bool = True
    """Whether all its chunks are there, with or without vectors."""
    has_vectors: bool = True
    """Whether every chunk that is there has a vector in the space asked for."""
    chunk_count: int = 0
    uris: Sequence[str] = ()
    """All files with this content."""
    roots: Sequence[str] = ()
    """The root of each file; the settings of the first apply to the document."""
    page_count: int | None = None
    size: int = 0
    """Bytes."""

    @property
    def is_intact(self) -> bool:
        """Whether no chunk and no vector is missing."""
        return self.has_chunks and self.has_vectors


@dataclass(frozen=True)
class DocumentRow:
    """A document as `rag status` shows it."""

    source_hash: str
    uris: list[str]
    title: str | None
    page_count: int | None
    language: str | None
    status: str
    chunk_count: int
    warnings: list[str]
    failure_stage: str | None
    failure_reason: str | None
    failure_permanent: bool | None
    failure_count: int
    updated_at: datetime


@dataclass(frozen=True)
class TokenCounts:
    """Token counts of documents' chunks, by source_hash."""

    all: dict[str, int]
    """Tokens of all stored chunks."""
    missing: dict[str, int]
    """Tokens of chunks without a cached vector in the given space."""
    per_page: float | None
    """Average over the whole store; None if it is empty."""


@dataclass(frozen=True)
class _DocumentTokens:
    source_hash: str
    total: int
    missing: int


def document_states(
    connection: Connection[TupleRow], space_id: int | None, source_hashes: Sequence[str] | None
) -> list[DocumentState]:
    """Return the states of these documents (None = all), counted from the chunks themselves."""
    return records(
        connection,
        DocumentState,
        queries.document_states,
        space_id=space_id,
        source_hashes=None if source_hashes is None else list(source_hashes),
    )


def token_counts(
    connection: Connection[TupleRow], space_id: int | None, source_hashes: Sequence[str]
) -> TokenCounts:
    """Count the tokens of documents, and those without cached vectors in a space."""
    rows = records(
        connection,
        _DocumentTokens,
        queries.token_counts,
        space_id=space_id,
        source_hashes=list(source_hashes),
    )
    per_page = queries.tokens_per_page(connection)
    return TokenCounts(
        {row.source_hash: row.total for row in rows},
        {row.source_hash: row.missing for row in rows},
        float(per_page) if per_page is not None else None,
    )


def list_documents(connection: Connection[TupleRow]) -> list[DocumentRow]:
    """Return every document, ordered by its first file name."""
    return records(connection, DocumentRow, queries.list_documents)


def merge_fingerprints(
    connection: Connection[TupleRow], source_hash: str, fingerprints: dict[str, str]
) -> None:
    """Record that some stages are done; searchable content is unchanged."""
    queries.merge_fingerprints(
        connection, source_hash=source_hash, fingerprints=Jsonb(fingerprints)
    )


def mark_embedded(connection: Connection[TupleRow], source_hashes: Sequence[str]) -> None:
    """Record that documents which had landed by words have their vectors; forget failures."""
    queries.mark_embedded(connection, source_hashes=list(source_hashes))


def mark_failed(
    connection: Connection[TupleRow],
    source_hash: str,
    *,
    stage: str,
    reason: str,
    permanent: bool,
    fingerprint: str,
) -> None:
    """Record why a document failed; earlier content stays searchable."""
    queries.mark_failed(
        connection,
        source_hash=source_hash,
        stage=stage,
        reason=reason,
        permanent=permanent,
        fingerprint=fingerprint,
    )


def forget_failures(
    connection: Connection[TupleRow], source_hashes: Sequence[str] | None
) -> list[str]:
    """Make the next sync retry failed documents (None = all); return their hashes."""
    rows = queries.forget_failures(
        connection, source_hashes=None if source_hashes is None else list(source_hashes)
    )
    return [source_hash for (source_hash,) in rows]
