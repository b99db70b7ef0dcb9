"""The tables `source_root` and `source`: source roots and their files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Literal

from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from rag_pipeline.settings import DEFAULT_EXCLUDE, DEFAULT_INCLUDE
from rag_pipeline.store.named_queries import queries, records


@dataclass(frozen=True)
class SourceRoot:
    """A folder, file or URL that is kept in sync."""

    root: str
    include: tuple[str, ...] = tuple(DEFAULT_INCLUDE)
    exclude: tuple[str, ...] = tuple(DEFAULT_EXCLUDE)
    tags: tuple[str, ...] = ()
    readers: tuple[str, ...] = ("public",)
    origin: Literal["settings", "command"] = "command"
    project: str = ""
    """Folder of the rag.toml that lists it."""


@dataclass(frozen=True)
class SourceFile:
    """A file, as found by a scan or as stored."""

    uri: str
    root: str
    source_hash: str
    size: int
    modified_ns: int
    tags: tuple[str, ...] = ()
    readers: tuple[str, ...] = ("public",)
    etag: str = ""
    """For a remote file or web page: changes with its content."""
    verified_ns: int = field(default=0, compare=False)
    """When its bytes were last read, in nanoseconds since 1970; 0 if that is not known."""


def register_roots(connection: Connection[TupleRow], roots: Sequence[SourceRoot]) -> None:
    """Store roots, so that every later sync includes them."""
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
    """Delete the roots removed from a project's rag.toml; `roots` are those still in it."""
    queries.delete_unconfigured_roots(connection, project=project, roots=list(roots))


def list_roots(connection: Connection[TupleRow]) -> list[SourceRoot]:
    """Return all stored roots, oldest first."""
    return [
        replace(
            root,
            include=tuple(root.include),
            exclude=tuple(root.exclude),
            tags=tuple(root.tags),
            readers=tuple(root.readers),
        )
        for root in records(connection, SourceRoot, queries.list_source_roots)
    ]


def forget_root(connection: Connection[TupleRow], root: str) -> bool:
    """Delete a root; the next sync deletes its documents. Return whether it was stored."""
    return bool(queries.delete_source_root(connection, root=root))


def list_sources(connection: Connection[TupleRow]) -> list[SourceFile]:
    """Return every stored file."""
    return [
        replace(file, tags=tuple(file.tags), readers=tuple(file.readers))
        for file in records(connection, SourceFile, queries.list_sources)
    ]


def source_hashes(connection: Connection[TupleRow]) -> set[str]:
    """Return the documents that stored files have."""
    return {source_hash for (source_hash,) in queries.source_hashes(connection)}


def note_scan(connection: Connection[TupleRow], *, is_untold: bool) -> None:
    """Note whether there are changes of files that Dagster does not know of yet."""
    queries.note_scan(connection, is_untold=is_untold)


def has_sources(connection: Connection[TupleRow]) -> bool:
    """Return whether anything is stored: files, or rows of databases."""
    return bool(queries.has_sources(connection))


def note_verified(connection: Connection[TupleRow], uris: Sequence[str], verified_ns: int) -> None:
    """Note when the bytes of these files were read again."""
    if uris:
        queries.note_verified(connection, uris=list(uris), verified_ns=verified_ns)


def apply_changes(
    connection: Connection[TupleRow],
    upserts: Sequence[SourceFile],
    removed_uris: Sequence[str],
    superseded: Sequence[tuple[str, str]] = (),
) -> list[str]:
    """Update the tables to match the sources, in the caller's transaction.

    `superseded` are (old hash, new hash) pairs of changed files; the old content stays searchable
    until the new content lands. Returns the hashes of documents that no file has any more, which
    are deleted with their chunks and vectors.
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
    """Store the name lexemes of files that have none yet; `lexemes_of` takes a URI."""
    rows = [
        {"uri": uri, "lexemes": list(lexemes_of(uri))}
        for (uri,) in queries.unnamed_sources(connection)
    ]
    if rows:
        queries.name_sources(connection, rows=Jsonb(rows))
