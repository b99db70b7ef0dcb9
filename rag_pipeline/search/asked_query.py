"""The query of a running search: its cleaned text, and its vector, computed once per model."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rag_pipeline.embedding import Embedder
from rag_pipeline.text import clean_text, detect_language, one_line

Vector = NDArray[np.float32]
MAX_QUERY_CHARACTERS = 8_000
"""Longer queries are cut, and the response says so."""


@dataclass
class AskedQuery:
    """A cleaned query; the embedder is called once, however many passes a search takes."""

    text: str
    notes: list[str] = field(default_factory=list)
    _vectors: dict[int, Vector] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, query: str) -> AskedQuery:
        """Clean a query; cut it, with a note, if it is too long."""
        text = one_line(clean_text(query))
        if len(text) <= MAX_QUERY_CHARACTERS:
            return cls(text)
        note = f"the query was cut after {MAX_QUERY_CHARACTERS} characters"
        return cls(text[:MAX_QUERY_CHARACTERS], [note])

    @cached_property
    def language(self) -> str | None:
        """The language it is asked in, if it can be told."""
        return detect_language(self.text)

    def vector(self, embedder: Embedder) -> Vector:
        """Return the query's vector in the space of an embedder."""
        with self._lock:
            if id(embedder) not in self._vectors:
                self._vectors[id(embedder)] = embedder.embed_query(self.text)
            return self._vectors[id(embedder)]
