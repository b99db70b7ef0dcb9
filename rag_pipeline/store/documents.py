"""Reads and writes of documents and their chunks: states, landing in one transaction, failures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
from pgvector import HalfVector
from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from rag_pipeline.store.named_queries import queries


@dataclass(frozen=True)
class DocumentState:
    """What the store holds of a document: enough to decide what is to be done."""

    source_hash: str
    status: str = "pending"
    fingerprints: dict[str, str] = field(default_factory=dict)
    failure_stage: str | None = None
    failure_reason: str | None = None
    failure_permanent: bool | None = None
    failure_fingerprint: str | None = None
    failure_count: int = 0
    is_intact: bool = True
    uris: Sequence[str] = ()
    """Every file with this content."""
    roots: Sequence[str] = ()
    """The root of each; the first one's settings are the document's."""
    page_count: int | None = None
    size: int = 0
    """Bytes."""


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
class Landing:
    """Everything that makes a document searchable, ready to be written.

    `chunks` is a chunks frame of n rows; `search_vectors` and `lexeme_counts` have n entries;
    `embeddings` is an n × dimensions array.
    """

    source_hash: str
    title: str | None
    page_count: int
    language: str
    warnings: list[str]
    fingerprints: dict[str, str]
    chunks: pd.DataFrame
    search_vectors: list[str]
    lexeme_counts: list[int]
    embeddings: np.ndarray[Any, np.dtype[np.float32]]
    sections: pd.DataFrame | None = None
    """Rows of a chunks frame that are the parents of others; not searched themselves."""


@dataclass(frozen=True)
class TokenCounts:
    """Tokens of documents' chunks, by source_hash."""

    all: dict[str, int]
    """Of every chunk that is stored now."""
    missing: dict[str, int]
    """Of those without a cached vector in the space asked for."""
    per_page: float | None
    """Of the whole store; None where it is empty."""


def document_states(
    connection: Connection[TupleRow], space_id: int | None, source_hashes: Sequence[str] | None
) -> list[DocumentState]:
    """Return the states of these documents (None = all), counted from the chunks themselves."""
    rows = queries.document_states(
        connection,
        space_id=space_id,
        source_hashes=None if source_hashes is None else list(source_hashes),
    )
    return [DocumentState(*row) for row in rows]


def token_counts(
    connection: Connection[TupleRow], space_id: int | None, source_hashes: Sequence[str]
) -> TokenCounts:
    """Count the tokens of documents, and how many of them a space has no cached vectors for."""
    rows = list(
        queries.token_counts(connection, space_id=space_id, source_hashes=list(source_hashes))
    )
    per_page = queries.tokens_per_page(connection)
    return TokenCounts(
        {source_hash: total for source_hash, total, _ in rows},
        {source_hash: missing for source_hash, _, missing in rows},
        float(per_page) if per_page is not None else None,
    )


def list_documents(connection: Connection[TupleRow]) -> list[DocumentRow]:
    """Return every document, by its first file name."""
    return [DocumentRow(*row) for row in queries.list_documents(connection)]


def land(connection: Connection[TupleRow], space_id: int, landing: Landing) -> bool:
    """Replace a document's chunks and vectors, in the caller's transaction.

    Readers see the old or the new, never half, never none. Other spaces keep the vectors of texts
    that stayed the same, so that they answer until this one is complete. Chunks get ids among those
    of the document's readers. Returns False, and writes nothing, if the document's last file has
    gone meanwhile.
    """
    source_hash = landing.source_hash
    locked = queries.lock_document(connection, source_hash=source_hash)
    if locked is None:
        return False
    _, reader_set_id = locked
    rows = queries.allocate_chunk_ids(
        connection, reader_set_id=reader_set_id, count=len(landing.chunks)
    )
    chunk_ids = [chunk_id for (chunk_id,) in rows]
    has_other_spaces = bool(queries.count_other_spaces(connection, space_id=space_id))
    if has_other_spaces:
        queries.keep_other_vectors(connection, source_hash=source_hash, space_id=space_id)
    queries.delete_chunks(connection, source_hash=source_hash)
    queries.delete_sections(connection, source_hash=source_hash)
    _copy_chunks(connection, [(landing, chunk_ids)])
    _copy_sections(connection, [landing])
    if has_other_spaces:
        queries.restore_other_vectors(connection, source_hash=source_hash, space_id=space_id)
        queries.drop_kept_vectors(connection)
    _copy_embeddings(connection, space_id, [(landing, chunk_ids)])
    queries.delete_superseded(connection, source_hash=source_hash)
    queries.mark_statistics_stale(connection)
    _mark_ready(connection, landing)
    return True


