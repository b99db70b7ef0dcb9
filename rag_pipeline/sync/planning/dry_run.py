"""What a sync would do, found without writing anything: files, documents, reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.documents import DocumentState
from rag_pipeline.store.source_tables import SourceFile, SourceRoot, list_roots, list_sources
from rag_pipeline.sync.planning.plan import SourceChanges, SyncPlan, source_changes
from rag_pipeline.sync.planning.profiles import Profiles
from rag_pipeline.sync.planning.refresh import due_in, stored_states
from rag_pipeline.sync.sources.places import configured_roots
from rag_pipeline.sync.sources.scan import Pages, scan, with_readers


@dataclass(frozen=True)
class Preview:
    """What the folders hold against the store, and the plan that follows from it."""

    changes: SourceChanges
    plan: SyncPlan
    problems: list[str]


def preview_sync(
    settings: Settings,
    database: Database,
    given: Sequence[SourceRoot] = (),
    *,
    verify: bool = False,
) -> Preview:
    """Scan the known roots and those `given` (only these, where there are any).

    `verify`: see `refresh_sources`.
    """
    configured = configured_roots(settings)
    with database.connection() as connection:
        known = {root.root: root for root in list_roots(connection)}
        stored = {file.uri: file for file in list_sources(connection)}
    for root in (*configured, *given):
        known[root.root] = root
    project, names = str(settings.project_dir), {root.root for root in configured}
    roots = [
        root
        for root in known.values()
        if root.origin != "settings" or root.project != project or root.root in names
    ]
    only = {root.root for root in given}
    wanted = [root for root in roots if not only or root.root in only]
    root_names = {root.root for root in roots}
    pages, follow = Pages(settings.web, None), settings.sync.follow_links
    due = due_in(wanted, stored.values(), 1 if verify else settings.sync.verify_syncs)
    found = with_readers(
        scan(wanted, stored, root_names, pages, follow_links=follow, due=due), settings.security
    )
    changes = source_changes(found, stored, root_names)
    states = _states_after(changes, stored, stored_states(settings, database))
    if only:
        states = [state for state in states if not only.isdisjoint(state.roots)]
    plan = Profiles(settings).plan(states)
    return Preview(changes, plan, found.problems)


def _states_after(
    changes: SourceChanges, stored: dict[str, SourceFile], states: list[DocumentState]
) -> list[DocumentState]:
    """Return the documents as they would be once the changes of files were written."""
    files = {uri: file for uri, file in stored.items() if uri not in set(changes.removed_uris)}
    files.update({file.uri: file for file in changes.upserts})
    by_hash: dict[str, list[SourceFile]] = {}
    for file in sorted(files.values(), key=lambda file: file.uri):
        by_hash.setdefault(file.source_hash, []).append(file)
    known = {state.source_hash: state for state in states}
    return [
        replace(
            known.get(source_hash, DocumentState(source_hash)),
            uris=[file.uri for file in group],
            roots=[file.root for file in group],
            size=max(file.size for file in group),
        )
        for source_hash, group in by_hash.items()
    ]
