"""A knowledge base for each reader: one database and one model, seen by other principals."""

from __future__ import annotations

import threading
from typing import Annotated

from fastapi import Depends, Request

from rag_pipeline.serve.knowledge import Knowledge
from rag_pipeline.settings import Settings
from rag_pipeline.store.access_roles import ensure_roles
from rag_pipeline.system import RagSystem


class KnowledgeBases:
    """Opens the knowledge base when it is first asked; close it at the end. Safe to share."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._whole: RagSystem | None = None

    def knowledge_of(self, principals: tuple[str, ...] | None) -> Knowledge:
        """Return what a reader may see.

        None is whoever runs the project: everything, or where `security.enabled` is on, what
        `security.principals` may read. Raises `DatabaseUnavailableError`.
        """
        named = self._settings.security.named(principals)
        whole = self.whole()
        return Knowledge(whole if named is None else whole.reading_as(named))

    def whole(self) -> RagSystem:
        """Return the knowledge base as the settings open it; what it writes is not bound.

        Raises `DatabaseUnavailableError`.
        """
        with self._lock:
            if self._whole is None:
                self._whole = _open(self._settings)
            return self._whole

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            if self._whole is not None:
                self._whole.close()
                self._whole = None


def _open(settings: Settings) -> RagSystem:
    """Open the whole; each request is restricted by itself, so that one pool serves all."""
    system = RagSystem(settings)
    if _names_principals(settings):
        try:
            with system.database.whole.connection() as connection:
                ensure_roles(connection)
        except BaseException:
            system.close()
            raise
    return system


def _names_principals(settings: Settings) -> bool:
    own = settings.serve
    named = [own.local_principals, *(token.principals for token in own.tokens)]
    return any(principals is not None for principals in named)


def reader_of(request: Request) -> Knowledge:
    """Return the knowledge base as the sender of a request may see it. Raises like `knowledge_of`.

    A dependency of routes, which runs in a thread: it may ask the database.
    """
    knowledge_bases: KnowledgeBases = request.app.state.readers
    return knowledge_bases.knowledge_of(request.state.bearer.principals)


Reader = Annotated[Knowledge, Depends(reader_of)]
