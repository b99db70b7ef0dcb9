"""What breaks in the middle of a sync: the lock, the database, the disk, the whole process."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import psycopg
import pytest
import sqlalchemy as db

from benchmarks.sync_faults import fault_run, kill_postgres, stored_rows
from benchmarks.sync_project import DIMENSIONS, Project, make_documents
from rag_pipeline.assets.automation import (
    FILES_TAG,
    RANGE_END_TAG,
    RANGE_START_TAG,
    documents_job,
)
from rag_pipeline.assets.launch import PROCESS_TAG
from rag_pipeline.assets.partitions import SOURCE_HASHES
from rag_pipeline.dagster_storage import open_sqlite
from rag_pipeline.errors import DatabaseUnavailableError
from rag_pipeline.store import embedded
from rag_pipeline.store.database import Database
from rag_pipeline.store.documents import list_documents
from rag_pipeline.sync.planning.fingerprints import STAGES
from tests.commands import Commands
from tests.embedding.provider_server import ProviderServer
from tests.orchestration.conftest import Sync

SyncProcess = Callable[..., tuple[int, str]]
KILL_LOCK = (
    "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


@pytest.fixture
def service() -> Iterator[ProviderServer]:
    with ProviderServer().serving() as server:
        server.dimensions = DIMENSIONS
        yield server


@pytest.fixture
def own_project(service: ProviderServer) -> Iterator[Project]:
    """A project with a server of its own, which may be killed.

    Not under pytest's folder: the server may run under another account.
    """
    folder = Path(tempfile.mkdtemp(prefix="rag-test-faults-"))
    folder.chmod(0o755)
    project = Project(folder / "project", service.url)
    make_documents(folder / "manuals", range(6))
    yield project
    embedded.stop(project.settings.data_path)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def sync_process(own_project: Project, commands: Commands) -> SyncProcess:
    """Sync in a process of its own; return its exit status and what it printed as errors."""

    def run(largest_file: int | None = None) -> tuple[int, str]:
        done = commands.run(
            *("sync", str(own_project.folder.parent / "manuals"), "--json"),
            folder=own_project.folder,
            environment=own_project.environment,
            largest_file=largest_file,
        )
        return done.returncode, done.stderr

    return run


def ready(project: Project) -> int:
    with psycopg.connect(project.url) as connection:
        row = connection.execute("SELECT count(*) FROM document WHERE status = 'ready'").fetchone()
    assert row is not None
    return int(row[0])


def lose_lock(database: Database) -> None:
    with database.sync_lock():
        database.check_sync_lock()
        with database.connection() as connection:
            connection.execute(KILL_LOCK)
        database.check_sync_lock()


def test_a_lost_lock_is_noticed(database: Database) -> None:
    """The executor asks before each batch that it embeds, and before each landing."""
    database.check_sync_lock()  # nothing is held, nothing can be lost
    with pytest.raises(DatabaseUnavailableError, match="held the sync's lock was lost"):
        lose_lock(database)
    with database.sync_lock():
        database.check_sync_lock()


def test_a_failed_partition_says_why_in_every_stage(
    sync: Sync, database: Database, manuals: Path, instance: dg.DagsterInstance
) -> None:
    (manuals / "empty.pdf").write_bytes(b"")
    sync()
    with database.connection() as connection:
        (document,) = list_documents(connection)
    for stage, start in (
        ("document_blocks", "empty.pdf: "),
        ("chunk_embeddings", "document_blocks failed: empty.pdf: "),
    ):
        status = instance.get_status_by_partition(
            dg.AssetKey(stage), [document.source_hash], SOURCE_HASHES
        )
        assert status is not None
        assert status[document.source_hash].name == "FAILED"  # type: ignore[union-attr]
        (observation,) = instance.fetch_observations(dg.AssetKey(stage), limit=10).records
        assert observation.asset_observation is not None
        assert observation.partition_key == document.source_hash
        assert str(observation.asset_observation.metadata["failure"].value).startswith(start)


def test_a_killed_database_is_one_clear_line_and_the_next_sync_does_the_rest(
    own_project: Project, sync_process: SyncProcess, service: ProviderServer
) -> None:
    def kill_once(_text: str) -> bool:
        service.refuse = lambda text: False
        kill_postgres(own_project)
        return False

    service.refuse = kill_once
    status, error = sync_process()
    assert status == 1
    assert "Traceback" not in error
    assert "Postgres" in error or "lock was lost" in error
    status, error = sync_process()
    assert (status, error) == (0, "")
    assert ready(own_project) == 6


def test_all_are_searched_by_words_before_the_first_vector(
    own_project: Project, sync_process: SyncProcess, service: ProviderServer
) -> None:
    """Also where they are done in several runs of Dagster."""
    own_project.environment["RAG_SYNC__RUN_SIZE"] = "2"
    counts: list[int] = []

    def look(_text: str) -> bool:
        counts.append(ready(own_project))
        return False

    service.refuse = look
    (own_project.folder.parent / "manuals" / "empty.pdf").write_bytes(b"")
    status, error = sync_process()
    assert status == 2, error
    assert counts
    assert set(counts) == {6}
    with psycopg.connect(own_project.url) as connection:
        lacking = connection.execute(
            "SELECT count(*) FROM chunk LEFT JOIN chunk_embedding USING (chunk_id) "
            "WHERE embedding IS NULL"
        ).fetchone()
    assert lacking == (0,)
    with open_sqlite(own_project.settings.data_path / "dagster") as instance:
        for stage in STAGES:
            assert len(instance.get_materialized_partitions(dg.AssetKey(stage))) == 6
        assert len(instance.get_runs()) == 4 + 3


def test_what_a_killed_sync_did_not_tell_dagster_the_next_one_does(
    own_project: Project, sync_process: SyncProcess
) -> None:
    """Events wait for each other: a killed process takes the last of them along."""
    assert sync_process()[0] == 0
    with open_sqlite(own_project.settings.data_path / "dagster") as instance:
        (run,) = instance.get_runs()
        last = dg.AssetKey(STAGES[-1])
        (told, *_) = instance.get_materialized_partitions(last)
        with instance.event_log_storage.run_connection(run.run_id) as connection:
            for statement in (
                "DELETE FROM event_logs WHERE partition = '{}' AND dagster_event_type = "
                "'ASSET_MATERIALIZATION'",
                "DELETE FROM event_logs WHERE dagster_event_type = 'PIPELINE_SUCCESS'",
            ):
                connection.execute(db.text(statement.format(told)))
        with instance.event_log_storage.index_connection() as connection:
            connection.execute(db.text(f"DELETE FROM event_logs WHERE partition = '{told}'"))
        instance.add_run_tags(run.run_id, {PROCESS_TAG: "999999999"})
        with instance.run_storage.connect() as connection:
            connection.execute(db.text("UPDATE runs SET status = 'STARTED'"))
        assert told not in instance.get_materialized_partitions(last)
    make_documents(own_project.folder.parent / "manuals", range(6, 7))
    assert sync_process()[0] == 0
    with open_sqlite(own_project.settings.data_path / "dagster") as instance:
        assert len(instance.get_materialized_partitions(last)) == 7


@pytest.mark.parametrize("kilobytes", [100, 300])
def test_a_full_disk_is_one_clear_line_and_the_next_sync_does_the_rest(
    own_project: Project, sync_process: SyncProcess, kilobytes: int
) -> None:
    """No file may grow beyond a limit, as on a full disk; Postgres is another process."""
    assert own_project.url
    status, error = sync_process(kilobytes * 1024)
    assert status == 1
    assert "Traceback" not in error
    assert any(words in error for words in ("free space", "disk", "File too large"))
    assert sync_process()[0] == 0
    assert ready(own_project) == 6


def test_killed_again_and_again_the_store_is_the_same(service: ProviderServer) -> None:
    folder = Path(tempfile.mkdtemp(prefix="rag-test-faults-"))
    folder.chmod(0o755)
    try:
        run = fault_run(folder, service.url, count=20, kills=2, seed=3)
        assert run.differing == []
    finally:
        for name in ("project", "fresh"):
            embedded.stop(folder / name / ".rag")
        shutil.rmtree(folder, ignore_errors=True)


def test_the_comparison_sees_a_difference(own_project: Project, sync_process: SyncProcess) -> None:
    assert sync_process()[0] == 0
    before = stored_rows(own_project.url)
    with psycopg.connect(own_project.url) as connection:
        connection.execute("UPDATE chunk SET content = 'other' WHERE chunk_id = 1")
    after = stored_rows(own_project.url)
    assert [name for name in before if before[name] != after[name]] == ["chunks"]


def test_an_unchanged_partition_keeps_what_it_showed(
    sync: Sync, database: Database, manuals: Path, instance: dg.DagsterInstance
) -> None:
    from rag_pipeline.definitions import defs

    make_documents(manuals, range(1))
    assert sync().documents_done == 1
    with database.connection() as connection:
        (document,) = list_documents(connection)

    def shown(stage: str) -> dg.AssetMaterialization:
        wanted = dg.AssetRecordsFilter(dg.AssetKey(stage), asset_partitions=[document.source_hash])
        (record,) = instance.fetch_materializations(wanted, limit=1).records
        assert record.asset_materialization is not None
        return record.asset_materialization

    before = {stage: shown(stage) for stage in STAGES}
    job = defs.resolve_job_def(documents_job.name)
    for _ in range(2):
        result = job.execute_in_process(
            instance=instance,
            tags={RANGE_START_TAG: document.source_hash, RANGE_END_TAG: document.source_hash},
        )
        assert result.success
    for stage in STAGES:
        after = shown(stage)
        assert after.description == "manual_00000.pdf"
        assert next(iter(after.metadata)) == "file"
        assert after.metadata["result"].value == "reused"
        assert after.metadata.keys() == before[stage].metadata.keys()
    assert "manual" in str(shown(STAGES[1]).metadata["outline"].value).lower()
    assert shown(STAGES[2]).metadata["chunks"] == shown(STAGES[3]).metadata["vectors"]


def test_a_failed_run_names_file_and_reason(
    sync: Sync, manuals: Path, instance: dg.DagsterInstance
) -> None:
    (manuals / "empty.pdf").write_bytes(b"")
    run_id = sync().runs[-1]
    (failed,) = instance.get_records_for_run(
        run_id, of_type=dg.DagsterEventType.STEP_FAILURE
    ).records
    assert "empty.pdf: " in str(failed.event_log_entry.dagster_event)
    run = instance.get_run_by_id(run_id)
    assert run is not None
    assert run.tags[FILES_TAG] == "empty.pdf"
    make_documents(manuals, range(5))
    run = instance.get_run_by_id(sync().runs[-1])
    assert run is not None
    assert run.tags[FILES_TAG].endswith(", 2 more")
