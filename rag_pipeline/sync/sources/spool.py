"""Local copies of remote documents while they are being processed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import uuid
from io import BufferedIOBase
from pathlib import Path
from typing import cast

import fsspec

from rag_pipeline.errors import ChangedMeanwhileError

_BLOCK = 1 << 20


def open_remote(uri: str) -> BufferedIOBase:
    """Open a file of an fsspec file system to be read once. Raises that file system's errors."""
    filesystem, path = fsspec.core.url_to_fs(uri)
    return cast(BufferedIOBase, filesystem.open(path, "rb", cache_type="readahead"))


class Spool:
    """A folder of files named by the SHA-256 of their bytes, written atomically."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, source_hash: str) -> Path:
        """Return the path of a content's copy, whether or not it exists."""
        return self._folder / source_hash

    def put(self, content: bytes) -> str:
        """Store bytes until they are processed; return their hash."""
        source_hash = hashlib.sha256(content).hexdigest()
        if not self.path(source_hash).exists():
            partial = self._partial()
            partial.write_bytes(content)
            partial.replace(self.path(source_hash))
        return source_hash

    def fetch(self, uri: str, source_hash: str, name: str) -> Path:
        """Copy a remote file here. Raises `ChangedMeanwhileError` if its content has changed."""
        target = self.path(source_hash)
        if target.exists():
            return target
        partial = self._partial()
        digest = hashlib.sha256()
        try:
            with open_remote(uri) as source, partial.open("wb") as copy:
                while block := source.read(_BLOCK):
                    digest.update(block)
                    copy.write(block)
            if digest.hexdigest() != source_hash:
                raise ChangedMeanwhileError(
                    "changed after the source was scanned",
                    document=name,
                    hint="run `rag sync` again",
                )
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
        return target

    def drop(self, source_hash: str) -> None:
        """Delete a copy, if there is one."""
        with contextlib.suppress(OSError):
            self.path(source_hash).unlink(missing_ok=True)

    def clear(self) -> None:
        """Delete all copies; unprocessed documents are fetched again."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _partial(self) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder / f"{os.getpid()}-{uuid.uuid4().hex}.partial"
