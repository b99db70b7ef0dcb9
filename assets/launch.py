"""A whole sync in this process: the same jobs that the UI and the schedule run, in turn."""

import os
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import dagster as dg
import psutil
from dagster._core.instance.ref import InstanceRef
from sqlalchemy.exc import SQLAlchemyError

from rag_pipeline import errors
from rag_pipeline.assets.automation import (
    RANGE_END_TAG,
    RANGE_START_TAG,
    documents_job,
    relational_range,
    sources_job,
    stale_ranges,
)
from rag_pipeline.assets.locks import LOCK_WAIT_SECONDS
from rag_pipeline.assets.partitions import PLANNED_TAG
from rag_pipeline.assets.relational_asset import ASSET as RELATIONAL_ROWS
from rag_pipeline.assets.relational_asset import FAILED, relational_job
from rag_pipeline.assets.syncs import SYNC_TAG
from rag_pipeline.errors import StoreError
from rag_pipeline.resources import PipelineResource, SettingsResource
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.documents import list_documents
from rag_pipeline.sync.finish import finish
from rag_pipeline.sync.planning.estimate import check_budget, estimate_plan, may_cost
from rag_pipeline.sync.planning.fingerprints import STAGES
from rag_pipeline.sync.planning.plan import SyncPlan
from rag_pipeline.sync.sources.refresh import current_plan

HOST_TAG = "rag/host"
PROCESS_TAG = "rag/process"
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@dataclass
class StageTotals:
    """What the workers did in one stage, over all documents of a sync."""

    documents: int = 0
    pages: int = 0
    seconds: float = 0.0


@dataclass
class SyncSummary:
    """What a sync did, in numbers, and what failed."""

    files: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    documents_done: int = 0
    documents_current: int = 0
    failures: list[dict[str, str]] = field(default_factory=list)
    """source_hash, file, reason; `earlier` says whether it was tried in this sync."""
    stages: dict[str, StageTotals] = field(default_factory=dict)
    runs: list[str] = field(default_factory=list)
    seconds: float = 0.0
    relational: list[dict[str, object]] = field(default_factory=list)
    """Per database: its name as `source`, the counts of its rows, and `error` where it failed."""
    aborted: str | None = None
    """Why the sync ended before all documents were tried."""


@contextmanager
def _disk_errors() -> Iterator[None]:
    """Turn errors of Dagster's own files into one that says what to do."""
    try:
        yield
    except (OSError, SQLAlchemyError) as error:
        line = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise StoreError(
            f"Dagster's records could not be written: {line}",
            hint="free space or check the rights of the folder, then run `rag sync` again: what "
            "has landed stays",
        ) from error


@_disk_errors()
def open_instance(settings: Settings) -> dg.DagsterInstance:
    """Return the Dagster instance: DAGSTER_HOME, the project's dagster.yaml, or one in data_dir."""
    if os.environ.get("DAGSTER_HOME"):
        return dg.DagsterInstance.get()
    if (settings.project_dir / "dagster.yaml").is_file():
        return dg.DagsterInstance.from_config(str(settings.project_dir))
    folder = settings.data_path / "dagster"
    folder.mkdir(parents=True, exist_ok=True)
    storage = {"module": "rag_pipeline.dagster_storage", "class": "SqliteStorage"}
    overrides = {
        "telemetry": {"enabled": False},
        "storage": {"custom": {**storage, "config": {"base_dir": str(folder)}}},
    }
    return dg.DagsterInstance.from_ref(InstanceRef.from_dir(str(folder), overrides=overrides))


@_disk_errors()
def run_sync(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    settings: Settings,
    database: Database,
    only_roots: list[str],
    on_plan: Callable[[SyncPlan], None] = lambda _: None,
) -> SyncSummary:
    """Scan the sources, then bring every stale document up to date.

    `only_roots` limits both to some of the known roots. Documents that fail do so alone; an error
    of the whole (no database, no disk) ends the sync and stands in `aborted`.
    """
    start = time.perf_counter()
    summary = SyncSummary()
    _end_killed_runs(instance)
    tags = {
        PLANNED_TAG: "rag sync",
        SYNC_TAG: str(uuid.uuid4()),
        HOST_TAG: socket.gethostname(),
        PROCESS_TAG: str(os.getpid()),
    }
    config = {**QUIET, "ops": {"sources": {"config": {"roots": only_roots}}}}
    result = definitions.resolve_job_def(sources_job.name).execute_in_process(
        instance=instance, run_config=config, tags=tags, raise_on_error=False
    )
    summary.runs.append(result.run_id)
    if not result.success:
        summary.aborted = _run_error(result)
        return summary
    _take_sources(summary, result)

    plan = current_plan(settings, database, only_roots)
    summary.documents_current = plan.current
    on_plan(plan)
    if settings.sync.max_cost_usd is not None and may_cost(settings):
        check_budget(estimate_plan(plan, settings, database), settings.sync.max_cost_usd)
    for first, last, _ in stale_ranges(instance, settings, plan):
        result = definitions.resolve_job_def(documents_job.name).execute_in_process(
            instance=instance,
            run_config=QUIET,
            tags={**tags, RANGE_START_TAG: first, RANGE_END_TAG: last},
            raise_on_error=False,
        )
        summary.runs.append(result.run_id)
        _take_documents(summary, result)
        if not result.success and not _only_documents_failed(result):
            summary.aborted = _run_error(result)
            break
    if summary.aborted is None and not only_roots:
        _sync_databases(definitions, instance, summary, tags)
    if summary.aborted is None:
        with database.sync_lock(LOCK_WAIT_SECONDS):
            resource = PipelineResource(
                settings=SettingsResource(project_dir=str(settings.project_dir))
            )
            finish(resource.context(database))
        _take_failures(summary, database, plan)
    summary.seconds = time.perf_counter() - start
    return summary


