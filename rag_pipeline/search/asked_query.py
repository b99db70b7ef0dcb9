"""A query while it is searched: its cleaned text, and its vector, computed once per model."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rag_pipeline.embedding import Embedder
from rag_pipeline.text import clean_text, one_line

Vector = np.ndarray[Any, np.dtype[np.float32]]
MAX_QUERY_CHARACTERS = 8_000
"""A longer query is cut here, and the response says so."""


@dataclass
class AskedQuery:
    """A cleaned query; however many passes a search takes, the embedder is asked once."""

    text: str
    notes: list[str] = field(default_factory=list)
    _vectors: dict[int, Vector] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, query: str) -> AskedQuery:
        """Clean a query; one that is too long is cut, with a note."""
        text = one_line(clean_text(query))
        if len(text) <= MAX_QUERY_CHARACTERS:
            return cls(text)
        note = f"the query was cut after {MAX_QUERY_CHARACTERS} characters"
        return cls(text[:MAX_QUERY_CHARACTERS], [note])

    def vector(self, embedder: Embedder) -> Vector:
        """Return the query's vector in the space of an embedder."""
        with self._lock:
            if id(embedder) not in self._vectors:
                self._vectors[id(embedder)] = embedder.embed_query(self.text)
            return self._vectors[id(embedder)]
