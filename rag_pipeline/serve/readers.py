"""A knowledge base for each reader, opened when the reader first asks."""

from __future__ import annotations

import threading

from rag_pipeline.serve.knowledge import Knowledge
from rag_pipeline.settings import Settings
from rag_pipeline.system import RagSystem


class Readers:
    """Opens a `RagSystem` for each set of principals; close it at the end."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._known: dict[frozenset[str] | None, Knowledge] = {}

    def knowledge_of(self, principals: tuple[str, ...] | None) -> Knowledge:
        """Return what a reader may see; None is whoever runs the project, and sees everything.

        Raises `DatabaseUnavailableError`.
        """
        key = None if principals is None else frozenset(principals)
        with self._lock:
            if key not in self._known:
                self._known[key] = self._open(principals)
            return self._known[key]

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            for knowledge in self._known.values():
                knowledge.system.close()
            self._known.clear()

    def _open(self, principals: tuple[str, ...] | None) -> Knowledge:
        given = {name: getattr(self._settings, name) for name in type(self._settings).model_fields}
        folder = given.pop("project_dir")
        system = RagSystem(folder, principals=principals, **given)
        return Knowledge(system, sees_everything=principals is None)
