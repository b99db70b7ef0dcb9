"""What is to be done: pure functions of what the sources hold, what the store holds, and the code.

No connection, no clock, no Dagster: the same input gives the same plan, and a plan that was carried
out leaves nothing to plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rag_pipeline.store.documents import DocumentState
from rag_pipeline.store.source_tables import SourceFile
from rag_pipeline.sync.planning.fingerprints import EMBEDDINGS, STAGES, why_stale
from rag_pipeline.sync.sources.places import is_below
from rag_pipeline.sync.sources.scan import Scan


@dataclass(frozen=True)
class SourceChanges:
    """How the files differ from what the store knows."""

    new: list[SourceFile] = field(default_factory=list)
    """Files with content that the store has not seen."""
    changed: list[tuple[str, SourceFile]] = field(default_factory=list)
    """(old hash, file): known files with other content."""
    renamed: list[tuple[str, SourceFile]] = field(default_factory=list)
    """(old URI, file): known content under another name, the old one gone."""
    copied: list[SourceFile] = field(default_factory=list)
    """Known content under a further name."""
    touched: list[SourceFile] = field(default_factory=list)
    """Same content; size, time, root, tags or readers differ."""
    removed: list[SourceFile] = field(default_factory=list)
    """Files that are gone."""
    unchanged: int = 0

    @property
    def upserts(self) -> list[SourceFile]:
        """All rows to be written."""
        changed = [file for _, file in (*self.changed, *self.renamed)]
        return [*self.new, *changed, *self.copied, *self.touched]

    @property
    def superseded(self) -> list[tuple[str, str]]:
        """(old hash, new hash) of the changed files."""
        return [(old, file.source_hash) for old, file in self.changed]

    @property
    def removed_uris(self) -> list[str]:
        """All rows to be deleted."""
        return [*(old for old, _ in self.renamed), *(file.uri for file in self.removed)]

    def __bool__(self) -> bool:
        return bool(self.upserts or self.removed_uris)

    def counts(self) -> dict[str, int]:
        """Return the number of files of each kind."""
        return {
            "new": len(self.new),
            "changed": len(self.changed),
            "renamed": len(self.renamed),
            "copied": len(self.copied),
            "removed": len(self.removed),
            "unchanged": self.unchanged + len(self.touched),
        }


def source_changes(
    scan: Scan, stored: Mapping[str, SourceFile], known_roots: Iterable[str]
) -> SourceChanges:
    """Compare a scan with the store's files (by URI).

    A stored file counts as removed if its root was looked at and the file was not found, or if no
    known root covers it any more. Roots that were not looked at keep their files.
    """
    found = {file.uri: file for file in scan.files}
    looked_at, known, unreadable = set(scan.roots), set(known_roots), set(scan.unreadable_uris)
    gone = {
        uri: file
        for uri, file in stored.items()
        if uri not in found
        and not _is_in(uri, unreadable)
        and (file.root in looked_at or not (file.root in known or _is_in(uri, known)))
    }
    gone_by_hash: dict[str, list[str]] = {}
    for uri, file in gone.items():
        gone_by_hash.setdefault(file.source_hash, []).append(uri)
    stored_hashes = {file.source_hash for file in stored.values()}

    changes = SourceChanges()
    unchanged = 0
    for file in scan.files:
        before = stored.get(file.uri)
        if before == file:
            unchanged += 1
        elif before is not None:
            if before.source_hash == file.source_hash:
                changes.touched.append(file)
            else:
                changes.changed.append((before.source_hash, file))
        elif gone_by_hash.get(file.source_hash):
            changes.renamed.append((gone_by_hash[file.source_hash].pop(), file))
        elif file.source_hash in stored_hashes:
            changes.copied.append(file)
        else:
            changes.new.append(file)
    moved = {old for old, _ in changes.renamed}
    changes.removed.extend(file for uri, file in gone.items() if uri not in moved)
    return SourceChanges(
        changes.new,
        changes.changed,
        changes.renamed,
        changes.copied,
        changes.touched,
        changes.removed,
        unchanged,
    )


def _is_in(uri: str, places: set[str]) -> bool:
    """Tell whether a URI is one of these or lies in one of them."""
    return any(is_below(uri, place) for place in places)


@dataclass(frozen=True)
class SyncPlan:
    """Which documents are to be done, from which stage on."""

    stale: dict[str, str] = field(default_factory=dict)
    """source_hash → first stage to be done."""
    why: dict[str, str] = field(default_factory=dict)
    """source_hash → reason, in words."""
    states: dict[str, DocumentState] = field(default_factory=dict)
    """source_hash → what the store holds, of the stale ones."""
    failed: list[DocumentState] = field(default_factory=list)
    """In quarantine: failed for good or too often, and nothing changed since."""
    current: int = 0

    def __bool__(self) -> bool:
        return bool(self.stale)


def sync_plan(
    states: Iterable[DocumentState],
    fingerprints_of: Callable[[DocumentState], Mapping[str, str]],
    quarantine_after: int,
) -> SyncPlan:
    """Decide for every document what is to be done under its source's fingerprints.

    A document that failed in `quarantine_after` syncs, for whatever reason, is not tried again.
    """
    stale: dict[str, str] = {}
    why: dict[str, str] = {}
    known: dict[str, DocumentState] = {}
    failed: list[DocumentState] = []
    current = 0
    for state in states:
        fingerprints = fingerprints_of(state)
        if failed_for_good(state, fingerprints, quarantine_after):
            failed.append(state)
        elif (stage := first_stale_stage(state, fingerprints)) is not None:
            stale[state.source_hash] = stage
            why[state.source_hash] = _why(state, stage, fingerprints)
            known[state.source_hash] = state
        else:
            current += 1
    return SyncPlan(stale, why, known, failed, current)


def _why(state: DocumentState, stage: str, fingerprints: Mapping[str, str]) -> str:
    """Say in words why a document is to be done from this stage on."""
    if state.status == "failed":
        return f"it failed before ({state.failure_reason}) and is tried again"
    if not state.fingerprints:
        return "it is new"
    stored = state.fingerprints.get(stage)
    if stored != fingerprints[stage]:
        return why_stale(stage, stored, fingerprints[stage])
    return "rows of it are missing in the store"


def failed_for_good(
    state: DocumentState, fingerprints: Mapping[str, str], quarantine_after: int
) -> bool:
    """Tell whether the document is in quarantine.

    It failed for a lasting reason, or again and again for one that should have passed; and the code
    and settings that it failed under are still the same.
    """
    return (
        state.status == "failed"
        and (bool(state.failure_permanent) or state.failure_count >= quarantine_after)
        and state.failure_stage is not None
        and state.failure_fingerprint == fingerprints[state.failure_stage]
    )


def first_stale_stage(state: DocumentState, fingerprints: Mapping[str, str]) -> str | None:
    """Return the first stage whose stored result is of another making; None if all are current.

    Rows deleted by hand make the last stage stale: what counts is what the store holds.
    """
    for stage in STAGES:
        if state.fingerprints.get(stage) != fingerprints[stage]:
            return stage
    return None if state.is_intact and state.status == "ready" else EMBEDDINGS


def partition_ranges(
    order: Sequence[str], stale: Iterable[str], size: int
) -> list[tuple[str, str, int]]:
    """Cut the stale partitions into contiguous ranges of at most `size`: (first, last, count).

    `order` is Dagster's order of the partition keys (insertion), by which it expands a range.
    """
    wanted = set(stale)
    ranges: list[tuple[str, str, int]] = []
    run: list[str] = []
    for key in order:
        if key in wanted:
            run.append(key)
        if run and (key not in wanted or len(run) == size):
            ranges.append((run[0], run[-1], len(run)))
            run = []
    if run:
        ranges.append((run[0], run[-1], len(run)))
    return ranges
