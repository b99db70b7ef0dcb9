"""Postgres as a Dagster resource."""

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from rag_pipeline.resources.project_settings import SettingsResource
from rag_pipeline.store.database import Database


class DatabaseResource(dg.ConfigurableResource[Database]):
    """The embedded Postgres, or the server that RAG_DATABASE_URL names."""

    settings: dg.ResourceDependency[SettingsResource]

    @contextmanager
    def open(self) -> Iterator[Database]:
        """Lend the database, migrated; its connections are closed at the end."""
        database = Database.open(self.settings.load())
        try:
            yield database
        finally:
            database.close()
