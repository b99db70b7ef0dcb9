"""The asset `relational_rows`: rows of databases, one partition a source of rag.toml."""

from collections.abc import Iterator
from typing import Any

import dagster as dg
from pydantic import Field

from rag_pipeline.assets.locks import waiting_lock
from rag_pipeline.assets.partitions import PLANNED_TAG, RELATIONAL_SOURCES
from rag_pipeline.assets.syncs import earlier_runs
from rag_pipeline.errors import SettingsError
from rag_pipeline.relational.rows.row_report import RelationalReport
from rag_pipeline.resources import SessionSource
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.sync.finish import finish

ASSET = "relational_rows"


class RowsConfig(dg.Config):
    """How rows that are gone are taken."""

    force: bool = Field(
        default=False, description="Delete the stored rows of a root table that is empty now"
    )


@dg.multi_asset(
    name=ASSET,
    specs=[
        dg.AssetSpec(
            ASSET,
            description="Rows of a database with all that belongs to them; only what changed is "
            "embedded.",
            group_name="ingest",
            kinds={"postgres"},
            owners=["team:data-engineering"],
            code_version="2",
            skippable=True,
        )
    ],
    partitions_def=RELATIONAL_SOURCES,
    backfill_policy=dg.BackfillPolicy.single_run(),
)
def relational_rows(
    context: dg.AssetExecutionContext,
    config: RowsConfig,
    session: dg.ResourceParam[SessionSource],
) -> Iterator[dg.AssetMaterialization]:
    """Bring the run's sources up to date; each lands, or fails, alone."""
    from rag_pipeline.relational.rows.row_sync import sync_relational_sources

    with session.open() as opened, waiting_lock(opened.database, context):
        by_name = {source.name: source for source in opened.settings.relational}
        if unknown := sorted(set(context.partition_keys) - set(by_name)):
            raise SettingsError(f"rag.toml has no relational source {', '.join(unknown)}")
        chosen = [by_name[key] for key in context.partition_keys]
        run = opened.context(context.run_id, earlier_runs(context.instance, context.run))
        reports = sync_relational_sources(run, chosen, force=config.force)
        opened.record.relational.extend(reports)
        # `rag sync` finishes once, after its last run.
        if PLANNED_TAG not in context.run.tags:
            finish(run, after_scan=True)
    for report in reports:
        if report.error is None:
            yield dg.AssetMaterialization(
                ASSET, partition=report.source, metadata=rows_metadata(report)
            )
    if failed := {report.source: report.why for report in reports if report.why}:
        raise dg.Failure(
            f"{len(failed)} of {len(reports)} relational sources failed; the others landed",
            metadata={"failed": dg.MetadataValue.json(failed)},
            allow_retries=False,
        )


def forget_databases(settings: Settings, database: Database) -> None:
    """Delete what is stored of sources that rag.toml does not name any more."""
    from rag_pipeline.relational.rows.row_sync import forget_relational

    forget_relational(database, settings)


def rows_metadata(report: RelationalReport) -> dict[str, Any]:
    """Return the counts of a source, as the UI shows them."""
    counts = report.counts()
    notes = "\n".join(f"- {note}" for note in report.notes) or "none"
    return {"dagster/row_count": counts.pop("rows"), **counts, "notes": dg.MetadataValue.md(notes)}


relational_job = dg.define_asset_job(
    "relational_job",
    selection=[relational_rows],
    description="Bring the rows of relational sources up to date.",
)
