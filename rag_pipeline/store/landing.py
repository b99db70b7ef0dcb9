"""Landing: documents' chunks and vectors are replaced in one transaction, what stayed is kept."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
from pgvector import HalfVector
from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from rag_pipeline.store.embeddings import add_vectors
from rag_pipeline.store.named_queries import queries, records


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
    is_contextual: bool = False
    """Whether a chunk's vector depends on the document's other chunks."""


@dataclass(frozen=True)
class Compared:
    """How a landed document's chunks compare with those that it replaced."""

    source_hash: str
    kept: int = 0
    """They stayed, with their vectors."""
    made: int = 0
    """They are new, as texts to embed."""
    moved: int = 0
    """Of these, such as have the content of an earlier one under another trail."""


def land(connection: Connection[TupleRow], space_id: int, landing: Landing) -> bool:
    """Land one document (`land_all`); return whether it was written."""
    return bool(land_all(connection, space_id, [landing]))


def land_all(
    connection: Connection[TupleRow], space_id: int, landings: Sequence[Landing]
) -> dict[str, Compared]:
    """Replace documents' chunks and vectors, in the caller's transaction.

    Returns what was written, by source_hash.

    Readers see either the old or the new content. Chunks whose text and words stay the same keep
    their row, id, postings and vectors, also where the file's new content is a new document: only
    their place is written. Other spaces keep the vectors of unchanged texts, so they can serve
    searches until this one is complete. Chunk ids come from the buckets of the document's readers.
    A document whose last file has been deleted in the meantime is left out.
    """
    locked = _lock(connection, landings)
    placed = [landing for landing in landings if landing.source_hash in locked]
    if not placed:
        return {}
    hashes = [landing.source_hash for landing in placed]
    stored = [landing for landing in placed if locked[landing.source_hash].is_stored]
    _load_chunks(connection, stored)
    compared = {one.source_hash: Compared(one.source_hash, made=len(one.chunks)) for one in placed}
    if stored:
        # No row for a document that has no chunks any more.
        found = records(connection, Compared, queries.compared_chunks)
        compared |= {one.source_hash: one for one in found}
    ids = _chunk_ids(connection, compared, locked)
    has_other_spaces = bool(queries.count_other_spaces(connection, space_id=space_id))
    if has_other_spaces:
        queries.keep_other_vectors(connection, source_hashes=hashes, space_id=space_id)
    if stored:
        _replace_chunks(connection, space_id, stored)
    fresh = [landing for landing in placed if not locked[landing.source_hash].is_stored]
    _copy_chunks(connection, queries.copy_chunks, [(one, ids[one.source_hash]) for one in fresh])
    queries.delete_sections_of(connection, source_hashes=hashes)
    _copy_sections(connection, placed)
    if has_other_spaces:
        queries.restore_other_vectors(connection)
        queries.drop_kept_vectors(connection)
    _write_vectors(
        connection,
        space_id,
        placed,
        ids,
        {one.source_hash for one in stored},
        has_other_spaces=has_other_spaces,
    )
    queries.delete_superseded(connection, source_hashes=hashes)
    queries.mark_statistics_stale(connection)
    for landing in placed:
        _mark_ready(connection, landing)
    return compared


@dataclass(frozen=True)
class _Locked:
    """A document that is being landed."""

    source_hash: str
    reader_set_id: int
    is_stored: bool
    """Whether chunks are there that it replaces."""


def _lock(connection: Connection[TupleRow], landings: Sequence[Landing]) -> dict[str, _Locked]:
    """Lock the documents; those whose last file is gone are left out."""
    hashes = [landing.source_hash for landing in landings]
    found = records(connection, _Locked, queries.lock_documents, source_hashes=hashes)
    return {one.source_hash: one for one in found}


def _load_chunks(connection: Connection[TupleRow], landings: Sequence[Landing]) -> None:
    """Find which chunks are stored already, in a temporary table."""
    if landings:
        connection.execute(queries.create_chunk_load.sql)
        rows = [(landing, [None] * len(landing.chunks)) for landing in landings]
        _copy_chunks(connection, queries.copy_chunk_load, rows)
        queries.match_chunks(connection)


