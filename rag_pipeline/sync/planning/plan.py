"""The sync plan: pure functions of the sources, the store's contents, and the code versions.

They use no connection, clock or Dagster. The same input gives the same plan, and planning again
after a plan was carried out gives an empty one.
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
    """Differences between the files found and those stored."""

    new: list[SourceFile] = field(default_factory=list)
    """Files with content the store does not have."""
    changed: list[tuple[str, SourceFile]] = field(default_factory=list)
    """(old hash, file): known files with other content."""
    renamed: list[tuple[str, SourceFile]] = field(default_factory=list)
    """(old URI, file): known content under another name, the old one gone."""
    copied: list[SourceFile] = field(default_factory=list)
    """Known content under an additional name."""
    touched: list[SourceFile] = field(default_factory=list)
    """Same content; size, time, root, tags or readers differ."""
    removed: list[SourceFile] = field(default_factory=list)
    """Deleted files."""
    unchanged: int = 0

    @property
    def upserts(self) -> list[SourceFile]:
        """All rows to write."""
        changed = [file for _, file in (*self.changed, *self.renamed)]
        return [*self.new, *changed, *self.copied, *self.touched]

    @property
    def superseded(self) -> list[tuple[str, str]]:
        """(old hash, new hash) of the changed files."""
        return [(old, file.source_hash) for old, file in self.changed]

    @property
    def removed_uris(self) -> list[str]:
        """URIs of all rows to delete."""
        return [*(old for old, _ in self.renamed), *(file.uri for file in self.removed)]

    def __bool__(self) -> bool:
        return bool(self.upserts or self.removed_uris)

    @property
    def has_news(self) -> bool:
        """Whether files came or went, or have another name or content: `touched` ones are none."""
        return bool(self.new or self.changed or self.renamed or self.copied or self.removed)

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
    """Compare a scan with the stored files (by URI).

    A stored file counts as removed if its root was scanned and the file was not found, or if no
    known root covers it any more. Roots that were not scanned keep their files.
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
    """Return whether a URI equals one of the places or lies below one."""
    return any(is_below(uri, place) for place in places)


@dataclass(frozen=True)
class SyncPlan:
    """Documents to process, and the first stage for each."""

    stale: dict[str, str] = field(default_factory=dict)
    """source_hash → first stage to run."""
    why: dict[str, str] = field(default_factory=dict)
    """source_hash → reason in words."""
    states: dict[str, DocumentState] = field(default_factory=dict)
    """source_hash → stored state, for stale documents."""
    failed: list[DocumentState] = field(default_factory=list)
    """Quarantined: failed permanently or too often, with nothing changed since."""
    current: int = 0

    def __bool__(self) -> bool:
        return bool(self.stale)


def sync_plan(
    states: Iterable[DocumentState],
    fingerprints_of: Callable[[DocumentState], Mapping[str, str]],
    quarantine_after: int,
) -> SyncPlan:
    """Decide which stages each document needs under its source's fingerprints.

    A document that failed in `quarantine_after` syncs, for any reason, is not retried.
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
    """Return in words why a document is processed from this stage on."""
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
    """Return whether the document is in quarantine.

    It failed permanently, or repeatedly with a transient error, and the code and settings it failed
    under have not changed.
    """
    return (
        state.status == "failed"
        and (bool(state.failure_permanent) or state.failure_count >= quarantine_after)
        and state.failure_stage is not None
        and state.failure_fingerprint == fingerprints[state.failure_stage]
    )


def first_stale_stage(state: DocumentState, fingerprints: Mapping[str, str]) -> str | None:
    """Return the first stage whose stored result is outdated; None if all are current.

    Rows deleted by hand make the last stage stale, since the store's contents decide.
    """
    for stage in STAGES:
        if state.fingerprints.get(stage) != fingerprints[stage]:
            return stage
    return None if state.is_intact and state.status == "ready" else EMBEDDINGS


def partition_ranges(
    order: Sequence[str], stale: Iterable[str], size: int
) -> list[tuple[str, str, int]]:
    """Split the stale partitions into contiguous ranges of at most `size`: (first, last, count).

    `order` is Dagster's partition order (by insertion), which it uses to expand a range.
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
