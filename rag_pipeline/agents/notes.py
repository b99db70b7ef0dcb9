"""Notes that agents save, kept as documents of the source `notes` and synced like any other.

Each bearer with its principals has a folder of which these are the readers: a note is visible to
everyone who may read what the agent reads.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
import uuid
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from rag_pipeline.errors import DocumentError, SettingsError, SourceError, SyncLockedError
from rag_pipeline.serve.access_tokens import Bearer
from rag_pipeline.settings import PUBLIC, SecuritySettings
from rag_pipeline.store.source_tables import register_roots
from rag_pipeline.sync.sources.places import given_root
from rag_pipeline.system import RagSystem
from rag_pipeline.text import one_line

MAX_NOTE = 20_000
"""Maximum characters of a note."""
MAX_TITLE = 200
TAG = "notes"
_LONGEST_NAME = 60


class Notes:
    """Keeps notes in a project's data folder; `system` has the unrestricted connection."""

    def __init__(self, system: RagSystem, security: SecuritySettings) -> None:
        self._system = system
        self._security = security

    def keep(self, title: str, text: str, bearer: Bearer) -> tuple[str, bool, str]:
        """Write a note and embed it; return its file name, whether it is searchable, and why not.

        Raises `SourceError` if it cannot be written, `SettingsError` if nobody could read it.
        """
        readers = self._security.named(bearer.principals)
        if readers is None:
            readers = (PUBLIC,)
        elif not readers:
            raise SettingsError(
                "nobody could find the note: you have no principals",
                hint="give the token principals, or set security.principals",
            )
        folder = self._system.settings.data_path / "notes" / _folder(bearer.name, readers)
        name = f"{_stem(title)}-{uuid.uuid4().hex[:8]}.md"
        _write(folder / name, _markdown(title, text, bearer))
        try:
            # No waiting: a sync may take hours, and will include the note once its folder is known.
            with self._system.database.whole.sync_lock():
                pass
        except SyncLockedError:
            # The folder may be new.
            root = replace(given_root(folder), tags=(TAG,), readers=readers)
            with self._system.database.whole.connection() as connection:
                register_roots(connection, [root])
            return name, False, "a sync is running; the next one includes the note"
        try:
            added = self._system.add_directory(folder, tags=[TAG], readers=readers)
        except DocumentError as error:
            return name, False, str(error)
        if name in added.failures:
            return name, False, added.failures[name]
        return name, True, "it is searchable from now on"


def _folder(name: str, readers: Iterable[str]) -> str:
    """Return a folder name; bearers with the same name may have different principals."""
    named = sorted(set(readers))
    if PUBLIC in named:
        return name
    digest = hashlib.sha256("\0".join(named).encode()).hexdigest()
    return f"{name}-{digest[:12]}"


def _markdown(title: str, text: str, bearer: Bearer) -> str:
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    return f"# {one_line(title)}\n\nNoted by {bearer.name} on {day}.\n\n{text.strip()}\n"


def _stem(title: str) -> str:
    """Return a title as the beginning of a file name.

    >>> _stem("Oil filter: QF-1142/B!"), _stem("../..")
    ('oil-filter-qf-1142-b', 'note')
    """
    plain = unicodedata.normalize("NFC", title).lower()
    words = re.findall(r"[^\W_]+", plain)
    return "-".join(words)[:_LONGEST_NAME].strip("-") or "note"


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise SourceError(
            f"the note cannot be written: {error.strerror or error}", hint="check the data folder"
        ) from error
