"""The end of a sync: corpus statistics, the vector index, and which space is searched."""

from __future__ import annotations

from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.store.documents import document_states
from rag_pipeline.store.embeddings import (
    EmbeddingSpace,
    activate_space,
    active_space,
    end_filling,
    ensure_index,
    vector_coverage,
)
from rag_pipeline.store.statistics import refresh_statistics
from rag_pipeline.sync.planning.refresh import spool_of
from rag_pipeline.sync.sync_context import SyncContext


def finish(context: SyncContext, *, after_scan: bool = False) -> None:
    """Do what follows landing: corpus statistics, the HNSW index, activating the space.

    `after_scan` keeps local copies of remote documents, which are still to be processed. The store
    says what is left to do, so this may be called at any time, and the next sync completes one that
    was killed before this point.
    """
    with context.database.connection() as connection:
        refresh_statistics(connection)
    with context.database.connection() as connection:
        space = context.space(connection)
        ensure_index(connection, space)
        if space.state != "active" and not _is_other_pinned(connection, space):
            states = document_states(connection, space.space_id, None)
            is_done = not context.profiles.plan(states)
            # A document in quarantine has no vectors in it, so the old space stays active.
            if is_done and not vector_coverage(connection, space.space_id).lacking:
                activate_space(connection, space.space_id)
        end_filling(connection)
    if not after_scan:
        spool_of(context.settings).clear()


def _is_other_pinned(connection: Connection[TupleRow], space: EmbeddingSpace) -> bool:
    """Return whether the user pinned another space with `rag spaces activate`."""
    active = active_space(connection)
    return active is not None and active.pinned and active.space_id != space.space_id
