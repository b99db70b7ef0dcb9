"""What every step of a sync is given."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.embedding import EMBEDDING_VERSION, Embedder
from rag_pipeline.settings import Settings
from rag_pipeline.store.artifacts import ArtifactStore
from rag_pipeline.store.database import Database
from rag_pipeline.store.embeddings import EmbeddingSpace, ensure_space
from rag_pipeline.sync.planning.profiles import Profiles


@dataclass(frozen=True)
class SyncContext:
    """Everything that doing a plan needs."""

    profiles: Profiles
    database: Database
    artifacts: ArtifactStore
    embedder: Embedder
    run: str = "command"
    """What the table `usage` calls this run."""
    earlier_runs: tuple[str, ...] = ()
    """The other runs of the same sync: what they cost counts against its limit as well."""

    @property
    def settings(self) -> Settings:
        """The project's settings; a document's own are its source's (`profiles`)."""
        return self.profiles.settings

    def space(self, connection: Connection[TupleRow]) -> EmbeddingSpace:
        """Return the space of the embedder's vectors, made where it is missing."""
        embedder = self.embedder
        return ensure_space(
            connection, embedder.provider, embedder.model, embedder.dimensions, EMBEDDING_VERSION
        )
