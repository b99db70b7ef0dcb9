"""What a sync of rows is given, in tests."""

from __future__ import annotations

from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.sync.sync_context import SyncContext


def context_of(database: Database, settings: Settings) -> SyncContext:
    """Return everything that a sync needs, with the embedder of the settings."""
    return SyncContext.of(settings, database)
