"""Outcomes of the library as Dagster events: materializations, checks, failures, their metadata."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import dagster as dg

from rag_pipeline.sync.documents.document_jobs import Outcome
from rag_pipeline.sync.documents.stage_tasks import StageReport
from rag_pipeline.sync.planning.fingerprints import (
    BLOCKS,
    CODE_VERSIONS,
    EMBEDDINGS,
    STAGES,
    data_version,
)
from rag_pipeline.sync.planning.plan import SourceChanges
from rag_pipeline.text import one_line

READABLE_CHECK = "document_is_readable"
VECTORS_CHECK = "every_chunk_has_a_vector"
OUTLINE_LINES = 200
NAMED = 3
"""Files named in a message."""
FILES = 25
"""Named of each kind of change."""
MARKDOWN = frozenset("\\`*_{}[]()<>#+-.!|~&$")
CHUNK_COLUMNS = dg.TableSchema(
    columns=[
        dg.TableColumn("chunk", "int", description="Position in the document"),
        dg.TableColumn("trail", "string", description="Headings above it"),
        dg.TableColumn("kind", "string", description="What it mostly holds"),
        dg.TableColumn("tokens", "int", description="In the embedding model's vocabulary"),
        dg.TableColumn("pages", "string", description="First and last page"),
    ]
)


def failure_text(failures: Sequence[str], tried: int) -> str:
    """Return the message of a run in which documents failed, with their files and reasons."""
    if len(failures) == tried == 1:
        return failures[0]
    named = "; ".join(failures[:NAMED])
    more = f"; {len(failures) - NAMED} more" if len(failures) > NAMED else ""
    return f"{len(failures)} of {tried} documents failed; the others landed: {named}{more}"


def earlier_metadata(
    instance: dg.DagsterInstance, stage: str, source_hash: str
) -> Mapping[str, dg.MetadataValue[Any]]:
    """Return the metadata of a partition's last materialization; empty if there is none."""
    wanted = dg.AssetRecordsFilter(dg.AssetKey(stage), asset_partitions=[source_hash])
    for record in instance.fetch_materializations(wanted, limit=1).records:
        if record.asset_materialization is not None:
            return record.asset_materialization.metadata
    return {}


def outcome_events(
    outcome: Outcome,
    wanted: tuple[str, ...],
    earlier: Callable[[str, str], Mapping[str, dg.MetadataValue[Any]]] = lambda *_: {},
) -> Iterator[dg.AssetMaterialization | dg.AssetObservation | dg.AssetCheckEvaluation]:
    """Yield the events of one document: a materialization for each wanted stage that is current.

    A reused stage is materialized as well: in a run that fails, a partition without an event would
    turn red. `earlier(stage, source_hash)` is what its last event showed, which it goes on showing.
    """
    done = {report.stage: report for report in outcome.done}
    for stage in wanted:
        if stage in done or stage in outcome.reused:
            report = done.get(stage)
            kept = {} if report else earlier(stage, outcome.source_hash)
            yield _materialization(outcome, stage, report, kept)
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
        yield _check(outcome, BLOCKS, READABLE_CHECK, outcome.failed_stage == BLOCKS)
    if EMBEDDINGS in wanted:
        yield _check(outcome, EMBEDDINGS, VECTORS_CHECK, outcome.failed_stage is not None)


def _materialization(
    outcome: Outcome,
    stage: str,
    report: StageReport | None,
    kept: Mapping[str, dg.MetadataValue[Any]],
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
        description=outcome.name,
        partition=outcome.source_hash,
        metadata={**kept, **_metadata(outcome.name, stage, report)},
        tags=tags,
    )


def _metadata(file: str, stage: str, report: StageReport | None) -> dict[str, Any]:
    if report is None:
        return {"file": file, "result": "reused"}
    counts = dict(report.metadata)
    shown = {
        name: value
        for name, show in SHOWN.items()
        if (found := counts.pop(name, None)) and (value := show(found)) is not None
    }
    metadata: dict[str, Any] = {
        "file": file,
        "result": "computed",
        "seconds": round(report.seconds, 3),
        **counts,
    }
    rows = {"document_blocks": "blocks", "contextual_chunks": "chunks"}.get(stage)
    if rows in counts:
        metadata["dagster/partition_row_count"] = counts[rows]
    return {**metadata, **shown}


def changes_markdown(changes: SourceChanges) -> str:
    """What a scan found new, changed, renamed or gone, by file, as Markdown."""
    kinds = {
        "new": [file.uri for file in changes.new],
        "changed": [file.uri for _, file in changes.changed],
        "renamed": [f"{old} → {file.uri}" for old, file in changes.renamed],
        "copied": [file.uri for file in changes.copied],
        "removed": [file.uri for file in changes.removed],
    }
    lines: list[str] = []
    for kind, uris in kinds.items():
        if uris:
            lines.append(f"**{kind}** ({len(uris)})\n")
            lines.extend(f"- {_escaped(uri)}" for uri in uris[:FILES])
            lines.extend([f"- … {len(uris) - FILES} more"] if len(uris) > FILES else [])
            lines.append("")
    return "\n".join(lines).rstrip() or "none"


def _list_markdown(lines: list[str]) -> dg.MarkdownMetadataValue:
    return dg.MetadataValue.md("\n".join(f"- {_escaped(line)}" for line in lines))


def _files_markdown(names: list[str]) -> dg.MarkdownMetadataValue | None:
    """Only where several files have the content: `file` names the first."""
    return _list_markdown(names) if len(names) > 1 else None


def _previews_markdown(previews: list[str]) -> dg.MarkdownMetadataValue:
    pictures = " ".join(f"![page {page}]({uri})" for page, uri in enumerate(previews, start=1))
    return dg.MetadataValue.md(
        f"{pictures}\n\nBoxes: headings red, paragraphs grey, lists and steps green, tables "
        "violet, captions pink, warnings orange."
    )


def _chunks_table(rows: list[dict[str, Any]]) -> dg.TableMetadataValue:
    return dg.MetadataValue.table([dg.TableRecord(row) for row in rows], schema=CHUNK_COLUMNS)


def _escaped(text: object) -> str:
    """Text of a document or a name as Markdown that shows it: no markup, no link, no picture."""
    return "".join(f"\\{c}" if c in MARKDOWN else c for c in one_line(str(text)))


def _outline_markdown(outline: list[dict[str, object]]) -> dg.MarkdownMetadataValue:
    lines = [
        f"{'  ' * (int(str(item['level'])) - 1)}- {_escaped(item['title'])} (page {item['page']})"
        for item in outline[:OUTLINE_LINES]
    ]
    if len(outline) > OUTLINE_LINES:
        lines.append(f"- … {len(outline) - OUTLINE_LINES} more")
    return dg.MetadataValue.md("\n".join(lines))


SHOWN: dict[str, Callable[[Any], dg.MetadataValue[Any] | None]] = {
    "files": _files_markdown,
    "warnings": _list_markdown,
    "previews": _previews_markdown,
    "outline": _outline_markdown,
    "chunk rows": _chunks_table,
}
"""What is more than a number, and how it is shown."""


def _check(outcome: Outcome, stage: str, name: str, failed: bool) -> dg.AssetCheckEvaluation:
    return dg.AssetCheckEvaluation(
        asset_key=dg.AssetKey(stage),
        check_name=name,
        passed=not failed,
        partition=outcome.source_hash,
        severity=dg.AssetCheckSeverity.ERROR,
        blocking=False,
        metadata={"file": outcome.name, "failure": (outcome.error or "") if failed else "none"},
    )
