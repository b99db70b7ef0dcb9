"""What the source folders hold now: every file with its content hash.

Only files whose size or modification time changed are read; the rest keep the hash that the store
remembers.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from fsspec.utils import glob_translate

from rag_pipeline.errors import SourceError
from rag_pipeline.settings import Settings, SourceSettings
from rag_pipeline.store.sources import SourceFile, SourceRoot
from rag_pipeline.text import clean_text

HASH_THREADS = 4
SUSPICIOUS_LOSS = 10
"""Files of a root from which their sudden loss looks like an unmounted disk."""


@dataclass(frozen=True)
class Scan:
    """The result of looking: files found, roots looked at, and what could not be read."""

    files: list[SourceFile] = field(default_factory=list)
    roots: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    unreadable_uris: list[str] = field(default_factory=list)
    hashed: int = 0


def configured_roots(settings: Settings) -> list[SourceRoot]:
    """Return the folders of rag.toml as roots with absolute paths."""
    return [
        SourceRoot(
            root=root_of(settings, source),
            include=tuple(source.include),
            exclude=tuple(source.exclude),
            tags=tuple(source.tags),
            readers=tuple(source.readers),
            origin="settings",
            project=str(settings.project_dir),
        )
        for source in settings.sources
    ]


def root_of(settings: Settings, source: SourceSettings) -> str:
    """Return the root of a source of rag.toml as the store knows it: an absolute path."""
    return str((settings.project_dir / source.path).expanduser().resolve())


def path_root(path: Path) -> SourceRoot:
    """Return the root of a folder or single file given on the command line.

    Raises `SourceError` if there is nothing.
    """
    resolved = path.expanduser().resolve()
    if not resolved.exists():
        raise SourceError(f"{path} does not exist", hint="give a folder or a file")
    if not (resolved.is_dir() or resolved.is_file()):
        raise SourceError(f"{path} is neither a folder nor a file", hint="give one of these")
    if not _is_plain(str(resolved)):
        raise SourceError(f"the name of {str(path)!a} is not valid text", hint="rename it")
    return SourceRoot(root=str(resolved))


def scan(
    roots: Sequence[SourceRoot],
    known: Mapping[str, SourceFile],
    known_roots: Collection[str] = (),
) -> Scan:
    """Look at every root; `known` are the store's files by URI, `known_roots` all its roots.

    A root that is not there, or suddenly empty of many files (an unmounted disk), is a problem and
    keeps its documents; so does a file or folder that cannot be read. A file in a root within a
    root belongs to the inner one.
    """
    found: dict[str, SourceFile] = {}
    to_hash: list[SourceFile] = []
    looked_at: list[str] = []
    problems: list[str] = []
    unreadable: list[str] = []
    for root in roots:
        if (problem := _missing(root, known)) is not None:
            problems.append(problem)
            continue
        looked_at.append(root.root)
        if not Path(root.root).exists():
            continue
        inner = {other for other in known_roots if other.startswith(f"{root.root}{os.sep}")}
        for file, problem in _walk(root, inner):
            if problem is not None:
                problems.append(f"{file.uri}: {problem}")
                unreadable.append(file.uri)
                continue
            if file.uri in found:
                continue
            before = known.get(file.uri)
            if before and (before.size, before.modified_ns) == (file.size, file.modified_ns):
                found[file.uri] = replace(file, source_hash=before.source_hash)
            else:
                found[file.uri] = file
                to_hash.append(file)
    with ThreadPoolExecutor(HASH_THREADS) as threads:
        for file, result in zip(to_hash, threads.map(_hash, to_hash), strict=True):
            if isinstance(result, str):
                found[file.uri] = replace(file, source_hash=result)
            else:
                problems.append(f"{file.uri}: {result.strerror or result}")
                unreadable.append(file.uri)
                del found[file.uri]
    return Scan(list(found.values()), looked_at, problems, unreadable, len(to_hash))


def _missing(root: SourceRoot, known: Mapping[str, SourceFile]) -> str | None:
    """Return why a root cannot be trusted to be as it looks; None if it can."""
    path = Path(root.root)
    hint = f"mount it, or run `rag sources remove {root.root}`"
    if not path.exists():
        if root.root in known and path.parent.is_dir():
            return None  # a single file that was deleted
        return f"{root.root} is not there, its documents were kept; {hint}"
    if path.is_dir() and not any(path.iterdir()):
        held = sum(file.root == root.root for file in known.values())
        if held >= SUSPICIOUS_LOSS:
            return f"{root.root} is empty, its {held} documents were kept; {hint}"
    return None


def _walk(root: SourceRoot, inner: set[str]) -> Iterator[tuple[SourceFile, str | None]]:
    """Yield the files of a root that its globs take, in order of their paths, not yet hashed."""
    base = Path(root.root)
    unlistable: list[OSError] = []
    include = [_pattern(glob) for glob in root.include]
    exclude = [_pattern(glob) for glob in root.exclude]
    single = base.is_file()
    for path in [base] if single else _files(base, inner, unlistable):
        relative = path.name if single else path.relative_to(base).as_posix()
        if not single and not any(pattern.match(relative) for pattern in include):
            continue
        if any(pattern.match(relative) for pattern in exclude):
            continue
        uri = str(path)
        file = SourceFile(
            # Names may hold bytes that are no text; Postgres could not store them.
            uri=uri,
            root=root.root,
            source_hash="",
            size=0,
            modified_ns=0,
            tags=root.tags,
            readers=root.readers,
        )
        if not _is_plain(uri):
            yield replace(file, uri=clean_text(uri)), "the name is not valid text; rename the file"
            continue
        try:
            status = path.stat()
        except OSError as error:
            yield file, error.strerror or str(error)
            continue
        if not stat.S_ISREG(status.st_mode):
            yield file, "is no regular file; it was left out"
            continue
        yield replace(file, size=status.st_size, modified_ns=status.st_mtime_ns), None
    for fault in unlistable:
        folder = SourceFile(str(fault.filename), root.root, "", 0, 0)
        yield folder, f"{fault.strerror}; its documents were kept"


def _files(base: Path, inner: set[str], unlistable: list[OSError]) -> Iterator[Path]:
    """Yield every file below `base` but those of inner roots; folders that fail are noted."""
    for folder, folders, names in os.walk(base, onerror=unlistable.append):
        folders[:] = sorted(name for name in folders if str(Path(folder) / name) not in inner)
        for name in sorted(names):
            yield Path(folder) / name


def _pattern(glob: str) -> re.Pattern[str]:
    return re.compile(glob_translate(glob), re.IGNORECASE)


def _is_plain(name: str) -> bool:
    """Tell whether Postgres can store the name as it is: no NUL, no undecodable bytes."""
    return "\x00" not in name and not any(0xD800 <= ord(letter) <= 0xDFFF for letter in name)


def _hash(file: SourceFile) -> str | OSError:
    """Return the SHA-256 of a file's bytes, or the error that reading it gave."""
    try:
        with Path(file.uri).open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as error:
        return error
