"""Metadata of events: what people see of a document, safe against its text."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg

from rag_pipeline.assets.dagster_events import (
    READABLE_CHECK,
    VECTORS_CHECK,
    changes_markdown,
    outcome_events,
)
from rag_pipeline.assets.freshness import GRACE, longest_gap, with_freshness
from rag_pipeline.assets.source_scan import sources
from rag_pipeline.settings import Settings
from rag_pipeline.store.source_tables import SourceFile
from rag_pipeline.sync.documents.document_jobs import Outcome
from rag_pipeline.sync.documents.stage_tasks import StageReport
from rag_pipeline.sync.planning.fingerprints import BLOCKS, CHUNKS, EMBEDDINGS, STAGES, STRUCTURE
from rag_pipeline.sync.planning.plan import SourceChanges


def _metadata(stage: str, metadata: dict[str, object]) -> dict[str, dg.MetadataValue[object]]:
    report = StageReport(stage, 1.25, {"pages": 3, **metadata})
    outcome = Outcome("abc", "a.pdf", dict.fromkeys(STAGES, "1:a:b"), done=[report])
    (event,) = (
        event
        for event in outcome_events(outcome, (stage,))
        if isinstance(event, dg.AssetMaterialization)
    )
    return dict(event.metadata)


def test_warnings_and_further_files_are_listed() -> None:
    shown = _metadata(
        BLOCKS, {"blocks": 9, "warnings": ["page 2 <b>"], "files": ["a.pdf", "b.pdf"]}
    )
    assert shown["warnings"].value == "- page 2 \\<b\\>"
    assert shown["files"].value == "- a\\.pdf\n- b\\.pdf"
    assert shown["dagster/partition_row_count"].value == 9
    alone = _metadata(BLOCKS, {"blocks": 9, "warnings": [], "files": ["a.pdf"]})
    assert {"warnings", "files"}.isdisjoint(alone)


def test_checks_say_which_stage_a_document_did_not_reach() -> None:
    def passed(outcome: Outcome) -> dict[str, bool]:
        return {
            event.check_name: event.passed
            for event in outcome_events(outcome, STAGES)
            if isinstance(event, dg.AssetCheckEvaluation)
        }

    whole = Outcome("abc", "a.pdf", dict.fromkeys(STAGES, "1:a:b"), reused=list(STAGES))
    assert passed(whole) == {READABLE_CHECK: True, VECTORS_CHECK: True}
    no_vectors = replace(whole, reused=[], failed_stage=EMBEDDINGS, error="refused")
    assert passed(no_vectors) == {READABLE_CHECK: True, VECTORS_CHECK: False}
    unreadable = replace(whole, reused=[], failed_stage=BLOCKS, error="damaged")
    assert passed(unreadable) == {READABLE_CHECK: False, VECTORS_CHECK: False}


def test_titles_of_the_outline_are_no_markdown() -> None:
    title = "[x](javascript:alert(1)) ![y](https://z.example)"
    outline = [{"level": 1, "title": title, "page": 3}]
    shown = _metadata(STRUCTURE, {"outline": outline, "previews": ["data:image/jpeg;base64,AA=="]})
    assert "](" not in str(shown["outline"].value)
    assert str(shown["outline"].value).endswith("(page 3)")
    assert str(shown["previews"].value).startswith("![page 1](data:image/jpeg;base64,AA==)")


def test_chunks_are_a_table() -> None:
    row = {"chunk": 0, "trail": "A > B", "kind": "text", "tokens": 7, "pages": "2–4"}
    table = _metadata(CHUNKS, {"chunks": 1, "tokens": 7, "chunk rows": [row]})["chunk rows"]
    assert isinstance(table, dg.TableMetadataValue)
    assert [record.data for record in table.records] == [row]
    assert [column.name for column in table.schema.columns] == list(row)


def _file(uri: str) -> SourceFile:
    return SourceFile(uri=uri, root="/m", source_hash="h", size=1, modified_ns=1)


def test_a_scan_says_what_changed() -> None:
    changes = SourceChanges(
        new=[_file(f"/m/{number}") for number in range(27)],
        renamed=[("/m/old", _file("/m/new_name"))],
    )
    lines = changes_markdown(changes).splitlines()
    assert lines[0] == "**new** (27)"
    assert lines[2:4] == ["- /m/0", "- /m/1"]
    assert "- … 2 more" in lines
    assert lines[-1] == "- /m/old → /m/new\\_name"
    assert changes_markdown(SourceChanges()) == "none"


def test_freshness_follows_the_schedule(tmp_path: Path) -> None:
    settings = Settings.load(tmp_path)
    assert longest_gap(settings) == timedelta(days=1)
    sync = settings.sync.model_copy(update={"schedule": "0 2 * * 1-5"})
    weekdays = settings.model_copy(update={"sync": sync})
    assert longest_gap(weekdays, datetime(2026, 1, 5, tzinfo=UTC)) == timedelta(days=3)
    (spec,) = with_freshness(sources, weekdays).specs
    assert spec.freshness_policy == dg.FreshnessPolicy.time_window(
        fail_window=timedelta(days=3) + GRACE
    )
