"""Lists the files in one root with size and time, not yet hashed, and reports problems."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import fsspec
from fsspec.utils import glob_translate

from rag_pipeline.store.source_tables import SourceFile, SourceRoot
from rag_pipeline.sync.sources.places import is_below, is_plain, kind_of
from rag_pipeline.text import clean_text, one_line

IGNORE_FILE = ".ragignore"
"""File in a local folder with globs that every sync of it excludes."""
MAX_ENDINGS = 10
"""File name extensions listed in a note on files that were not taken."""


@dataclass
class Listing:
    """The files that a root's globs match, in name order, without hashes."""

    files: list[SourceFile] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)
    """(URI of a file or folder, reason): what is there but cannot be taken; it keeps its
    documents."""
    left_aside: list[tuple[str, str]] = field(default_factory=list)
    """(URI, reason): what is left out on purpose; it keeps its documents as well."""
    missing: str | None = None
    """Why the root cannot be listed; its documents are kept."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Number of files per extension that no glob includes; excluded files do not count."""
    is_empty: bool = False
    """It contains nothing at all, not even excluded files."""


def list_local(
    root: SourceRoot, inner: Set[str], *, was_file: bool = False, follow_links: bool = False
) -> Listing:
    """List a local folder or file; folders in `inner` are roots of their own.

    Links to folders are not followed; links to files are, where these lie in the folder itself or
    `follow_links` says so: who may write to a folder must not publish other files by it.
    `was_file`: the store knows the root as a single file, which may be deleted; a folder that is
    not there may be a disk that is not mounted.
    """
    base = Path(root.root)
    listing = Listing()
    if base.is_file():
        _take_local(listing, root, base)
        return listing
    if not base.is_dir():
        if not (was_file and base.parent.is_dir()):
            listing.missing = "is not there"
        return listing
    unlistable: list[OSError] = []
    ignored = _ignored(base, listing)
    takes, leaves_out = _filter(root, ignored), _pattern((*root.exclude, *ignored))
    listing.is_empty = not any(base.iterdir())
    for path in _walk(base, inner, unlistable):
        relative = path.relative_to(base).as_posix()
        if not takes(relative):
            _count_left_out(listing, relative, leaves_out)
            continue
        if not follow_links and path.is_symlink() and not _leads_into(path, base):
            reason = "is a link that leads out of the folder; see sync.follow_links"
            listing.left_aside.append((clean_text(str(path)), reason))
            continue
        _take_local(listing, root, path)
    for fault in unlistable:
        listing.problems.append((str(fault.filename), f"{fault.strerror}; its documents were kept"))
    return listing


def list_remote(root: SourceRoot, inner: Set[str]) -> Listing:
    """List a folder or file of an fsspec file system, with its credentials from the environment."""
    listing = Listing()
    try:
        filesystem, base = fsspec.core.url_to_fs(root.root)
        found: dict[str, dict[str, Any]] = filesystem.find(base, detail=True)
        if not found and not filesystem.exists(base):
            # Object stores have no empty folders: an empty one and a wrong name look the same.
            listing.is_empty = True
            return listing
    except (ImportError, ValueError) as error:
        listing.missing = f"cannot be opened: {error}"
        return listing
    except Exception as error:  # each file system has errors of its own
        listing.missing = f"cannot be listed: {_first_line(error)}"
        return listing
    listing.is_empty = not found
    takes, leaves_out = _filter(root), _pattern(root.exclude)
    prefix = base.rstrip("/") + "/"
    for name in sorted(found):
        information = found[name]
        uri = filesystem.unstrip_protocol(name)
        if any(uri.startswith(f"{other}/") for other in inner):
            continue
        is_root_itself = name.rstrip("/") == base.rstrip("/")
        if not is_root_itself and not takes(name.removeprefix(prefix)):
            _count_left_out(listing, name.removeprefix(prefix), leaves_out)
            continue
        if not is_plain(uri):
            listing.problems.append((clean_text(uri), "the name is not valid text; rename it"))
            continue
        listing.files.append(
            replace(
                _file(root, uri),
                size=int(information.get("size") or 0),
                etag=_etag(information),
            )
        )
    return listing


def left_out_note(root: str, listing: Listing) -> str | None:
    """Return how many files of which endings a root holds that nothing takes; None without any.

    >>> left_out_note("/a", Listing(left_out=Counter({".pages": 2, ".doc": 1})))
    '/a: 3 files were not taken: 2 .pages, 1 .doc'
    """
    count = listing.left_out.total()
    if not count:
        return None
    most = listing.left_out.most_common(MAX_ENDINGS)
    kinds = ", ".join(f"{number} {ending}" for ending, number in most)
    rest = count - sum(number for _, number in most)
    files = "1 file was" if count == 1 else f"{count} files were"
    more = f", {rest} others" if rest else ""
    return f"{one_line(clean_text(root))}: {files} not taken: {kinds}{more}"


