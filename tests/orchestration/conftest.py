"""A project with a folder of documents, and a way to sync it through Dagster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import pytest

from rag_pipeline.assets.launch import SyncSummary, run_sync
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.source_tables import register_roots
from rag_pipeline.sync.sources.places import given_root

Sync = Callable[..., SyncSummary]


@pytest.fixture
def manuals(tmp_path: Path) -> Path:
    """An empty folder of documents."""
    folder = tmp_path / "manuals"
    folder.mkdir()
    return folder.resolve()


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    """A Dagster instance of its own."""
    with dg.instance_for_test() as instance:
        yield instance


@pytest.fixture
def in_project(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The project as the one that Dagster's resources find."""
    assert settings.database_url is not None
    monkeypatch.setenv("RAG_HOME", str(settings.project_dir))
    monkeypatch.setenv("RAG_DATABASE_URL", settings.database_url.get_secret_value())
    monkeypatch.chdir(settings.project_dir)
    return settings


@pytest.fixture
def sync(
    in_project: Settings, database: Database, instance: dg.DagsterInstance, manuals: Path
) -> Sync:
    """Sync the folder `manuals`, or the folders given."""
    from rag_pipeline.definitions import defs

    def run(*folders: Path, only_roots: list[str] | None = None, **changes: object) -> SyncSummary:
        if only_roots is not None:
            return run_sync(defs, instance, in_project, database, only_roots)
        roots = [given_root(folder) for folder in folders or (manuals,)]
        with database.connection() as connection:
            register_roots(connection, roots)
        settings = in_project.model_copy(update=changes)
        return run_sync(defs, instance, settings, database, [root.root for root in roots])

    return run
