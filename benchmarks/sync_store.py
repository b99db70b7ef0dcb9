"""A store of ten thousand documents without the hours: a few synced, the others copied from them.

What a sync looks at is the same as after a first sync: files, their rows, chunks, vectors,
fingerprints and Dagster's partitions. Only Dagster's record of the runs is missing, which no sync
reads.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from pgvector import HalfVector
from psycopg import sql

from benchmarks.sync_project import DIMENSIONS, Project, make_documents
from rag_pipeline.store.database import Database
from rag_pipeline.store.source_tables import register_roots
from rag_pipeline.sync.planning.refresh import refresh_sources
from rag_pipeline.sync.sources.places import given_root

SYNCED = 20
"""Documents that really go through the pipeline, first."""


def fill(project: Project, manuals: Path, count: int) -> None:
    """Bring `project` to what it is after a first sync of `count` one-page documents.

    A folder that is there from an earlier time is used again, and brought up to date.
    """
    make_documents(manuals, range(SYNCED))
    project.sync(str(manuals))
    make_documents(manuals, range(count))
    database = project.open()
    try:
        with database.connection() as connection:
            register_roots(connection, [given_root(manuals)])
        refresh_sources(project.settings, database)
        _copy_documents(database)
    finally:
        database.close()
    project.sync(str(manuals))


def _copy_documents(database: Database) -> None:
    """Give every document that waits the chunks of one that is there, with vectors of its own."""
    random = np.random.default_rng(7)
    with database.connection() as connection:
        template = connection.execute(
            "SELECT source_hash FROM document WHERE status = 'ready' ORDER BY 1 LIMIT 1"
        ).fetchone()
        columns = sql.SQL(
            "chunk_index, parent_index, kind, breadcrumb_trail, content, token_count, page_start, "
            "page_end, regions, content_hash, metadata, language, search_vector, lexeme_count"
        )
        connection.execute(
            sql.SQL(
                "INSERT INTO chunk (source_hash, {columns}) SELECT d.source_hash, {columns} "
                "FROM chunk AS c CROSS JOIN (SELECT source_hash FROM document "
                "WHERE status = 'pending') AS d WHERE c.source_hash = %s"
            ).format(columns=columns),
            template,
        )
        missing = connection.execute(
            "SELECT chunk_id FROM chunk LEFT JOIN chunk_embedding USING (chunk_id) "
            "WHERE embedding IS NULL"
        ).fetchall()
        space = connection.execute("SELECT space_id FROM embedding_space").fetchone()
        assert space is not None
        with (
            connection.cursor() as cursor,
            cursor.copy(
                "COPY chunk_embedding (chunk_id, space_id, embedding) FROM STDIN (FORMAT binary)"
            ) as copy,
        ):
            copy.set_types(["int8", "int4", "halfvec"])
            for (chunk_id,) in missing:
                vector = random.standard_normal(DIMENSIONS).astype(np.float32)
                copy.write_row((chunk_id, space[0], HalfVector(vector)))
        connection.execute(
            "UPDATE document AS d SET status = 'ready', fingerprints = t.fingerprints, "
            "chunk_count = t.chunk_count, page_count = 1, language = t.language, title = t.title "
            "FROM document AS t WHERE d.status = 'pending' AND t.source_hash = %s",
            template,
        )
        connection.execute("UPDATE corpus_statistics SET is_stale = true")
