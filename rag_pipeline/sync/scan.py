"""What the source folders hold now: every file with its content hash.

Only files whose size or modification time changed are read; the rest keep the hash that the store
remembers.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from fsspec.utils import glob_translate

from rag_pipeline.errors import SourceError
from rag_pipeline.settings import Settings
from rag_pipeline.store.sources import SourceFile, SourceRoot
from rag_pipeline.text import clean_text

HASH_THREADS = 4


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
            root=str((settings.project_dir / source.path).expanduser().resolve()),
            include=tuple(source.include),
            exclude=tuple(source.exclude),
            tags=tuple(source.tags),
            readers=tuple(source.readers),
            origin="settings",
        )
        for source in settings.sources
    ]


def path_root(path: Path) -> SourceRoot:
    """Return the root of a folder or single file given on the command line.

    Raises `SourceError` if there is nothing.
    """
    resolved = path.expanduser().resolve()
    if not resolved.exists():
        raise SourceError(f"{path} does not exist", hint="give a folder or a file")
    return SourceRoot(root=str(resolved))


def scan(roots: Sequence[SourceRoot], known: Mapping[str, SourceFile]) -> Scan:
    """Look at every root; `known` are the store's files by URI.

    A root that is not there (an unmounted disk) is a problem, not an empty folder: its documents
    stay. A file that cannot be read is a problem and keeps what the store has.
    """
    found: dict[str, SourceFile] = {}
    to_hash: list[SourceFile] = []
    looked_at: list[str] = []
    problems: list[str] = []
    unreadable: list[str] = []
    for root in roots:
        if not Path(root.root).exists():
            problems.append(f"{root.root} is not there; its documents were kept")
            continue
        looked_at.append(root.root)
        for file, problem in _walk(root):
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


def _walk(root: SourceRoot) -> Iterator[tuple[SourceFile, str | None]]:
    """Yield the files of a root that its globs take, in order of their paths, not yet hashed."""
    base = Path(root.root)
    include = [_pattern(glob) for glob in root.include]
    exclude = [_pattern(glob) for glob in root.exclude]
    single = base.is_file()
    for path in [base] if single else _files(base):
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
        if clean_text(uri) != uri and not _is_plain(uri):
            yield replace(file, uri=clean_text(uri)), "the name is not valid text; rename the file"
            continue
        try:
            status = path.stat()
        except OSError as error:
            yield file, error.strerror or str(error)
            continue
        yield replace(file, size=status.st_size, modified_ns=status.st_mtime_ns), None


def _files(base: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(base):
        folders.sort()
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
