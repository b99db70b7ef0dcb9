"""Dagster's records in SQLite with connections kept open: the same files for either storage."""

import inspect
import shutil
import time
from pathlib import Path

import dagster as dg
import pytest

from rag_pipeline.assets.instances import open_instance
from rag_pipeline.assets.partitions import SOURCE_HASHES, align_partitions
from rag_pipeline.dagster_event_log import OPEN_SHARDS, PooledEventLog
from rag_pipeline.dagster_storage import open_sqlite
from rag_pipeline.settings import Settings
from tests.conftest import PROJECT_DIR

KEYS = {f"{number:064x}" for number in range(3)}


@dg.asset(partitions_def=SOURCE_HASHES, backfill_policy=dg.BackfillPolicy.single_run())
def stage(context: dg.AssetExecutionContext) -> None:
    bad = sorted(KEYS)[0]
    for key in context.partition_keys:
        if key != bad:
            context.log_event(dg.AssetMaterialization("stage", partition=key, tags={"a": "b"}))
    raise dg.Failure("one failed", allow_retries=False)


def run(instance: dg.DagsterInstance) -> dg.ExecuteInProcessResult:
    first, *_, last = instance.get_dynamic_partitions("source_hash")
    return dg.materialize(
        [stage],
        instance=instance,
        tags={
            "dagster/asset_partition_range_start": first,
            "dagster/asset_partition_range_end": last,
        },
        raise_on_error=False,
    )


def statuses(instance: dg.DagsterInstance) -> list[str]:
    found = instance.get_status_by_partition(stage.key, sorted(KEYS), SOURCE_HASHES)
    assert found is not None
    return [found[key].name for key in sorted(KEYS)]  # type: ignore[union-attr]


INTERNALS = {
    "_connect": ["self", "shard"],
    "_event_to_row": ["self", "event"],
    "_initdb": ["self", "engine", "for_index_shard"],
    "_store_asset_event": ["self", "conn", "event", "event_id"],
    "_store_asset_event_tags": ["self", "conn", "events", "event_ids"],
    "conn_string_for_shard": ["self", "shard_name"],
    "has_table": ["self", "table_name"],
    "path_for_shard": ["self", "run_id"],
    "store_asset_check_event": ["self", "event", "event_id"],
}


def test_dagster_has_the_internals_that_the_storage_overrides(tmp_path: Path) -> None:
    changed = f"Dagster {dg.__version__} changed its event log: adapt dagster_event_log.py to "
    dagsters, ours = PooledEventLog.__base__, PooledEventLog(str(tmp_path))
    for name, parameters in INTERNALS.items():
        method = getattr(dagsters, name, None)
        assert method is not None, f"{changed}{name}, which is gone"
        found = list(inspect.signature(method).parameters)
        assert found == parameters, f"{changed}{name}{tuple(found)}"
    for name in ("_db_lock", "_initialized_dbs"):
        assert hasattr(ours, name), f"{changed}the attribute {name}, which is gone"
    ours.dispose()


def test_dagsters_own_storage_reads_what_was_written(tmp_path: Path) -> None:
    with open_sqlite(tmp_path) as instance:
        align_partitions(instance, KEYS)
        result = run(instance)
        planned = instance.get_records_for_run(
            result.run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED
        ).records
        assert len(planned) == len(KEYS), "written in one batch, each once"
        assert statuses(instance) == ["FAILED", "MATERIALIZED", "MATERIALIZED"]
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        assert statuses(instance) == ["FAILED", "MATERIALIZED", "MATERIALIZED"]
        run(instance)
    with open_sqlite(tmp_path) as instance:
        assert len(instance.get_runs()) == 2
        (event,) = instance.fetch_materializations(
            dg.AssetRecordsFilter(stage.key, asset_partitions=[sorted(KEYS)[1]]), limit=1
        ).records
        assert event.asset_materialization is not None
        assert event.asset_materialization.tags["a"] == "b"


def test_few_files_are_open_and_a_written_one_looks_modified(tmp_path: Path) -> None:
    with open_sqlite(tmp_path) as instance:
        align_partitions(instance, KEYS)
        runs = [run(instance).run_id for _ in range(OPEN_SHARDS + 2)]
        log = instance.event_log_storage
        assert isinstance(log, PooledEventLog)
        assert len(log._engines) == OPEN_SHARDS + 1
        path = Path(log.path_for_shard(runs[-1]))
        before = path.stat().st_mtime_ns
        time.sleep(0.02)
        instance.report_engine_event("hello", instance.get_run_by_id(runs[-1]))
        assert path.stat().st_mtime_ns > before


def test_the_checkout_keeps_all_of_dagsters_files_in_one_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(PROJECT_DIR / "dagster.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)  # as every command does
    with open_instance(Settings.load(tmp_path)) as instance:
        instance.add_dynamic_partitions("source_hash", sorted(KEYS))
        assert not run(instance).success
    assert {path.name for path in tmp_path.iterdir()} == {"dagster.yaml", ".dagster"}
