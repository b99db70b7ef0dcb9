"""What the sources hold now: every file with its content hash.

Files whose size, modification time or etag changed are read, and those that are due to be verified;
the rest keep the hash that the store remembers.
"""

from __future__ import annotations

import hashlib
import heapq
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from rag_pipeline.errors import SourceError
from rag_pipeline.settings import SecuritySettings, WebSettings
from rag_pipeline.store.source_tables import SourceFile, SourceRoot
from rag_pipeline.sync.sources.listing import (
    Listing,
    left_out_note,
    list_local,
    list_remote,
    problem_note,
)
from rag_pipeline.sync.sources.places import is_below, kind_of
from rag_pipeline.sync.sources.spool import Spool, open_remote
from rag_pipeline.sync.sources.web_pages import PageGoneError, fetch_page

HASH_THREADS = 4
CLOCK_NS = 2_000_000_000
"""Coarsest resolution of a file system's times (FAT): two changes within it may look like one."""
SUSPICIOUS_LOSS = 10
"""Files of a root from which their sudden loss looks like an unmounted disk."""


@dataclass(frozen=True)
class Scan:
    """The result of looking: files found, roots looked at, and what could not be read."""

    files: list[SourceFile] = field(default_factory=list)
    roots: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    """Those of the problems that mean that something was not read."""
    unreadable_uris: list[str] = field(default_factory=list)
    hashed: int = 0


@dataclass(frozen=True)
class Pages:
    """How web pages are fetched, and where they are kept until they are worked on."""

    settings: WebSettings
    spool: Spool | None
    """None where nothing is to be written."""