def _chunk_ids(
    connection: Connection[TupleRow], compared: dict[str, Compared], locked: dict[str, _Locked]
) -> dict[str, list[int]]:
    """Return the ids of each document's chunks: those that it keeps, and new ones."""
    wanted = {source_hash: one.made for source_hash, one in compared.items()}
    stored = [source_hash for source_hash in compared if locked[source_hash].is_stored]
    by_readers: dict[int, list[str]] = {}
    for source_hash in wanted:
        by_readers.setdefault(locked[source_hash].reader_set_id, []).append(source_hash)
    ids: dict[str, list[int]] = {}
    for reader_set_id, hashes in sorted(by_readers.items()):
        count = sum(wanted[source_hash] for source_hash in hashes)
        rows = queries.allocate_chunk_ids(connection, reader_set_id=reader_set_id, count=count)
        given = iter([chunk_id for (chunk_id,) in rows])
        for source_hash in hashes:
            ids[source_hash] = list(islice(given, wanted[source_hash]))
    for source_hash in stored:
        queries.give_chunk_ids(connection, source_hash=source_hash, chunk_ids=ids[source_hash])
        found = queries.loaded_chunk_ids(connection, source_hash=source_hash)
        ids[source_hash] = [chunk_id for (chunk_id,) in found]
    return ids


def _replace_chunks(
    connection: Connection[TupleRow], space_id: int, landings: Sequence[Landing]
) -> None:
    """Delete chunks that are gone, place those that stay, insert new ones."""
    hashes = [landing.source_hash for landing in landings]
    if contextual := [one.source_hash for one in landings if one.is_contextual]:
        queries.forget_kept_vectors(connection, space_id=space_id, source_hashes=contextual)
    queries.delete_replaced_chunks(connection, source_hashes=hashes)
    queries.free_chunk_indexes(connection)
    queries.place_kept_chunks(connection)
    queries.insert_new_chunks(connection)


def _write_vectors(
    connection: Connection[TupleRow],
    space_id: int,
    landings: Sequence[Landing],
    ids: dict[str, list[int]],
    stored: Collection[str],
    *,
    has_other_spaces: bool,
) -> None:
    """Write the vectors that were handed over, and take others from the cache."""
    complete = [landing.source_hash for landing in landings if landing.embeddings is not None]
    for landing in landings:
        if landing.embeddings is not None and landing.source_hash in stored:
            add_vectors(connection, space_id, ids[landing.source_hash], landing.embeddings)
    fresh = [one for one in landings if one.source_hash not in stored]
    _copy_embeddings(connection, space_id, [(one, ids[one.source_hash]) for one in fresh])
    if by_words := [one.source_hash for one in landings if one.embeddings is None]:
        queries.take_cached_vectors(connection, source_hashes=by_words, besides=None)
        queries.note_filling(connection, source_hashes=by_words)
    if has_other_spaces and complete:
        queries.take_cached_vectors(connection, source_hashes=complete, besides=space_id)
        queries.note_filling(connection, source_hashes=complete)


def _copy_embeddings(
    connection: Connection[TupleRow],
    space_id: int,
    placed: Sequence[tuple[Landing, Sequence[int]]],
) -> None:
    with connection.cursor() as cursor, cursor.copy(queries.copy_chunk_embeddings.sql) as copy:
        copy.set_types(["int8", "int4", "halfvec"])
        for landing, chunk_ids in placed:
            if landing.embeddings is not None:
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
    connection: Connection[TupleRow],
    statement: Any,
    placed: Sequence[tuple[Landing, Sequence[int | None]]],
) -> None:
    if not placed:
        return
    # Text COPY, since the driver has no binary writer for tsvector.
    with connection.cursor() as cursor, cursor.copy(statement.sql) as copy:
        for landing, chunk_ids in placed:
            for row in _chunk_rows(landing, chunk_ids):
                copy.write_row(row)


def _chunk_rows(landing: Landing, chunk_ids: Sequence[int | None]) -> Iterator[tuple[Any, ...]]:
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
