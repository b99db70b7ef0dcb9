"""A project with a folder of documents, and a way to sync it through Dagster."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import pytest

from rag_pipeline.assets.launch import run_sync
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.source_tables import register_roots
from rag_pipeline.sync.sources.places import given_root
from rag_pipeline.sync_summary import SyncSummary
from tests.commands import Commands

Sync = Callable[..., SyncSummary]
Rag = Callable[..., subprocess.CompletedProcess[str]]


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
def environment(settings: Settings) -> dict[str, str]:
    """Variables of a command that works on the test's project."""
    assert settings.database_url is not None
    return {
        **os.environ,
        "RAG_HOME": str(settings.project_dir),
        "RAG_DATABASE_URL": settings.database_url.get_secret_value(),
        "COLUMNS": "200",
    }


@pytest.fixture
def rag(commands: Commands, environment: dict[str, str], tmp_path: Path) -> Rag:
    """Run the command `rag` in a process of its own."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return commands.run(*arguments, folder=tmp_path, environment=environment | variables)

    return run


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
