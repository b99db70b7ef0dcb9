"""Outcomes of the library as Dagster events: materializations, checks, failures, their metadata."""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from rag_pipeline.sync.execute import Outcome
from rag_pipeline.sync.fingerprints import BLOCKS, CODE_VERSIONS, STAGES, data_version
from rag_pipeline.sync.stages import StageReport

READABLE_CHECK = "document_is_readable"
OUTLINE_LINES = 200


def outcome_events(
    outcome: Outcome, wanted: tuple[str, ...]
) -> Iterator[dg.AssetMaterialization | dg.AssetObservation | dg.AssetCheckEvaluation]:
    """Yield the events of one document: a materialization for each wanted stage that is current.

    A reused stage is materialized as well: in a run that fails, a partition without an event would
    turn red.
    """
    done = {report.stage: report for report in outcome.done}
    for stage in wanted:
        if stage in done or stage in outcome.reused:
            yield _materialization(outcome, stage, done.get(stage))
    if outcome.error is not None and outcome.failed_stage is not None:
        # The partition turns red in every stage that has no event: each says why.
        for stage in wanted:
            if stage not in done and stage not in outcome.reused:
                at = "" if stage == outcome.failed_stage else f"{outcome.failed_stage} failed: "
                yield dg.AssetObservation(
                    stage,
                    partition=outcome.source_hash,
                    description=f"{at}{outcome.error}",
                    metadata={"file": outcome.name, "failure": f"{at}{outcome.error}"},
                )
    if BLOCKS in wanted:
        yield _readable_check(outcome)


def _materialization(
    outcome: Outcome, stage: str, report: StageReport | None
) -> dg.AssetMaterialization:
    fingerprints = outcome.fingerprints
    tags = {
        "dagster/code_version": CODE_VERSIONS[stage],
        "dagster/data_version": data_version(outcome.source_hash, fingerprints[stage]),
    }
    index = STAGES.index(stage)
    upstream = STAGES[index - 1] if index else "sources"
    tags[f"dagster/input_data_version/{upstream}"] = (
        data_version(outcome.source_hash, fingerprints[upstream]) if index else "content-addressed"
    )
    tags[f"dagster/input_event_pointer/{upstream}"] = "NULL"
    return dg.AssetMaterialization(
        stage,
        partition=outcome.source_hash,
        metadata=_metadata(outcome.name, stage, report),
        tags=tags,
    )


def _metadata(file: str, stage: str, report: StageReport | None) -> dict[str, Any]:
    if report is None:
        return {"file": file, "result": "reused"}
    counts = {key: value for key, value in report.metadata.items() if key != "outline"}
    metadata: dict[str, Any] = {
        "file": file,
        "result": "computed",
        "seconds": round(report.seconds, 3),
        **counts,
    }
    rows = {"document_blocks": "blocks", "contextual_chunks": "chunks"}.get(stage)
    if rows in counts:
        metadata["dagster/partition_row_count"] = counts[rows]
    if outline := report.metadata.get("outline"):
        metadata["outline"] = dg.MetadataValue.md(_outline_markdown(outline))
    return metadata


def _outline_markdown(outline: list[dict[str, object]]) -> str:
    lines = [
        f"{'  ' * (int(str(item['level'])) - 1)}- {item['title']} (page {item['page']})"
        for item in outline[:OUTLINE_LINES]
    ]
    if len(outline) > OUTLINE_LINES:
        lines.append(f"- … {len(outline) - OUTLINE_LINES} more")
    return "\n".join(lines)


def _readable_check(outcome: Outcome) -> dg.AssetCheckEvaluation:
    failed = outcome.failed_stage == BLOCKS
    return dg.AssetCheckEvaluation(
        asset_key=dg.AssetKey(BLOCKS),
        check_name=READABLE_CHECK,
        passed=not failed,
        partition=outcome.source_hash,
        severity=dg.AssetCheckSeverity.ERROR,
        blocking=False,
        metadata={"file": outcome.name, "failure": (outcome.error or "") if failed else "none"},
    )
