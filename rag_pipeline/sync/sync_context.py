"""What every step of a sync needs, composed from the settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.embedding import Embedder, create_embedder
from rag_pipeline.settings import Settings
from rag_pipeline.store.artifacts import ArtifactStore
from rag_pipeline.store.database import Database
from rag_pipeline.store.embeddings import EmbeddingSpace, ensure_space
from rag_pipeline.sync.planning.profiles import Profiles


@dataclass(frozen=True)
class SyncContext:
    """Everything that carrying out a plan needs."""

    profiles: Profiles
    database: Database
    artifacts: ArtifactStore
    embedder: Embedder
    run: str = "command"
    """Name of this run in the table `usage`."""
    earlier_runs: tuple[str, ...] = ()
    """Other runs of the same sync; their cost counts against its limit as well."""

    @classmethod
    def of(
        cls,
        settings: Settings,
        database: Database,
        run: str = "command",
        earlier_runs: Sequence[str] = (),
        embedder: Embedder | None = None,
    ) -> SyncContext:
        """Compose the context of a project; its models load when first used."""
        return cls(
            profiles=Profiles(settings),
            database=database,
            artifacts=ArtifactStore(settings.artifacts_location),
            embedder=embedder or create_embedder(settings.embedding, settings.models_path),
            run=run,
            earlier_runs=tuple(earlier_runs),
        )

    @property
    def settings(self) -> Settings:
        """The project's settings; those of a document depend on its source (`profiles`)."""
        return self.profiles.settings

    def space(self, connection: Connection[TupleRow]) -> EmbeddingSpace:
        """Return the space of the embedder's vectors, created if it is missing."""
        embedder = self.embedder
        return ensure_space(
            connection, embedder.provider, embedder.model, embedder.dimensions, embedder.version
        )


def waiting_for_vectors(settings: Settings) -> Settings:
    """Return settings under which documents become searchable with their vectors."""
    sync = settings.sync.model_copy(update={"wait_vectors": True})
    return settings.model_copy(update={"sync": sync})
