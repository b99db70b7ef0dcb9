"""Databases through Dagster and `rag sync`: a partition a source, each fails alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from rag_pipeline.assets.automation import request_stale_documents
from rag_pipeline.assets.launch import run_sync
from rag_pipeline.assets.partitions import align_relational_partitions
from rag_pipeline.assets.relational_asset import relational_rows
from rag_pipeline.resources import SessionResource, default_resources
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.source_tables import register_roots
from rag_pipeline.sync.sources.places import given_root
from rag_pipeline.sync_summary import SyncSummary
from tests.pdfs import make_pdf

SOURCE = '[[relational]]\nname = "{name}"\nurl = "sqlite:///{file}"\nroot = "clients"\n'


@pytest.fixture
def project(settings: Settings, workshop: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A project with the workshop as a source, which Dagster's resources find."""
    assert settings.database_url is not None
    monkeypatch.setenv("RAG_HOME", str(settings.project_dir))
    monkeypatch.setenv("RAG_DATABASE_URL", settings.database_url.get_secret_value())
    monkeypatch.chdir(settings.project_dir)
    return write_sources(settings, workshop=workshop)


def write_sources(settings: Settings, **files: Path) -> Settings:
    text = "".join(SOURCE.format(name=name, file=file) for name, file in files.items())
    (settings.project_dir / "rag.toml").write_text(text)
    return Settings.load(settings.project_dir, database_url=settings.database_url)


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test() as instance:
        yield instance


def rag_sync(settings: Settings, database: Database, instance: dg.DagsterInstance) -> SyncSummary:
    from rag_pipeline.definitions import defs

    return run_sync(defs, instance, settings, database, [])


def test_one_partition_a_source(project: Settings, instance: dg.DagsterInstance) -> None:
    align_relational_partitions(instance, ["gone", "workshop"])
    align_relational_partitions(instance, ["workshop"])
    assert list(instance.get_dynamic_partitions("relational_source")) == ["workshop"]
    result = dg.materialize(
        [relational_rows],
        partition_key="workshop",
        instance=instance,
        resources=default_resources(str(project.project_dir)),
    )
    (event,) = result.asset_materializations_for_node("relational_rows")
    assert event.metadata["new"].value == 3
    assert event.metadata["dagster/row_count"].value == 3


def test_rag_sync_brings_documents_and_rows(
    project: Settings,
    database: Database,
    instance: dg.DagsterInstance,
    workshop: Path,
    tmp_path: Path,
) -> None:
    manuals = tmp_path / "manuals"
    manuals.mkdir()
    make_pdf(manuals / "oil.pdf", [("Oil", ["Change the oil."])])
    with database.connection() as connection:
        register_roots(connection, [given_root(manuals.resolve())])
    broken = write_sources(project, broken=tmp_path / "none" / "x.db", workshop=workshop)
    first = rag_sync(broken, database, instance)
    assert first.documents_done == 1
    assert first.aborted is None
    by_name = {report.source: report for report in first.relational}
    assert by_name["workshop"].new == 3
    assert "cannot be read" in str(by_name["broken"].why)
    assert by_name["workshop"].why is None
    # What a sync finishes is finished once, for both: statistics, and the space is active.
    with database.connection() as connection:
        states = connection.execute("SELECT state FROM embedding_space").fetchall()
    assert states == [("active",)]
    with sqlite3.connect(workshop) as changed:
        changed.execute("UPDATE clients SET city = 'Emden' WHERE id = 1")
    alone = write_sources(project, workshop=workshop)
    (report,) = rag_sync(alone, database, instance).relational
    assert (report.new, report.changed, report.unchanged) == (0, 1, 2)
    # A source taken out of rag.toml goes with the next sync.
    nothing = write_sources(project)
    assert rag_sync(nothing, database, instance).relational == []
    with database.connection() as connection:
        left = connection.execute("SELECT count(*) FROM source").fetchone()
    assert left == (1,)


def test_the_nightly_scan_requests_databases(
    project: Settings, database: Database, instance: dg.DagsterInstance
) -> None:
    from rag_pipeline.definitions import defs

    assert defs.resolve_job_def("sources_job").execute_in_process(instance=instance).success
    with dg.build_sensor_context(
        instance=instance,
        repository_def=defs.get_repository_def(),
        resources={"session": SessionResource()},
    ) as context:
        (request,) = request_stale_documents.evaluate_tick(context).run_requests or []
    assert request.job_name == "relational_job"
    assert request.tags["dagster/asset_partition_range_start"] == "workshop"
    result = defs.resolve_job_def("relational_job").execute_in_process(
        instance=instance, tags=request.tags
    )
    assert result.success
    with database.connection() as connection:
        rows = connection.execute("SELECT count(*) FROM chunk").fetchone()
    assert rows is not None
    assert rows[0] >= 3
