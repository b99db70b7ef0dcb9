"""The four stages of a document, as one multi-asset over the content partitions.

One asset function, because only so does a corrupt file fail alone: with separate assets, one failed
partition skips everything downstream of a whole range.
"""

from collections.abc import Iterator
from functools import partial

import dagster as dg
from dagster_pandera import pandera_schema_to_dagster_type

from rag_pipeline.assets.dagster_events import (
    READABLE_CHECK,
    VECTORS_CHECK,
    earlier_metadata,
    failure_text,
    outcome_events,
)
from rag_pipeline.assets.locks import waiting_lock
from rag_pipeline.assets.partitions import PLANNED_TAG, SOURCE_HASHES, WORDS_TAG
from rag_pipeline.assets.source_scan import sources
from rag_pipeline.assets.syncs import earlier_runs
from rag_pipeline.frames import Blocks, Chunks, StructuredBlocks
from rag_pipeline.resources import SessionSource
from rag_pipeline.sync.documents.execute import process_documents
from rag_pipeline.sync.finish import finish
from rag_pipeline.sync.planning.estimate import check_cost
from rag_pipeline.sync.planning.fingerprints import (
    BLOCKS,
    CHUNKS,
    CODE_VERSIONS,
    EMBEDDINGS,
    STAGES,
    STRUCTURE,
)

DESCRIPTIONS = {
    BLOCKS: "Text blocks of the document in reading order, with page, box and font.",
    STRUCTURE: "Every block with its role, heading level and breadcrumb trail, by rules.",
    CHUNKS: "Chunks that keep procedures, lists and tables whole, each under its trail.",
    EMBEDDINGS: "Chunks and search vectors in Postgres, and a vector for every chunk.",
}
KINDS = {
    BLOCKS: {"pandas", "parquet"},
    STRUCTURE: {"pandas", "parquet"},
    CHUNKS: {"pandas", "parquet"},
    EMBEDDINGS: {"postgres"},
}
SCHEMAS = {BLOCKS: Blocks, STRUCTURE: StructuredBlocks, CHUNKS: Chunks}


def _spec(stage: str) -> dg.AssetSpec:
    index = STAGES.index(stage)
    schema = SCHEMAS.get(stage)
    metadata = (
        {"dagster/column_schema": pandera_schema_to_dagster_type(schema).metadata["schema"]}
        if schema
        else {}
    )
    return dg.AssetSpec(
        stage,
        deps=[STAGES[index - 1] if index else sources],
        description=DESCRIPTIONS[stage],
        skippable=True,
        code_version=CODE_VERSIONS[stage],
        group_name="documents",
        kinds=KINDS[stage],
        owners=["team:data-engineering"],
        metadata=metadata,
    )


@dg.multi_asset(
    name="documents",
    specs=[_spec(stage) for stage in STAGES],
    check_specs=[
        dg.AssetCheckSpec(
            READABLE_CHECK,
            asset=BLOCKS,
            partitions_def=SOURCE_HASHES,
            description="The file can be opened and read.",
        ),
        dg.AssetCheckSpec(
            VECTORS_CHECK,
            asset=EMBEDDINGS,
            partitions_def=SOURCE_HASHES,
            description="The document is found by meaning too: none of its chunks lacks a vector.",
        ),
    ],
    partitions_def=SOURCE_HASHES,
    can_subset=True,
    backfill_policy=dg.BackfillPolicy.single_run(),
)
def documents(
    context: dg.AssetExecutionContext, session: dg.ResourceParam[SessionSource]
) -> Iterator[dg.AssetMaterialization | dg.AssetObservation | dg.AssetCheckEvaluation]:
    """Bring the run's partitions up to date; each lands, or fails, alone."""
    keys = list(context.partition_keys)
    if not keys:
        raise dg.Failure(
            "The partition range is empty: its start lies after its end.", allow_retries=False
        )
    wanted = tuple(stage for stage in STAGES if dg.AssetKey(stage) in context.selected_asset_keys)
    failures: dict[str, str] = {}
    earlier = partial(earlier_metadata, context.instance)
    with session.open() as opened, waiting_lock(opened.database, context):
        run = opened.context(context.run_id, earlier_runs(context.instance, context.run))
        if PLANNED_TAG not in context.run.tags:
            check_cost(run, keys)
        landed = False
        words_only = WORDS_TAG in context.run.tags
        for outcome in process_documents(run, keys, wanted, words_only=words_only):
            if outcome.error is not None:
                failures[outcome.source_hash] = outcome.error
            opened.record.documents.append(outcome)
            landed = landed or any(report.stage == EMBEDDINGS for report in outcome.done)
            yield from outcome_events(outcome, wanted, earlier)
        # `rag sync` finishes once, after its last run.
        if landed and PLANNED_TAG not in context.run.tags:
            finish(run)
    context.log.info(f"{len(keys) - len(failures)} documents up to date, {len(failures)} failed")
    if failures:
        raise dg.Failure(
            failure_text(list(failures.values()), len(keys)),
            metadata={
                "failed": dg.MetadataValue.md(
                    "\n".join(f"- `{key[:12]}` {reason}" for key, reason in failures.items())
                )
            },
            allow_retries=False,
        )