def land_together(
    connection: Connection[TupleRow], space_id: int, landings: Sequence[Landing]
) -> int:
    """Land many small documents, in the caller's transaction, with few statements; return how many.

    As `land` of each, but their chunks are copied, and indexed by words, together. For documents
    that supersede no others.
    """
    if queries.count_other_spaces(connection, space_id=space_id):
        return sum(land(connection, space_id, landing) for landing in landings)
    placed: list[tuple[Landing, list[int]]] = []
    for landing in landings:
        locked = queries.lock_document(connection, source_hash=landing.source_hash)
        if locked is not None:
            rows = queries.allocate_chunk_ids(
                connection, reader_set_id=locked[1], count=len(landing.chunks)
            )
            placed.append((landing, [chunk_id for (chunk_id,) in rows]))
    hashes = [landing.source_hash for landing, _ in placed]
    queries.delete_chunks_of(connection, source_hashes=hashes)
    queries.delete_sections_of(connection, source_hashes=hashes)
    _copy_chunks(connection, placed)
    _copy_sections(connection, [landing for landing, _ in placed])
    _copy_embeddings(connection, space_id, placed)
    queries.mark_statistics_stale(connection)
    for landing, _ in placed:
        _mark_ready(connection, landing)
    return len(placed)


def _copy_embeddings(
    connection: Connection[TupleRow],
    space_id: int,
    placed: Sequence[tuple[Landing, Sequence[int]]],
) -> None:
    with connection.cursor() as cursor, cursor.copy(queries.copy_chunk_embeddings.sql) as copy:
        copy.set_types(["int8", "int4", "halfvec"])
        for landing, chunk_ids in placed:
            for chunk_id, vector in zip(chunk_ids, landing.embeddings, strict=True):
                copy.write_row((chunk_id, space_id, HalfVector(vector)))


def _mark_ready(connection: Connection[TupleRow], landing: Landing) -> None:
    queries.mark_ready(
        connection,
        source_hash=landing.source_hash,
        title=landing.title,
        page_count=landing.page_count,
        language=landing.language,
        fingerprints=Jsonb(landing.fingerprints),
        chunk_count=len(landing.chunks),
        warnings=landing.warnings,
    )


def _copy_chunks(
    connection: Connection[TupleRow], placed: Sequence[tuple[Landing, Sequence[int]]]
) -> None:
    # Text COPY: tsvector has no binary writer in the driver, and its text form is what we have.
    with connection.cursor() as cursor, cursor.copy(queries.copy_chunks.sql) as copy:
        for landing, chunk_ids in placed:
            for row in _chunk_rows(landing, chunk_ids):
                copy.write_row(row)


def _chunk_rows(landing: Landing, chunk_ids: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    frame = landing.chunks
    columns = zip(
        chunk_ids,
        [landing.source_hash] * len(frame),
        frame["chunk_index"].tolist(),
        [None if pd.isna(value) else int(value) for value in frame["parent_index"]],
        frame["kind"].tolist(),
        frame["breadcrumb_trail"].tolist(),
        frame["content"].tolist(),
        frame["token_count"].tolist(),
        frame["page_start"].tolist(),
        frame["page_end"].tolist(),
        frame["regions"].tolist(),
        frame["content_hash"].tolist(),
        frame["metadata"].tolist(),
        [None if pd.isna(value) else value for value in frame["context"]],
        landing.search_vectors,
        landing.lexeme_counts,
        strict=True,
    )
    for row in columns:
        *head, regions, content_hash, metadata, context, search_vector, lexeme_count = row
        yield (
            *head,
            Jsonb(regions),
            content_hash,
            Jsonb(metadata),
            context,
            landing.language,
            search_vector,
            lexeme_count,
        )


def _copy_sections(connection: Connection[TupleRow], landings: Sequence[Landing]) -> None:
    filled = [
        (landing.source_hash, landing.sections)
        for landing in landings
        if landing.sections is not None and not landing.sections.empty
    ]
    if not filled:
        return
    columns = "chunk_index breadcrumb_trail content token_count page_start page_end regions".split()
    with connection.cursor() as cursor, cursor.copy(queries.copy_sections.sql) as copy:
        for source_hash, sections in filled:
            rows = zip(*(sections[name].tolist() for name in columns), strict=True)
            for *head, regions in rows:
                copy.write_row((source_hash, *head, Jsonb(regions)))


def merge_fingerprints(
    connection: Connection[TupleRow], source_hash: str, fingerprints: dict[str, str]
) -> None:
    """Note that some of the stages are done; what is searchable stays as it is."""
    queries.merge_fingerprints(
        connection, source_hash=source_hash, fingerprints=Jsonb(fingerprints)
    )


def mark_failed(
    connection: Connection[TupleRow],
    source_hash: str,
    *,
    stage: str,
    reason: str,
    permanent: bool,
    fingerprint: str,
) -> None:
    """Note why a document failed; what an earlier sync made searchable stays."""
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
    """Let the next sync try failed documents again (None = all); return their hashes."""
    rows = queries.forget_failures(
        connection, source_hashes=None if source_hashes is None else list(source_hashes)
    )
    return [source_hash for (source_hash,) in rows]
