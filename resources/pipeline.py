"""What a sync needs, as one Dagster resource: embedder, artifact store and fingerprints."""

from collections.abc import Sequence

import dagster as dg

from rag_pipeline.embedding import create_embedder
from rag_pipeline.resources.project_settings import SettingsResource
from rag_pipeline.store.artifacts import ArtifactStore
from rag_pipeline.store.database import Database
from rag_pipeline.sync.planning.profiles import Profiles
from rag_pipeline.sync.sync_context import SyncContext


class PipelineResource(dg.ConfigurableResource[SyncContext]):
    """Builds the stages' tools from the settings."""

    settings: dg.ResourceDependency[SettingsResource]

    def context(
        self, database: Database, run: str = "command", earlier_runs: Sequence[str] = ()
    ) -> SyncContext:
        """Return everything that `process_documents` needs; models load when first used.

        `run` is what the table `usage` calls it, `earlier_runs` are others of the same sync.
        """
        settings = self.settings.load()
        return SyncContext(
            profiles=Profiles(settings),
            database=database,
            artifacts=ArtifactStore(settings.artifacts_location),
            embedder=create_embedder(settings.embedding, settings.data_path / "models"),
            run=run,
            earlier_runs=tuple(earlier_runs),
        )
