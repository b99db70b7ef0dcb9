"""The files that documents were read from, as long as they still have the indexed content."""

from __future__ import annotations

import hashlib
from pathlib import Path

from rag_pipeline.errors import DocumentError
from rag_pipeline.serve.knowledge import StoredDocument
from rag_pipeline.serve.problems import ProblemError
from rag_pipeline.settings import Settings
from rag_pipeline.sync.sources.fetching import local_copies
from rag_pipeline.sync.sources.spool import Spool


class Originals:
    """Finds the files of one project's documents; safe to use from several threads."""

    def __init__(self, settings: Settings) -> None:
        self._web = settings.web
        self._spool = Spool(settings.data_path / "serve" / "copies")
        self._checked: dict[str, tuple[tuple[int, int], str]] = {}

    def path(self, document: StoredDocument) -> Path:
        """Return a local file with the document's content; remote ones are copied first.

        Raises `ProblemError` if there is none.
        """
        try:
            copies = local_copies(
                document.uris, document.source_hash, document.name, self._spool, self._web
            )
        except DocumentError as error:
            raise ProblemError(404, error.message, error.hint) from error
        for copy in map(Path, copies):
            if self._is_content(copy, document.source_hash):
                return copy
        raise ProblemError(
            404, "the file is gone or has changed", "run `rag sync`, then search again"
        )

    def clear(self) -> None:
        """Delete local copies of remote files."""
        self._spool.clear()

    def _is_content(self, path: Path, source_hash: str) -> bool:
        """Return whether a file still has the indexed content; it is hashed once per change."""
        try:
            status = path.stat()
            stamp = (status.st_size, status.st_mtime_ns)
            known = self._checked.get(str(path))
            if known is None or known[0] != stamp:
                with path.open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
                known = self._checked[str(path)] = (stamp, digest)
        except OSError:
            return False
        return known[1] == source_hash
