"""Landing: a document's chunks and vectors are replaced in one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pgvector import HalfVector
from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from rag_pipeline.store.named_queries import queries


@dataclass(frozen=True)
class Landing:
    """Everything needed to make a document searchable.

    `chunks` is a chunks frame of n rows; `search_vectors` and `lexeme_counts` have n entries;
    `embeddings` is an n × dimensions array, or None for a document that is searchable by words
    until its vectors are made: it then takes over those that are cached.
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
    embeddings: np.ndarray[Any, np.dtype[np.float32]] | None
    sections: pd.DataFrame | None = None
    """Rows of a chunks frame that are parents of other chunks; not searched themselves."""


def land(connection: Connection[TupleRow], space_id: int, landing: Landing) -> bool:
    """Replace a document's chunks and vectors, in the caller's transaction.

    Readers see either the old or the new content. Other spaces keep the vectors of unchanged texts,
    so they can serve searches until this one is complete. Chunk ids come from the buckets of the
    document's readers. Returns False, and writes nothing, if the document's last file has been
    deleted in the meantime.
    """
    source_hash = landing.source_hash
    chunk_ids = _locked_chunk_ids(connection, landing)
    if chunk_ids is None:
        return False
    has_other_spaces = bool(queries.count_other_spaces(connection, space_id=space_id))
    if has_other_spaces:
        queries.keep_other_vectors(connection, source_hash=source_hash, space_id=space_id)
    queries.delete_chunks(connection, source_hash=source_hash)
    queries.delete_sections(connection, source_hash=source_hash)
    _copy_chunks(connection, [(landing, chunk_ids)])
    _copy_sections(connection, [landing])
    if has_other_spaces:
        queries.restore_other_vectors(connection, source_hash=source_hash)
        queries.drop_kept_vectors(connection)
    is_complete = landing.embeddings is not None
    if is_complete:
        _copy_embeddings(connection, space_id, [(landing, chunk_ids)])
    if has_other_spaces or not is_complete:
        besides = space_id if is_complete else None
        queries.take_cached_vectors(connection, source_hash=source_hash, besides=besides)
        queries.note_filling(connection, source_hash=source_hash)
    queries.delete_superseded(connection, source_hash=source_hash)
    queries.mark_statistics_stale(connection)
    _mark_ready(connection, landing)
    return True


def land_together(
    connection: Connection[TupleRow], space_id: int, landings: Sequence[Landing]
) -> int:
    """Land many small documents with few statements, in the caller's transaction; return how many.

    Equals calling `land` for each, but their chunks are copied and indexed together. Only for
    documents with embeddings that supersede no others.
    """
    if queries.count_other_spaces(connection, space_id=space_id):
        return sum(land(connection, space_id, landing) for landing in landings)
    placed: list[tuple[Landing, list[int]]] = []
    for landing in landings:
        chunk_ids = _locked_chunk_ids(connection, landing)
        if chunk_ids is not None:
            placed.append((landing, chunk_ids))
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


def _locked_chunk_ids(connection: Connection[TupleRow], landing: Landing) -> list[int] | None:
    """Lock the document and reserve ids for its chunks; None if its last file is gone."""
    reader_set_id = queries.lock_document(connection, source_hash=landing.source_hash)
    if reader_set_id is None:
        return None
    rows = queries.allocate_chunk_ids(
        connection, reader_set_id=reader_set_id, count=len(landing.chunks)
    )
    return [chunk_id for (chunk_id,) in rows]


def _copy_embeddings(
    connection: Connection[TupleRow],
    space_id: int,
    placed: Sequence[tuple[Landing, Sequence[int]]],
) -> None:
    with connection.cursor() as cursor, cursor.copy(queries.copy_chunk_embeddings.sql) as copy:
        copy.set_types(["int8", "int4", "halfvec"])
        for landing, chunk_ids in placed:
            assert landing.embeddings is not None  # the callers' business
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
    # Text COPY, since the driver has no binary writer for tsvector.
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