def due_files(known: Iterable[SourceFile], syncs: int) -> set[str]:
    """Return the URIs of files to read again although their size and time are the same.

    These are files that were read while their time was so young that a later change may have the
    same, and a share of 1 / `syncs` of the local ones, those first that were not read for longest.
    `syncs` = 1 means every file, wherever it lies; 0 means no share.
    """
    files = list(known)
    if syncs == 1:
        return {file.uri for file in files}
    due = {file.uri for file in files if 0 < file.verified_ns <= file.modified_ns + CLOCK_NS}
    if syncs:
        local = [(file.verified_ns, file.uri) for file in files if kind_of(file.uri) == "local"]
        due.update(uri for _, uri in heapq.nsmallest(-(-len(local) // syncs), local))
    return due


def scan(
    roots: Sequence[SourceRoot],
    known: Mapping[str, SourceFile],
    known_roots: Collection[str] = (),
    pages: Pages | None = None,
    *,
    follow_links: bool = False,
    due: Collection[str] = (),
) -> Scan:
    """Look at every root; `known` are the store's files by URI, `known_roots` all its roots.

    A root that is not there, or suddenly empty of many files (an unmounted disk), is a problem and
    keeps its documents; so does a file or folder that cannot be read. A file in a root within a
    root belongs to the inner one. `follow_links`: see `list_local`; `due`: see `due_files`.
    """
    now = time.time_ns()
    found: dict[str, SourceFile] = {}
    to_hash: list[SourceFile] = []
    result = Scan()
    hashed = 0
    for root in roots:
        if kind_of(root.root) == "web":
            page = _page(root, known.get(root.root), pages, result, ask_again=root.root in due)
            if page is not None:
                found.setdefault(page.uri, page)
            continue
        listing = _listing(root, known, known_roots, follow_links)
        if (problem := _distrust(root, listing, known)) is not None:
            result.problems.append(problem)
            result.unread.append(problem)
            continue
        _take_notes(result, root.root, listing)
        for file in listing.files:
            if file.uri in found:
                continue
            before = known.get(file.uri)
            if before is not None and file.uri not in due and _is_unchanged(before, file):
                found[file.uri] = replace(
                    file, source_hash=before.source_hash, verified_ns=before.verified_ns
                )
            else:
                found[file.uri] = file
                to_hash.append(file)
    with ThreadPoolExecutor(HASH_THREADS) as threads:
        for file, value in zip(to_hash, threads.map(_hash, to_hash), strict=True):
            hashed += 1
            if isinstance(value, str):
                found[file.uri] = replace(file, source_hash=value, verified_ns=now)
            else:
                reason = getattr(value, "strerror", None) or str(value) or type(value).__name__
                _note(result, file.uri, reason)
                del found[file.uri]
    return replace(result, files=list(found.values()), hashed=hashed)


def _take_notes(result: Scan, root: str, listing: Listing) -> None:
    result.roots.append(root)
    if (note := left_out_note(root, listing)) is not None:
        result.problems.append(note)
    for uri, problem in listing.problems:
        _note(result, uri, problem)
    for uri, reason in listing.left_aside:
        _note(result, uri, reason, is_fault=False)


def with_readers(found: Scan, security: SecuritySettings) -> Scan:
    """Return the files with the readers that rules for tags and paths give them."""
    if not (security.tags or security.documents):
        return found
    files = [
        replace(file, readers=security.readers_of(file.uri, file.tags, file.readers))
        for file in found.files
    ]
    return replace(found, files=files)


def _listing(
    root: SourceRoot,
    known: Mapping[str, SourceFile],
    known_roots: Iterable[str],
    follow_links: bool,
) -> Listing:
    inner = {other for other in known_roots if other != root.root and is_below(other, root.root)}
    if kind_of(root.root) == "remote":
        return list_remote(root, inner)
    return list_local(root, inner, was_file=root.root in known, follow_links=follow_links)


def _distrust(root: SourceRoot, listing: Listing, known: Mapping[str, SourceFile]) -> str | None:
    """Return why a root cannot be trusted to be as it looks; None if it can."""
    hint = f"check it, or run `rag sources remove {root.root}`"
    if listing.missing is not None:
        return f"{root.root} {listing.missing}, its documents were kept; {hint}"
    if not listing.is_empty:
        return None
    held = sum(file.root == root.root for file in known.values())
    if held >= SUSPICIOUS_LOSS:
        return f"{root.root} is empty, its {held} documents were kept; {hint}"
    if not held and kind_of(root.root) == "remote":
        return f"there is nothing at {root.root}; {hint}"
    return None


def _page(
    root: SourceRoot,
    before: SourceFile | None,
    pages: Pages | None,
    result: Scan,
    *,
    ask_again: bool,
) -> SourceFile | None:
    """Fetch a root that is a web page; None where it is gone or cannot be fetched."""
    if pages is None:
        return None
    try:
        known_etag = before.etag if before and not ask_again else ""
        page = fetch_page(root.root, pages.settings, known_etag)
    except PageGoneError as error:
        result.roots.append(root.root)
        result.problems.append(str(error))
        return None
    except SourceError as error:
        result.problems.append(str(error))
        result.unread.append(str(error))
        return None
    result.roots.append(root.root)
    if page.content is None:
        assert before is not None  # no etag was sent otherwise
        return replace(before, root=root.root, tags=root.tags, readers=root.readers)
    source_hash = hashlib.sha256(page.content).hexdigest()
    if pages.spool is not None and (before is None or before.source_hash != source_hash):
        pages.spool.put(page.content)
    return SourceFile(
        uri=root.root,
        root=root.root,
        source_hash=source_hash,
        size=len(page.content),
        modified_ns=0,
        tags=root.tags,
        readers=root.readers,
        etag=page.etag,
    )


def _is_unchanged(before: SourceFile, now: SourceFile) -> bool:
    """Tell whether the content need not be read; a remote file that says nothing is read."""
    if kind_of(now.uri) == "remote" and not now.etag:
        return False
    return (before.size, before.modified_ns, before.etag) == (now.size, now.modified_ns, now.etag)


def _note(result: Scan, uri: str, problem: str, *, is_fault: bool = True) -> None:
    note = problem_note(uri, problem)
    result.problems.append(note)
    if is_fault:
        result.unread.append(note)
    result.unreadable_uris.append(uri)


def _hash(file: SourceFile) -> str | Exception:
    """Return the SHA-256 of a file's bytes, or the error that reading it gave."""
    try:
        if kind_of(file.uri) == "remote":
            with open_remote(file.uri) as handle:
                return hashlib.file_digest(handle, "sha256").hexdigest()
        with Path(file.uri).open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except Exception as error:  # each file system has errors of its own
        return error
