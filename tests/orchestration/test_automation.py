"""The ways in besides `rag sync`: the nightly scan and its sensor, single stages, partitions."""

from __future__ import annotations

import runpy
from pathlib import Path

import dagster as dg
import pytest

from rag_pipeline import definitions
from rag_pipeline.assets.automation import request_stale_documents
from rag_pipeline.assets.partitions import SOURCE_HASHES
from rag_pipeline.definitions import defs
from rag_pipeline.errors import SettingsError
from rag_pipeline.resources import SessionResource
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.documents import list_documents
from rag_pipeline.store.source_tables import register_roots
from rag_pipeline.store.usage_table import UsageEntry, record_usage
from rag_pipeline.sync.sources.places import given_root
from rag_pipeline.usage import Usage
from tests.pdfs import make_damaged_pdfs, make_pdf

RANGE = ("dagster/asset_partition_range_start", "dagster/asset_partition_range_end")


@pytest.fixture
def scanned(
    in_project: Settings, database: Database, instance: dg.DagsterInstance, manuals: Path
) -> dg.DagsterInstance:
    """An instance in which the nightly job has scanned two documents."""
    make_pdf(manuals / "oil.pdf", [("Oil", ["Change the oil."])])
    make_pdf(manuals / "air.pdf", [("Air", ["Clean the filter."])])
    with database.connection() as connection:
        register_roots(connection, [given_root(manuals)])
    scan(instance)
    return instance


def scan(instance: dg.DagsterInstance) -> None:
    assert defs.resolve_job_def("sources_job").execute_in_process(instance=instance).success


def scan_as_rag_sync(instance: dg.DagsterInstance) -> None:
    tags = {"rag/planned_by": "rag sync"}
    job = defs.resolve_job_def("sources_job")
    assert job.execute_in_process(instance=instance, tags=tags).success


def requests(instance: dg.DagsterInstance, cursor: str | None = None) -> list[dg.RunRequest]:
    return evaluate(instance, cursor)[0]


def evaluate(
    instance: dg.DagsterInstance, cursor: str | None
) -> tuple[list[dg.RunRequest], str | None]:
    """Evaluate the sensor on the last scan, as Dagster's daemon does; return its cursor too."""
    with dg.build_sensor_context(
        instance=instance,
        cursor=cursor,
        repository_def=defs.get_repository_def(),
        resources={"session": SessionResource()},
    ) as context:
        result = request_stale_documents.evaluate_tick(context)
    return list(result.run_requests or []), result.cursor


def run(
    instance: dg.DagsterInstance, first: str, last: str, stages: list[str] | None = None
) -> dg.ExecuteInProcessResult:
    return defs.resolve_job_def("documents_job").execute_in_process(
        instance=instance,
        asset_selection=[dg.AssetKey(stage) for stage in stages] if stages else None,
        tags=dict(zip(RANGE, (first, last), strict=True)),
        raise_on_error=False,
    )


def why_failed(result: dg.ExecuteInProcessResult) -> str:
    (failure,) = [event for event in result.all_events if event.is_step_failure]
    error = failure.step_failure_data.error
    assert error is not None
    assert error.cause is not None
    return error.cause.message


def statuses(database: Database) -> dict[str, str]:
    with database.connection() as connection:
        return {Path(d.uris[0]).name: d.status for d in list_documents(connection)}


def test_the_nightly_scan_requests_what_is_stale_and_nothing_else(
    scanned: dg.DagsterInstance, database: Database
) -> None:
    (request,) = requests(scanned)
    assert request.tags["rag/documents"] == "2"
    assert run(scanned, *(request.tags[name] for name in RANGE)).success
    assert set(statuses(database).values()) == {"ready"}
    scan(scanned)
    assert requests(scanned) == []


def test_a_scan_of_rag_sync_is_left_to_it(scanned: dg.DagsterInstance) -> None:
    found, cursor = evaluate(scanned, None)
    assert len(found) == 1
    scan_as_rag_sync(scanned)
    assert requests(scanned, cursor) == []


def test_a_nightly_scan_that_rag_sync_overtakes_is_not_lost(scanned: dg.DagsterInstance) -> None:
    """The sensor looks every ten seconds and sees the last scan only."""
    scan_as_rag_sync(scanned)
    (request,) = requests(scanned)
    assert request.tags["rag/documents"] == "2"


def test_a_failed_document_is_not_requested_every_night(
    scanned: dg.DagsterInstance, database: Database, manuals: Path
) -> None:
    make_damaged_pdfs(manuals)
    scan(scanned)
    for request in requests(scanned):
        run(scanned, *(request.tags[name] for name in RANGE))
    assert sorted(statuses(database).values()) == ["failed"] * 4 + ["ready"] * 3
    scan(scanned)
    assert requests(scanned) == []


