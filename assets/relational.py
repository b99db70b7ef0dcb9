"""The asset `relational_rows`: the rows of one database, one partition a source of rag.toml."""

import dagster as dg

from assets.sources import LOCK_WAIT_SECONDS
from rag_pipeline.errors import SettingsError
from rag_pipeline.relational.syncing import sync_relational
from resources import DatabaseResource, PipelineResource, SettingsResource

relational_sources = dg.DynamicPartitionsDefinition(name="relational_source")


def align_relational_partitions(instance: dg.DagsterInstance, names: list[str]) -> None:
    """Bring Dagster's partition keys to the sources that rag.toml names."""
    known = set(instance.get_dynamic_partitions("relational_source"))
    for gone in known - set(names):
        instance.delete_dynamic_partition("relational_source", gone)
    instance.add_dynamic_partitions("relational_source", sorted(set(names) - known))


@dg.asset(
    group_name="ingest",
    kinds={"postgres"},
    owners=["team:data-engineering"],
    partitions_def=relational_sources,
    code_version="1",
)
def relational_rows(
    context: dg.AssetExecutionContext,
    settings: SettingsResource,
    database: DatabaseResource,
    pipeline: PipelineResource,
) -> dg.MaterializeResult[None]:
    """Rows of a database with all that belongs to them; only what changed is embedded."""
    loaded = settings.load()
    found = [source for source in loaded.relational if source.name == context.partition_key]
    if not found:
        raise SettingsError(f"rag.toml has no relational source {context.partition_key}")
    with (
        database.open() as store,
        store.sync_lock(
            LOCK_WAIT_SECONDS, lambda: context.log.info("another sync is running: waiting for it")
        ),
    ):
        embedder = pipeline.context(store).embedder
        report = sync_relational(store, embedder, found[0], loaded.project_dir)
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": report.rows,
            "new": report.new,
            "changed": report.changed,
            "deleted": report.deleted,
            "unchanged": report.unchanged,
            "chunks written": report.chunks,
            "texts embedded": report.embedded,
        }
    )
