"""Reads and writes of the tables `source_root` and `source`: which files there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from rag_pipeline.settings import DEFAULT_EXCLUDE, DEFAULT_INCLUDE
from rag_pipeline.store.named_queries import queries


@dataclass(frozen=True)
class SourceRoot:
    """A folder, a single file, or a URL that is kept in sync."""

    root: str
    include: tuple[str, ...] = tuple(DEFAULT_INCLUDE)
    exclude: tuple[str, ...] = tuple(DEFAULT_EXCLUDE)
    tags: tuple[str, ...] = ()
    readers: tuple[str, ...] = ("public",)
    origin: Literal["settings", "command"] = "command"
    project: str = ""
    """Folder of the rag.toml that names it."""


@dataclass(frozen=True)
class SourceFile:
    """A file, as found in its folder or as the store knows it."""

    uri: str
    root: str
    source_hash: str
    size: int
    modified_ns: int
    tags: tuple[str, ...] = ()
    readers: tuple[str, ...] = ("public",)
    etag: str = ""
    """Of a remote file or a web page: changes when its content does."""


def register_roots(connection: Connection[TupleRow], roots: Sequence[SourceRoot]) -> None:
    """Remember folders, so that every later sync takes them in."""
    for root in roots:
        queries.upsert_source_root(
            connection,
            root=root.root,
            include=list(root.include),
            exclude=list(root.exclude),
            tags=list(root.tags),
            readers=list(root.readers),
            origin=root.origin,
            project=root.project,
        )


def forget_unconfigured_roots(
    connection: Connection[TupleRow], project: str, roots: Sequence[str]
) -> None:
    """Forget the folders that were taken out of a project's rag.toml; `roots` are still in it."""
    queries.delete_unconfigured_roots(connection, project=project, roots=list(roots))


def list_roots(connection: Connection[TupleRow]) -> list[SourceRoot]:
    """Return all remembered folders, oldest first."""
    return [
        SourceRoot(
            root, tuple(include), tuple(exclude), tuple(tags), tuple(readers), origin, project
        )
        for (
            root,
            include,
            exclude,
            tags,
            readers,
            origin,
            project,
        ) in queries.list_source_roots(connection)
    ]


def forget_root(connection: Connection[TupleRow], root: str) -> bool:
    """Forget a folder; its documents go with the next sync. Returns whether it was known."""
    return bool(queries.delete_source_root(connection, root=root))


def list_sources(connection: Connection[TupleRow]) -> list[SourceFile]:
    """Return every file that the store knows."""
    return [
        SourceFile(uri, root, source_hash, size, modified_ns, tuple(tags), tuple(readers), etag)
        for (
            uri,
            root,
            source_hash,
            size,
            modified_ns,
            tags,
            readers,
            etag,
        ) in queries.list_sources(connection)
    ]


def apply_changes(
    connection: Connection[TupleRow],
    upserts: Sequence[SourceFile],
    removed_uris: Sequence[str],
    superseded: Sequence[tuple[str, str]] = (),
) -> list[str]:
    """Bring the tables to what the folders hold, in the caller's transaction.

    `superseded` are the (old hash, new hash) of changed files: the old content stays searchable
    until the new one has landed. Returns the hashes of the documents that no file holds any more;
    they are deleted, with their chunks and vectors.
    """
    if upserts:
        queries.insert_documents(
            connection, source_hashes=sorted({file.source_hash for file in upserts})
        )
        queries.upsert_sources(connection, rows=Jsonb([asdict(file) for file in upserts]))
    if removed_uris:
        queries.delete_sources(connection, uris=list(removed_uris))
    if not upserts and not removed_uris:
        return []
    queries.restore_documents(connection)
    if superseded:
        old_hashes, new_hashes = zip(*superseded, strict=True)
        queries.supersede_documents(
            connection, old_hashes=list(old_hashes), new_hashes=list(new_hashes)
        )
    orphans = [source_hash for (source_hash,) in queries.delete_orphaned_documents(connection)]
    if orphans:
        queries.mark_statistics_stale(connection)
    return orphans


def name_sources(
    connection: Connection[TupleRow], lexemes_of: Callable[[str], Sequence[str]]
) -> None:
    """Write the words of the names of files that have none yet; `lexemes_of` is given the URI."""
    rows = [
        {"uri": uri, "lexemes": list(lexemes_of(uri))}
        for (uri,) in queries.unnamed_sources(connection)
    ]
    if rows:
        queries.name_sources(connection, rows=Jsonb(rows))