def _sync_databases(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    summary: SyncSummary,
    tags: dict[str, str],
) -> None:
    """Bring the rows of all relational sources up to date; a database that fails does so alone."""
    databases = relational_range(instance)
    if databases is None:
        return
    result = definitions.resolve_job_def(relational_job.name).execute_in_process(
        instance=instance,
        run_config=QUIET,
        tags={**tags, RANGE_START_TAG: databases[0], RANGE_END_TAG: databases[1]},
        raise_on_error=False,
    )
    summary.runs.append(result.run_id)
    for event in result.asset_materializations_for_node(RELATIONAL_ROWS):
        counts = {key: value.value for key, value in event.metadata.items()}
        summary.relational.append({"source": event.partition, **counts})
    if result.success:
        return
    failed = next(
        (
            metadata[FAILED]
            for event in result.all_events
            if event.is_step_failure and FAILED in (metadata := _failure_metadata(event))
        ),
        None,
    )
    if not isinstance(failed, dg.JsonMetadataValue):
        summary.aborted = _run_error(result)
        return
    reasons = {str(source): str(reason) for source, reason in dict(failed.value or {}).items()}
    landed = {str(entry["source"]): entry for entry in summary.relational}
    for source, reason in reasons.items():
        if source in landed:
            landed[source]["error"] = reason
        else:
            summary.relational.append({"source": source, "error": reason})


def _end_killed_runs(instance: dg.DagsterInstance) -> None:
    """Mark runs of `rag sync` processes that were killed as failed.

    Dagster cannot know that they are gone, and would count them against its limit of runs for ever.
    """
    running = dg.RunsFilter(
        statuses=[dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED],
        tags={PLANNED_TAG: "rag sync", HOST_TAG: socket.gethostname()},
    )
    for run in instance.get_runs(running):
        if not psutil.pid_exists(int(run.tags.get(PROCESS_TAG, "0"))):
            instance.report_run_failed(run, "the process of `rag sync` was killed")


def _take_sources(summary: SyncSummary, result: dg.ExecuteInProcessResult) -> None:
    materialization = result.asset_materializations_for_node("sources")[0]
    values = {key: value.value for key, value in materialization.metadata.items()}
    kinds = ("new", "changed", "renamed", "copied", "removed", "unchanged")
    summary.files = {kind: int(str(values[kind])) for kind in kinds}
    problems = str(values["problems"])
    if problems != "none":
        summary.problems = [line.removeprefix("- ") for line in problems.splitlines()]


def _take_documents(summary: SyncSummary, result: dg.ExecuteInProcessResult) -> None:
    for event in result.all_events:
        if not event.is_step_materialization or event.asset_key is None:
            continue
        stage = event.asset_key.to_user_string()
        metadata = {
            key: value.value
            for key, value in event.step_materialization_data.materialization.metadata.items()
        }
        if stage not in STAGES or metadata.get("result") != "computed":
            continue
        totals = summary.stages.setdefault(stage, StageTotals())
        totals.documents += 1
        totals.pages += int(str(metadata["pages"]))
        totals.seconds += float(str(metadata.get("seconds", 0.0)))
        if stage == STAGES[-1]:
            summary.documents_done += 1


def _take_failures(summary: SyncSummary, database: Database, plan: SyncPlan) -> None:
    """List what is failed now, tried in this sync or before: the exit status tells of both."""
    earlier = {state.source_hash for state in plan.failed}
    with database.connection() as connection:
        documents = list_documents(connection)
    for document in documents:
        known = document.source_hash in earlier
        if document.status == "failed" and (known or document.source_hash in plan.stale):
            summary.failures.append(
                {
                    "source_hash": document.source_hash,
                    "file": Path(document.uris[0]).name,
                    "reason": document.failure_reason or "unknown",
                    "earlier": "yes" if known else "no",
                }
            )


def _only_documents_failed(result: dg.ExecuteInProcessResult) -> bool:
    """Tell whether the run failed because of documents, which are listed, and not as a whole."""
    return any(
        event.is_step_failure and "failed" in _failure_metadata(event)
        for event in result.all_events
    )


def _failure_metadata(event: dg.DagsterEvent) -> dict[str, object]:
    data = event.step_failure_data.user_failure_data
    return dict(data.metadata) if data else {}


def _run_error(result: dg.ExecuteInProcessResult) -> str:
    """Return the error that ended a run, in one line: our own words, where there are any."""
    for event in result.all_events:
        if event.is_step_failure and event.step_failure_data.error:
            error = event.step_failure_data.error
            while error.cause is not None and not hasattr(errors, error.cls_name or ""):
                error = error.cause
            line = error.message.strip().splitlines()[0]
            return line.removeprefix(f"{errors.__name__}.{error.cls_name}: ")
    return f"the Dagster run {result.run_id} failed; see it in the UI (`make dev`)"
