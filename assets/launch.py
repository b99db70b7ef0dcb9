"""A whole sync in this process: the same jobs that the UI and the schedule run, in turn."""

import os
import socket
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import dagster as dg
import psutil

from rag_pipeline.assets.automation import (
    FILES_TAG,
    RANGE_END_TAG,
    RANGE_START_TAG,
    StaleRange,
    documents_job,
    relational_range,
    sources_job,
    stale_ranges,
    vectors_job,
    words_job,
)
from rag_pipeline.assets.instances import disk_errors
from rag_pipeline.assets.partitions import PLANNED_TAG
from rag_pipeline.assets.relational_asset import forget_databases, relational_job
from rag_pipeline.assets.scan_event import report_scan
from rag_pipeline.assets.syncs import SYNC_TAG
from rag_pipeline.errors import RagError
from rag_pipeline.resources import GivenSession, SyncSession
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import SYNC_WAIT_SECONDS, Database
from rag_pipeline.sync.finish import finish
from rag_pipeline.sync.planning.estimate import check_budget, estimate_plan, may_cost
from rag_pipeline.sync.planning.fingerprints import STAGES
from rag_pipeline.sync.planning.plan import SyncPlan
from rag_pipeline.sync.planning.refresh import RefreshResult, current_plan
from rag_pipeline.sync_summary import SyncSummary

HOST_TAG = "rag/host"
PROCESS_TAG = "rag/process"
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@disk_errors()
def run_sync(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    settings: Settings,
    database: Database,
    only_roots: list[str],
    on_plan: Callable[[SyncPlan], None] = lambda _: None,
    *,
    verify: bool = False,
    scan: RefreshResult | None = None,
) -> SyncSummary:
    """Scan the sources, then bring every stale document up to date.

    `only_roots` limits both to some of the known roots. `scan` is one whose changes were just
    written (`first_look`): it is reported instead of scanning again. Documents that fail do so
    alone; an error of the whole (no database, no disk) ends the sync and stands in `aborted`.
    """
    start = time.perf_counter()
    summary = SyncSummary()
    lost = _end_killed_runs(instance)
    session = SyncSession(settings, database)
    run = _Runs(definitions, instance, session, summary)
    if scan is None:
        config = {"ops": {"sources": {"config": {"roots": only_roots, "verify": verify}}}}
        run.execute(sources_job.name, config=config)
        scan = session.record.scan
    else:
        with database.sync_lock(SYNC_WAIT_SECONDS):
            report_scan(instance, settings, database, scan)
            forget_databases(settings, database)
    if scan is None or summary.aborted is not None:
        return summary
    summary.take_scan(scan)

    plan = current_plan(settings, database, only_roots)
    summary.documents_current = plan.current
    on_plan(plan)
    if settings.sync.max_cost_usd is not None and may_cost(settings):
        check_budget(estimate_plan(plan, settings, database), settings.sync.max_cost_usd)
    untold = lost - {state.source_hash for state in plan.failed}
    _sync_documents(run, settings, plan, {*plan.stale, *untold})
    summary.take_documents(session.record.documents)
    if summary.aborted is None and not only_roots:
        _sync_databases(run)
    summary.relational = session.record.relational
    if summary.aborted is None:
        with database.sync_lock(SYNC_WAIT_SECONDS):
            finish(session.context("rag sync"))
        summary.take_failures(database, plan)
    summary.seconds = time.perf_counter() - start
    return summary


@dataclass
class _Runs:
    """Executes jobs in this process, all on one session."""

    definitions: dg.Definitions
    instance: dg.DagsterInstance
    session: SyncSession
    summary: SyncSummary
    tags: dict[str, str] = field(
        default_factory=lambda: {
            PLANNED_TAG: "rag sync",
            SYNC_TAG: str(uuid.uuid4()),
            HOST_TAG: socket.gethostname(),
            PROCESS_TAG: str(os.getpid()),
        }
    )

    def execute_range(self, job: str, one: StaleRange) -> None:
        """Run a job on a range of documents, unless the sync has ended."""
        if self.summary.aborted is None:
            tags = {RANGE_START_TAG: one.first, RANGE_END_TAG: one.last, FILES_TAG: one.files}
            self.execute(job, tags=tags)

    def execute(
        self,
        job: str,
        *,
        config: Mapping[str, object] | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        """Run a job; an error that is not a single document's ends the sync (`aborted`)."""
        record = self.session.record
        record.error = None
        tried = len(record.documents) + len(record.relational)
        result = self.definitions.resolve_job_def(job).execute_in_process(
            instance=self.instance,
            run_config={**QUIET, **(config or {})},
            tags={**self.tags, **(tags or {})},
            raise_on_error=False,
            resources={"session": GivenSession(self.session)},
        )
        self.summary.runs.append(result.run_id)
        has_tried = len(record.documents) + len(record.relational) > tried
        if not result.success and (record.error is not None or not has_tried):
            self.summary.aborted = _run_error(record.error, result)


def _sync_documents(run: _Runs, settings: Settings, plan: SyncPlan, wanted: set[str]) -> None:
    """Do documents, a range of partitions a run.

    Of several ranges, all documents become searchable by words before the first one's vectors are
    made: each range is then done twice.
    """
    ranges = stale_ranges(run.instance, settings, plan, wanted)
    if len(ranges) <= 1 or settings.sync.wait_vectors:
        for one in ranges:
            run.execute_range(documents_job.name, one)
        return
    for one in ranges:
        run.execute_range(words_job.name, one)
    landed = {one.source_hash for one in run.session.record.documents if one.error is None}
    for one in stale_ranges(run.instance, settings, plan, landed):
        run.execute_range(vectors_job.name, one)


def _sync_databases(run: _Runs) -> None:
    """Bring the rows of all relational sources up to date; a database that fails does so alone."""
    databases = relational_range(run.instance)
    if databases is None:
        return
    tags = {RANGE_START_TAG: databases[0], RANGE_END_TAG: databases[1]}
    run.execute(relational_job.name, tags=tags)


def _end_killed_runs(instance: dg.DagsterInstance) -> set[str]:
    """Mark runs of `rag sync` processes that were killed as failed.

    Dagster cannot know that they are gone, and would count them against its limit of runs for ever.
    Returns the partitions of which they were to tell and did not: their documents may have landed.
    """
    lost: set[str] = set()
    running = dg.RunsFilter(
        statuses=[dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED],
        tags={PLANNED_TAG: "rag sync", HOST_TAG: socket.gethostname()},
    )
    for run in instance.get_runs(running):
        if not psutil.pid_exists(int(run.tags.get(PROCESS_TAG, "0"))):
            lost |= _partitions(instance, run, dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED)
            lost -= _partitions(instance, run, dg.DagsterEventType.ASSET_MATERIALIZATION)
            instance.report_run_failed(run, "the process of `rag sync` was killed")
    return lost


def _partitions(
    instance: dg.DagsterInstance, run: dg.DagsterRun, kind: dg.DagsterEventType
) -> set[str]:
    """Return the partitions of a run's events about the last stage."""
    events = [
        record.event_log_entry.dagster_event
        for record in instance.get_records_for_run(run.run_id, of_type=kind).records
    ]
    last = dg.AssetKey(STAGES[-1])
    return {one.partition for one in events if one and one.asset_key == last and one.partition}


def _run_error(error: BaseException | None, result: dg.ExecuteInProcessResult) -> str:
    """Return the error that ended a run, in one line."""
    if isinstance(error, RagError):
        return str(error).splitlines()[0]
    if error is not None:
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return f"the Dagster run {result.run_id} failed; see it in the UI (`make dev`)"
