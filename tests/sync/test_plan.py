"""The plan: pure, complete, and empty once it was carried out."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from rag_pipeline.store.documents import DocumentState
from rag_pipeline.store.source_tables import SourceFile
from rag_pipeline.sync.planning.fingerprints import BLOCKS, CHUNKS, EMBEDDINGS, STAGES
from rag_pipeline.sync.planning.plan import partition_ranges, source_changes, sync_plan
from rag_pipeline.sync.sources.scan import Scan

ROOT = "/manuals"
FINGERPRINTS = {stage: f"1:settings:{stage}" for stage in STAGES}


def current(state: DocumentState) -> dict[str, str]:
    return FINGERPRINTS


def file(name: str, content: str, root: str = ROOT, modified_ns: int = 1) -> SourceFile:
    source_hash = hashlib.sha256(content.encode()).hexdigest()
    return SourceFile(f"{root}/{name}", root, source_hash, len(content), modified_ns)


def by_uri(*files: SourceFile) -> dict[str, SourceFile]:
    return {item.uri: item for item in files}


def scan_of(*files: SourceFile, roots: tuple[str, ...] = (ROOT,)) -> Scan:
    return Scan(files=list(files), roots=list(roots))


def test_new_changed_removed_unchanged() -> None:
    stored = by_uri(file("a", "1"), file("b", "2"), file("c", "3"))
    changes = source_changes(
        scan_of(file("a", "1"), file("b", "other"), file("d", "4")), stored, [ROOT]
    )
    old = hashlib.sha256(b"2").hexdigest()
    assert [(was, item.uri) for was, item in changes.changed] == [(old, "/manuals/b")]
    assert [item.uri for item in changes.new] == ["/manuals/d"]
    assert [item.uri for item in changes.removed] == ["/manuals/c"]
    assert changes.unchanged == 1


def test_rename_is_no_new_document() -> None:
    changes = source_changes(scan_of(file("new", "1")), by_uri(file("old", "1")), [ROOT])
    assert [(old, item.uri) for old, item in changes.renamed] == [("/manuals/old", "/manuals/new")]
    assert not changes.new
    assert not changes.removed
    assert changes.removed_uris == ["/manuals/old"]


def test_copy_keeps_the_original() -> None:
    changes = source_changes(
        scan_of(file("a", "1"), file("b", "1")), by_uri(file("a", "1")), [ROOT]
    )
    assert [item.uri for item in changes.copied] == ["/manuals/b"]
    assert changes.removed_uris == []


def test_a_root_that_was_not_looked_at_keeps_its_files() -> None:
    stored = by_uri(file("a", "1"), file("b", "2", root="/other"))
    changes = source_changes(scan_of(file("a", "1")), stored, [ROOT, "/other"])
    assert not changes


def test_a_forgotten_root_loses_its_files() -> None:
    stored = by_uri(file("a", "1"), file("b", "2", root="/other"))
    changes = source_changes(scan_of(file("a", "1")), stored, [ROOT])
    assert [item.uri for item in changes.removed] == ["/other/b"]


def test_a_file_that_another_root_covers_is_kept() -> None:
    stored = by_uri(file("sub/a", "1", root="/manuals"))
    forgotten = {uri: replace(item, root="/manuals/sub") for uri, item in stored.items()}
    assert not source_changes(scan_of(roots=("/other",)), forgotten, [ROOT, "/other"])


def test_files_below_an_unreadable_folder_are_kept() -> None:
    scan = Scan(files=[], roots=[ROOT], unreadable_uris=["/manuals/locked"])
    assert not source_changes(scan, by_uri(file("locked/a", "1")), [ROOT])


def test_an_unreadable_file_is_kept() -> None:
    scan = Scan(files=[], roots=[ROOT], unreadable_uris=["/manuals/a"])
    assert not source_changes(scan, by_uri(file("a", "1")), [ROOT])


NAMES = st.sampled_from(["a", "b", "c", "d", "e"])
FOLDERS = st.dictionaries(NAMES, st.sampled_from(["1", "2", "3"]), max_size=5)


@given(before=FOLDERS, after=FOLDERS)
def test_a_carried_out_plan_leaves_nothing_to_plan(
    before: dict[str, str], after: dict[str, str]
) -> None:
    stored = by_uri(*(file(name, content) for name, content in before.items()))
    found = scan_of(*(file(name, content) for name, content in after.items()))
    changes = source_changes(found, stored, [ROOT])
    for uri in changes.removed_uris:
        del stored[uri]
    stored.update(by_uri(*changes.upserts))
    assert stored == by_uri(*found.files)
    assert not source_changes(found, stored, [ROOT])


def ready(source_hash: str = "a" * 64, **changes: object) -> DocumentState:
    values = {"status": "ready", "fingerprints": dict(FINGERPRINTS), **changes}
    return DocumentState(source_hash, **values)  # type: ignore[arg-type]


def test_a_current_document_is_left_alone() -> None:
    plan = sync_plan([ready()], current, 5)
    assert plan.current == 1
    assert not plan


def test_a_changed_stage_makes_itself_and_nothing_above_stale() -> None:
    changed = {**FINGERPRINTS, CHUNKS: "1:others:x", EMBEDDINGS: "1:settings:y"}
    plan = sync_plan([ready()], lambda _: changed, 5)
    assert plan.stale == {"a" * 64: CHUNKS}
    assert plan.why == {"a" * 64: "the settings of contextual_chunks changed"}


def test_rows_deleted_by_hand_are_noticed() -> None:
    for missing in ("has_chunks", "has_vectors"):
        plan = sync_plan([ready(**{missing: False})], current, 5)
        assert plan.stale == {"a" * 64: EMBEDDINGS}


def test_a_lasting_failure_is_not_tried_again_until_the_code_changes() -> None:
    failed = ready(
        status="failed",
        fingerprints={},
        failure_stage=BLOCKS,
        failure_permanent=True,
        failure_fingerprint=FINGERPRINTS[BLOCKS],
    )
    plan = sync_plan([failed], current, 5)
    assert plan.failed == [failed]
    assert not plan.stale
    newer = {stage: f"2:settings:{stage}" for stage in STAGES}
    assert sync_plan([failed], lambda _: newer, 5).stale == {"a" * 64: BLOCKS}


def test_a_passing_failure_is_tried_again() -> None:
    failed = ready(
        status="failed",
        fingerprints={k: v for k, v in FINGERPRINTS.items() if k != EMBEDDINGS},
        failure_stage=EMBEDDINGS,
        failure_permanent=False,
        failure_fingerprint=FINGERPRINTS[EMBEDDINGS],
    )
    assert sync_plan([failed], current, 5).stale == {"a" * 64: EMBEDDINGS}


def test_a_document_that_fails_again_and_again_waits_for_a_retry() -> None:
    failed = ready(
        status="failed",
        fingerprints={},
        failure_stage=BLOCKS,
        failure_permanent=False,
        failure_fingerprint=FINGERPRINTS[BLOCKS],
        failure_count=4,
    )
    assert sync_plan([failed], current, 5).stale == {"a" * 64: BLOCKS}
    again = replace(failed, failure_count=5)
    assert sync_plan([again], current, 5).failed == [again]


def test_ranges_are_contiguous_and_bounded() -> None:
    order = list("abcdefgh")
    assert partition_ranges(order, ["b", "c", "e", "f", "g"], 2) == [
        ("b", "c", 2),
        ("e", "f", 2),
        ("g", "g", 1),
    ]


@given(
    order=st.lists(st.integers(0, 30).map(str), unique=True),
    stale=st.sets(st.integers(0, 30).map(str)),
    size=st.integers(1, 5),
)
def test_ranges_hold_just_the_stale_partitions(
    order: list[str], stale: set[str], size: int
) -> None:
    covered: list[str] = []
    for first, last, count in partition_ranges(order, stale, size):
        keys = order[order.index(first) : order.index(last) + 1]
        assert len(keys) == count <= size
        covered += keys
    assert covered == [key for key in order if key in stale]