def problem_note(uri: str, problem: str) -> str:
    """Return a problem with its file on one line: a name may hold line breaks and escapes."""
    return f"{one_line(clean_text(uri))}: {problem}"


@dataclass(frozen=True)
class FolderNotes:
    """What the local folders hold that is not in the store."""

    not_taken: list[str] = field(default_factory=list)
    """A note for each folder with files that nothing takes."""
    unreadable: list[str] = field(default_factory=list)
    """Folders and files that are there, or should be, and cannot be read."""


def folder_notes(roots: Sequence[SourceRoot], *, follow_links: bool = False) -> FolderNotes:
    """Look at the local folders; no file is opened."""
    names = {root.root for root in roots}
    notes = FolderNotes()
    for root in roots:
        if kind_of(root.root) != "local":
            continue
        inner = {name for name in names if name != root.root and is_below(name, root.root)}
        listing = list_local(root, inner, follow_links=follow_links)
        if (note := left_out_note(root.root, listing)) is not None:
            notes.not_taken.append(note)
        if listing.missing is not None:
            notes.unreadable.append(problem_note(root.root, listing.missing))
        notes.unreadable.extend(problem_note(*problem) for problem in listing.problems)
        closed = [file.uri for file in listing.files if not os.access(file.uri, os.R_OK)]
        notes.unreadable.extend(problem_note(uri, os.strerror(errno.EACCES)) for uri in closed)
    return notes


def _count_left_out(listing: Listing, relative: str, leaves_out: re.Pattern[str] | None) -> None:
    name = relative.rpartition("/")[2]
    if name.startswith(".") or (leaves_out and leaves_out.match(relative)):
        return
    _, dot, ending = name.rpartition(".")
    listing.left_out[f".{one_line(clean_text(ending)).lower()}" if dot else "without ending"] += 1


def _take_local(listing: Listing, root: SourceRoot, path: Path) -> None:
    uri = str(path)
    if not is_plain(uri):
        # Names may hold bytes that are no text; Postgres could not store them.
        listing.problems.append((clean_text(uri), "the name is not valid text; rename the file"))
        return
    try:
        status = path.stat()
    except OSError as error:
        listing.problems.append((uri, error.strerror or str(error)))
        return
    if not stat.S_ISREG(status.st_mode):
        listing.left_aside.append((uri, "is no regular file; it was left out"))
        return
    listing.files.append(
        replace(_file(root, uri), size=status.st_size, modified_ns=status.st_mtime_ns)
    )


def _leads_into(link: Path, folder: Path) -> bool:
    try:
        return link.resolve(strict=True).is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # it leads nowhere, which opening it says better
        return True


def _file(root: SourceRoot, uri: str) -> SourceFile:
    return SourceFile(
        uri=uri,
        root=root.root,
        source_hash="",
        size=0,
        modified_ns=0,
        tags=root.tags,
        readers=root.readers,
    )


def _walk(base: Path, inner: Set[str], unlistable: list[OSError]) -> Iterator[Path]:
    """Yield every file below `base` but those of inner roots; folders that fail are noted.

    Hidden folders hold what programs keep: `.git`, or this one's own `.rag`.
    """
    for folder, folders, names in os.walk(base, onerror=unlistable.append):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and str(Path(folder) / name) not in inner
        )
        for name in sorted(names):
            yield Path(folder) / name


def _ignored(base: Path, listing: Listing) -> tuple[str, ...]:
    """Return the globs of the folder's IGNORE_FILE: one a line, `#` begins a comment.

    They are relative to the folder; a name that ends with a slash is a folder.
    """
    file = base / IGNORE_FILE
    try:
        text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    except OSError as error:
        listing.problems.append((str(file), error.strerror or str(error)))
        return ()
    lines = [line.strip() for line in text.splitlines()]
    globs = [line for line in lines if line and not line.startswith("#")]
    return tuple(f"{glob}**" if glob.endswith("/") else glob for glob in globs)


def _filter(root: SourceRoot, ignored: tuple[str, ...] = ()) -> Any:
    """Return a function that tells whether the root's globs take a relative path."""
    include = _pattern(root.include)
    exclude = _pattern((*root.exclude, *ignored))

    def takes(relative: str) -> bool:
        return bool(include and include.match(relative)) and not (
            exclude and exclude.match(relative)
        )

    return takes


def _pattern(globs: tuple[str, ...]) -> re.Pattern[str] | None:
    """Return one pattern for all globs: there may be dozens, and many thousand files."""
    if not globs:
        return None
    return re.compile("|".join(f"(?:{glob_translate(glob)})" for glob in globs), re.IGNORECASE)


def _etag(information: dict[str, Any]) -> str:
    """Return what changes when a remote file's content does; empty where nothing tells."""
    for key in ("ETag", "etag", "md5Hash", "content_md5", "mtime", "LastModified", "last_modified"):
        if information.get(key):
            return str(information[key]).strip('"')
    return str(information.get("created") or "")


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
