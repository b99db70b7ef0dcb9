"""The settings as a Dagster resource: read once per run, from rag.toml and the environment."""

from pathlib import Path

import dagster as dg

from rag_pipeline.settings import Settings


class SettingsResource(dg.ConfigurableResource[Settings]):
    """Where the project lies; everything else stands in its rag.toml and the environment.

    Secrets are never part of a resource's configuration, which Dagster stores and shows.
    """

    project_dir: str | None = None

    def load(self) -> Settings:
        """Return the settings. Raises `SettingsError`."""
        return Settings.load(Path(self.project_dir) if self.project_dir else None)
