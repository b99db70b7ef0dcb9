"""What a sync of rows is given, in tests."""

from __future__ import annotations

from rag_pipeline.embedding import create_embedder
from rag_pipeline.settings import Settings
from rag_pipeline.store.artifacts import ArtifactStore
from rag_pipeline.store.database import Database
from rag_pipeline.sync.planning.profiles import Profiles
from rag_pipeline.sync.sync_context import SyncContext


def context_of(database: Database, settings: Settings) -> SyncContext:
    """Return everything that a sync needs, with the embedder of the settings."""
    embedder = create_embedder(settings.embedding, settings.data_path / "models")
    artifacts = ArtifactStore(settings.artifacts_location)
    return SyncContext(Profiles(settings), database, artifacts, embedder)
