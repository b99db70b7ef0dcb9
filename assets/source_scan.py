"""The asset `sources`: scans the folders and keeps one partition per distinct content."""

import dagster as dg
from pydantic import Field

from rag_pipeline.assets.locks import waiting_lock
from rag_pipeline.assets.partitions import PLANNED_TAG
from rag_pipeline.assets.relational_asset import forget_databases
from rag_pipeline.assets.scan_event import DATA_VERSION, align, scan_metadata
from rag_pipeline.resources import SessionSource
from rag_pipeline.sync.finish import finish
from rag_pipeline.sync.planning.estimate import check_cost
from rag_pipeline.sync.planning.refresh import refresh_sources
from rag_pipeline.sync.workers.worker_process import start_forkserver


class ScanConfig(dg.Config):
    """Which folders to look at."""

    roots: list[str] = Field(default=[], description="Only these known roots; empty = all")
    verify: bool = Field(
        default=False, description="Read every file again, whatever its size and time say"
    )


@dg.asset(
    group_name="ingest",
    kinds={"file", "postgres"},
    owners=["team:data-engineering"],
    code_version="1",
)
def sources(
    context: dg.AssetExecutionContext,
    config: ScanConfig,
    session: dg.ResourceParam[SessionSource],
) -> dg.MaterializeResult[None]:
    """Every file of the source folders, with the SHA-256 of its content.

    Adds a partition for each new content and deletes those of vanished files, with their rows.
    Finishes what a killed sync left: corpus statistics and the vector index. Fails where bringing
    all documents up to date would cost more than `sync.max_cost_usd`: nothing is requested then.
    """
    with session.open() as opened, waiting_lock(opened.database, context):
        settings, store = opened.settings, opened.database
        result = opened.record.scan = refresh_sources(
            settings, store, config.roots, verify=config.verify
        )
        if PLANNED_TAG in context.run.tags and (result.changes.new or result.changes.changed):
            start_forkserver()  # `rag sync` goes on in this process, and there is work
        added, deleted = align(context.instance, settings, store)
        forget_databases(settings, store)
        run = opened.context(context.run_id)
        finish(run, after_scan=True)
        if PLANNED_TAG not in context.run.tags:
            # The whole plan, before the sensor splits it; an evaluation of that has a time limit.
            check_cost(run, None)
    for problem in result.problems:
        context.log.warning(problem)
    return dg.MaterializeResult(
        data_version=dg.DataVersion(DATA_VERSION),
        metadata=scan_metadata(result, added, deleted),
    )