def test_one_stage_of_one_partition(scanned: dg.DagsterInstance, database: Database) -> None:
    assert SOURCE_HASHES.name is not None
    key, _ = scanned.get_dynamic_partitions(SOURCE_HASHES.name)
    assert run(scanned, key, key, ["document_blocks"]).success
    assert set(statuses(database).values()) == {"pending"}
    assert run(scanned, key, key, ["document_structure", "contextual_chunks"]).success
    assert run(scanned, key, key, ["chunk_embeddings"]).success
    assert sorted(statuses(database).values()) == ["pending", "ready"]


def test_stages_that_are_no_neighbours(scanned: dg.DagsterInstance, database: Database) -> None:
    assert SOURCE_HASHES.name is not None
    key, _ = scanned.get_dynamic_partitions(SOURCE_HASHES.name)
    assert run(scanned, key, key).success
    with database.connection() as connection:
        connection.execute("UPDATE document SET fingerprints = '{}'")
    assert run(scanned, key, key, ["document_blocks", "chunk_embeddings"]).success


def test_a_stage_without_its_input_says_what_is_missing(scanned: dg.DagsterInstance) -> None:
    assert SOURCE_HASHES.name is not None
    key, _ = scanned.get_dynamic_partitions(SOURCE_HASHES.name)
    result = run(scanned, key, key, ["contextual_chunks"])
    assert not result.success
    (failure,) = [event for event in result.all_events if event.is_step_failure]
    reason = failure.step_failure_data.user_failure_data.metadata["failed"].value
    assert "needs a current document_structure" in reason
    assert "materialize document_structure as well" in reason


@pytest.mark.parametrize("name", ["SCHEDULE", "TIMEZONE"])
def test_a_wrong_schedule_is_told_in_words(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"RAG_SYNC__{name}", "Mars/Olympus")
    with pytest.raises(SettingsError, match=r"sync\.schedule or sync\.timezone is wrong"):
        runpy.run_path(str(definitions.__file__))


def test_definitions_load_without_a_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_DATABASE_URL", "postgresql://127.0.0.1:1/none")
    dg.Definitions.validate_loadable(defs)
    assert {
        asset.to_user_string() for asset in defs.resolve_asset_graph().get_all_asset_keys()
    } == {
        "sources",
        "document_blocks",
        "document_structure",
        "contextual_chunks",
        "chunk_embeddings",
        "retrieval_evaluation",
        "relational_rows",
    }


@pytest.fixture
def priced(scanned: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch) -> dg.DagsterInstance:
    """Two scanned documents of one page, 600 tokens each at 1,000 dollars a million; one a run."""
    monkeypatch.setenv("RAG_EMBEDDING__PROVIDER", "openai")
    monkeypatch.setenv("RAG_EMBEDDING__MODEL", "stub")
    monkeypatch.setenv("RAG_EMBEDDING__DIMENSIONS", "64")
    monkeypatch.setenv("RAG_EMBEDDING__BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("RAG_PRICES", '{"openai/stub": 1000.0}')
    monkeypatch.setenv("RAG_SYNC__RUN_SIZE", "1")
    return scanned


def test_a_nightly_scan_whose_plan_is_too_dear_fails_and_requests_nothing(
    priced: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, cursor = evaluate(priced, None)
    monkeypatch.setenv("RAG_SYNC__MAX_COST_USD", "1.1")  # enough for either document alone
    job = defs.resolve_job_def("sources_job")
    result = job.execute_in_process(instance=priced, raise_on_error=False)
    message = why_failed(result)
    assert "would cost an estimated 1.2000 USD" in message
    assert requests(priced, cursor) == []


def test_the_limit_of_cost_is_one_for_all_runs_of_a_sync(
    priced: dg.DagsterInstance, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_SYNC__MAX_COST_USD", "1.3")
    first, second = requests(priced)
    assert first.tags["rag/sync"] == second.tags["rag/sync"]
    tags = dict(first.tags)
    earlier = defs.resolve_job_def("sources_job").execute_in_process(instance=priced, tags=tags)
    with database.connection() as connection:
        usage = Usage("openai", "stub", "embed_documents", 1, tokens=900)  # 0.90 dollars
        record_usage(
            connection,
            [UsageEntry(usage)],
            run=earlier.run_id,
            prices=Settings.load().prices,
        )
    result = defs.resolve_job_def("documents_job").execute_in_process(
        instance=priced, tags=dict(second.tags), raise_on_error=False
    )
    message = why_failed(result)
    assert "has cost 0.9000 USD, and its next documents would cost" in message
    assert "no more was sent" in message
