"""Scanning the folders and bringing the table of sources up to date, in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.embedding import create_embedder
from rag_pipeline.errors import SourceError
from rag_pipeline.settings import Settings
from rag_pipeline.store.artifacts import ArtifactStore, contexts_key, sentences_key
from rag_pipeline.store.database import Database
from rag_pipeline.store.documents import DocumentState, document_states
from rag_pipeline.store.embeddings import EmbeddingSpace, find_space
from rag_pipeline.store.source_tables import (
    SourceFile,
    SourceRoot,
    apply_changes,
    forget_unconfigured_roots,
    list_roots,
    list_sources,
    name_sources,
    note_scan,
    note_verified,
    register_roots,
)
from rag_pipeline.sync.planning.fingerprints import STAGES
from rag_pipeline.sync.planning.plan import SourceChanges, SyncPlan, source_changes
from rag_pipeline.sync.planning.profiles import Profiles
from rag_pipeline.sync.sources.places import configured_roots
from rag_pipeline.sync.sources.scan import Pages, Scan, due_files, scan, with_readers
from rag_pipeline.sync.sources.spool import Spool


@dataclass(frozen=True)
class RefreshResult:
    """What the scan found and changed."""

    changes: SourceChanges
    problems: list[str]
    unread: list[str]
    """Those of the problems that mean that something was not read."""
    files: int


def current_plan(
    settings: Settings, database: Database, only_roots: Sequence[str] = ()
) -> SyncPlan:
    """Decide what is to be done, from what the store holds now; no folder is looked at.

    `only_roots` limits the plan to the documents under some of the known roots.
    """
    states = stored_states(settings, database)
    if only_roots:
        states = [state for state in states if not set(only_roots).isdisjoint(state.roots)]
    return Profiles(settings).plan(states)


def stored_states(settings: Settings, database: Database) -> list[DocumentState]:
    """Return what the store holds of every document, in the space that the settings name."""
    with database.connection() as connection:
        space = settings_space(settings, connection)
        return document_states(connection, space.space_id if space else None, None)


def settings_space(settings: Settings, connection: Connection[TupleRow]) -> EmbeddingSpace | None:
    """Return the embedding space that the settings name, if it is there."""
    embedder = create_embedder(settings.embedding, settings.models_path)
    return find_space(
        connection, embedder.provider, embedder.model, embedder.dimensions, embedder.version
    )


def spool_of(settings: Settings) -> Spool:
    """Return where copies of documents from elsewhere lie while they are worked on."""
    return Spool(settings.data_path / "spool")


def pages_of(settings: Settings) -> Pages:
    """Return how the scan fetches web pages."""
    return Pages(settings.web, spool_of(settings))


def due_in(roots: Sequence[SourceRoot], stored: Iterable[SourceFile], syncs: int) -> set[str]:
    """Return `due_files` of the files in these roots."""
    names = {root.root for root in roots}
    return due_files((file for file in stored if file.root in names), syncs)


def newly_verified(found: Scan, stored: Mapping[str, SourceFile]) -> dict[int, list[str]]:
    """Return the URIs of known files that were read again, by when."""
    verified: dict[int, list[str]] = {}
    for file in found.files:
        before = stored.get(file.uri)
        if before is not None and before == file and before.verified_ns != file.verified_ns:
            verified.setdefault(file.verified_ns, []).append(file.uri)
    return verified


def refresh_sources(
    settings: Settings, database: Database, only_roots: Sequence[str] = (), *, verify: bool = False
) -> RefreshResult:
    """Scan the known roots (or only some of them) and write what changed.

    `verify` reads every file again, also those whose size and time are the same.

    A folder taken out of rag.toml is forgotten here, and its documents go. Raises `SourceError` for
    a root that is not known.
    """
    with database.connection() as connection:
        configured = configured_roots(settings)
        register_roots(connection, configured)
        project = str(settings.project_dir)
        forget_unconfigured_roots(connection, project, [root.root for root in configured])
        roots = list_roots(connection)
        stored = {file.uri: file for file in list_sources(connection)}
    names = {root.root for root in roots}
    for root in only_roots:
        if root not in names:
            raise SourceError(f"{root} is not a known folder", hint=f"run `rag sync {root}`")
    wanted = [root for root in roots if not only_roots or root.root in only_roots]
    follow = settings.sync.follow_links
    due = due_in(wanted, stored.values(), 1 if verify else settings.sync.verify_syncs)
    found = with_readers(
        scan(wanted, stored, names, pages_of(settings), follow_links=follow, due=due),
        settings.security,
    )
    changes = source_changes(found, stored, names)
    with database.connection() as connection:
        orphans = apply_changes(
            connection, changes.upserts, changes.removed_uris, changes.superseded
        )
        for verified_ns, uris in newly_verified(found, stored).items():
            note_verified(connection, uris, verified_ns)
        name_sources(connection, _name_lexemes)
        if changes.has_news:
            note_scan(connection, is_untold=True)
    if orphans:
        # After the commit: a frame without a document is harmless, the reverse would be work lost.
        artifacts = ArtifactStore(settings.artifacts_location)
        artifacts.delete(orphans, STAGES)
        # Replies of services hold the document's text: they go with the document.
        for source_hash in orphans:
            kept = (f"document_ai/{source_hash}", contexts_key(source_hash))
            artifacts.delete_below([*kept, sentences_key(source_hash)])
    return RefreshResult(changes, found.problems, found.unread, len(found.files))


def _name_lexemes(uri: str) -> list[str]:
    from rag_pipeline.analysis import name_lexemes  # loads stemmers, for files without lexemes only

    return list(name_lexemes(uri))
