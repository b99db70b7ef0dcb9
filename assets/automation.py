"""Jobs, the nightly schedule, and the sensor that requests what a scan made stale."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

import dagster as dg

from rag_pipeline.assets.partitions import PLANNED_TAG, RELATIONAL_SOURCES, SOURCE_HASHES, WORDS_TAG
from rag_pipeline.assets.relational_asset import relational_job
from rag_pipeline.assets.source_scan import sources
from rag_pipeline.assets.syncs import SYNC_TAG
from rag_pipeline.errors import SettingsError
from rag_pipeline.resources import SessionSource
from rag_pipeline.settings import Settings
from rag_pipeline.sync.planning.fingerprints import STAGES
from rag_pipeline.sync.planning.plan import SyncPlan, partition_ranges
from rag_pipeline.sync.planning.refresh import current_plan
from rag_pipeline.sync.sources.places import file_name

RANGE_START_TAG = "dagster/asset_partition_range_start"
RANGE_END_TAG = "dagster/asset_partition_range_end"
FILES_TAG = "rag/files"
"""On runs: which files they are about."""
NAMED = 3
SCANS_AT_ONCE = 100

sources_job = dg.define_asset_job(
    "sources_job", selection=[sources], description="Scan the source folders."
)
documents_job = dg.define_asset_job(
    "documents_job",
    selection=dg.AssetSelection.assets(*STAGES),
    description="Bring documents up to date: blocks, structure, chunks, embeddings.",
)

words_job = dg.define_asset_job(
    "words_job",
    selection=dg.AssetSelection.assets(*STAGES[:-1]),
    tags={WORDS_TAG: "yes"},
    description="Make documents searchable by words; `vectors_job` does the rest.",
)
vectors_job = dg.define_asset_job(
    "vectors_job",
    selection=dg.AssetSelection.assets(STAGES[-1]),
    description="Give documents that are searchable by words their vectors.",
)


def nightly_schedule(settings: Settings) -> dg.ScheduleDefinition:
    """Return the schedule that starts a sync by scanning the sources.

    It only requests a run: an evaluation has a time limit, so nothing is hashed here.
    """
    try:
        return dg.ScheduleDefinition(
            name="nightly_sync",
            job=sources_job,
            cron_schedule=settings.sync.schedule,
            execution_timezone=settings.sync.timezone,
            default_status=dg.DefaultScheduleStatus.RUNNING,
            description="Scans the sources; the sensor then requests what became stale.",
        )
    except dg.DagsterInvalidDefinitionError as error:
        raise SettingsError(
            f"sync.schedule or sync.timezone is wrong: {error}", hint='write e.g. "0 2 * * *"'
        ) from error


class StaleRange(NamedTuple):
    """A contiguous range of partitions that are to be done."""

    first: str
    last: str
    documents: int
    files: str
    """Names of its first files, and how many more there are: partitions are named by hashes."""


def stale_ranges(
    instance: dg.DagsterInstance,
    settings: Settings,
    plan: SyncPlan,
    wanted: Collection[str] | None = None,
) -> list[StaleRange]:
    """Return the ranges of partitions that are to be done, in Dagster's order.

    `wanted`: other partitions than those that are stale by the plan.
    """
    assert SOURCE_HASHES.name is not None
    order = instance.get_dynamic_partitions(SOURCE_HASHES.name)
    ranges = partition_ranges(
        order, plan.stale if wanted is None else wanted, settings.sync.run_size
    )
    at = {key: index for index, key in enumerate(order)}
    found = []
    for first, last, count in ranges:
        keys = order[at[first] : at[first] + min(NAMED, count)]
        names = [file_name(plan.states[key].uris[0]) for key in keys if key in plan.states]
        more = [f"{count - len(names)} more"] if count > len(names) else []
        found.append(StaleRange(first, last, count, ", ".join([*names, *more])))
    return found


def _is_left_to_rag_sync(context: dg.SensorEvaluationContext) -> bool:
    """Tell whether every scan since the last evaluation was one of `rag sync`.

    The sensor is handed the last scan only, and a nightly one may have come just before it.
    """
    since = dg.AssetRecordsFilter(
        sources.key, after_storage_id=int(context.cursor) if context.cursor else None
    )
    scans = context.instance.fetch_materializations(since, limit=SCANS_AT_ONCE).records
    others = [
        scan
        for scan in scans
        if PLANNED_TAG
        not in ((scan.asset_materialization and scan.asset_materialization.tags) or {})
    ]
    runs = [context.instance.get_run_by_id(run_id) for run_id in {scan.run_id for scan in others}]
    return all(run is not None and PLANNED_TAG in run.tags for run in runs)


def relational_range(instance: dg.DagsterInstance) -> tuple[str, str] | None:
    """Return the range of all relational sources; None where there are none."""
    assert RELATIONAL_SOURCES.name is not None
    keys = instance.get_dynamic_partitions(RELATIONAL_SOURCES.name)
    return (keys[0], keys[-1]) if keys else None


@dg.asset_sensor(
    asset_key=sources.key,
    jobs=[documents_job, relational_job],
    minimum_interval_seconds=10,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="After each scan of the sources, requests the stale documents, and the databases.",
)
def request_stale_documents(
    context: dg.SensorEvaluationContext,
    asset_event: dg.EventLogEntry,
    session: dg.ResourceParam[SessionSource],
) -> Iterator[dg.RunRequest | dg.SkipReason]:
    """Yield one run request per contiguous range of stale partitions, and one for all databases."""
    if _is_left_to_rag_sync(context):
        yield dg.SkipReason("the scan belongs to `rag sync`, which does the rest itself")
        return
    with session.open() as opened:
        plan = current_plan(opened.settings, opened.database)
    ranges = stale_ranges(context.instance, opened.settings, plan)
    databases = relational_range(context.instance)
    if not ranges and databases is None:
        yield dg.SkipReason("everything is up to date")
    sync = {SYNC_TAG: asset_event.run_id}
    if databases is not None:
        yield dg.RunRequest(
            run_key=f"{asset_event.run_id}:{RELATIONAL_SOURCES.name}",
            job_name=relational_job.name,
            tags={**sync, RANGE_START_TAG: databases[0], RANGE_END_TAG: databases[1]},
        )
    for first, last, count, files in ranges:
        yield dg.RunRequest(
            run_key=f"{asset_event.run_id}:{first}",
            job_name=documents_job.name,
            tags={
                **sync,
                RANGE_START_TAG: first,
                RANGE_END_TAG: last,
                "rag/documents": str(count),
                FILES_TAG: files,
            },
        )
