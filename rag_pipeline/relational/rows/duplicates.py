"""Chunks that say what a chunk of another row says already: found by their text, or by meaning.

By primary key nothing comes twice: a row has one place in the tree of its root. Semantic
duplicates are compared with every vector of the source, which are held in memory: 4 bytes a
dimension and chunk.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rag_pipeline.relational.rows.addresses import SHORT_HASH, root_of
from rag_pipeline.relational.rows.row_chunks import EntityChunks
from rag_pipeline.settings import RelationalSettings
from rag_pipeline.store.database import Database
from rag_pipeline.store.named_queries import queries

Vectors = np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True)
class Unique:
    """Which chunks of a row are kept, and the rows that stand for the others."""

    kept: list[int]
    originals: tuple[str, ...] = ()


@dataclass
class _Group:
    """Vectors of chunks and whose they are; grows by doubling."""

    owners: list[str] = field(default_factory=list)
    matrix: Vectors = field(default_factory=lambda: np.empty((0, 0), dtype=np.float32))

    def add(self, owner: str, vectors: Vectors) -> None:
        begin, end = len(self.owners), len(self.owners) + len(vectors)
        if end > len(self.matrix):
            grown = np.zeros((max(64, 2 * end), vectors.shape[1]), dtype=np.float32)
            if begin:
                grown[:begin] = self.matrix[:begin]
            self.matrix = grown
        self.matrix[begin:end] = _units(vectors)
        self.owners += [owner] * len(vectors)

    def nearest(self, vectors: Vectors) -> list[tuple[float, str]]:
        """Return per vector the highest cosine to any chunk, and whose that is."""
        if not self.owners:
            return [(-1.0, "")] * len(vectors)
        scores = _units(vectors) @ self.matrix[: len(self.owners)].T
        best = scores.argmax(axis=1)
        return [(float(scores[i, at]), self.owners[at]) for i, at in enumerate(best)]


class Duplicates:
    """What a source's chunks say, kept up to date while rows land."""

    def __init__(self, database: Database, settings: RelationalSettings, space_id: int) -> None:
        """Read what is stored; nothing where duplicates are kept."""
        self._how = settings.duplicates
        self._threshold = settings.duplicate_similarity
        self._texts: dict[bytes, set[str]] = {}
        """The rows that have a text, by its hash."""
        self._of_row: dict[str, list[bytes]] = {}
        """The same by row: looking through all texts for a row's own would take a scan a row."""
        self._vectors = _Group()
        root = root_of(settings)
        if self._how == "keep":
            return
        with database.connection() as connection:
            for source_hash, digest in queries.relational_texts(connection, root=root):
                self._note(source_hash, bytes(digest))
            if self._how == "semantic":
                rows = queries.relational_vectors(connection, root=root, space_id=space_id)
                for source_hash, vector in rows:
                    row = np.asarray(vector.to_numpy(), dtype=np.float32)[np.newaxis]
                    self._vectors.add(source_hash, row)

    def take(self, source_hash: str, entity: EntityChunks, vectors: Vectors) -> Unique:
        """Return which chunks of a row say something new, and count them from now on."""
        count = len(entity.chunks)
        if self._how == "keep":
            return Unique(list(range(count)))
        self.forget([source_hash])
        digests = [_digest(text) for text in entity.chunks["content"].tolist()]
        originals: dict[str, None] = {}
        kept = []
        near: Sequence[tuple[float, str]] = [(-1.0, "")] * count
        if self._how == "semantic" and count:
            near = self._vectors.nearest(vectors)
        for i, digest in enumerate(digests):
            similarity, owner = near[i]
            if owners := self._texts.get(digest):
                originals[min(owners)[:SHORT_HASH]] = None
            elif similarity >= self._threshold:
                originals[owner[:SHORT_HASH]] = None
            else:
                kept.append(i)
        for i in kept:
            self._note(source_hash, digests[i])
        if kept and self._how == "semantic":
            self._vectors.add(source_hash, vectors[kept])
        return Unique(kept, tuple(originals))

    def forget(self, source_hashes: Sequence[str]) -> None:
        """Take rows for gone, or about to be written anew."""
        gone = {one for one in source_hashes if one in self._of_row}
        if not gone:
            return
        for source_hash in gone:
            for digest in self._of_row.pop(source_hash):
                owners = self._texts.get(digest, set())
                owners.discard(source_hash)
                if not owners:
                    self._texts.pop(digest, None)
        vectors = self._vectors
        if vectors.owners:
            stay = [i for i, owner in enumerate(vectors.owners) if owner not in gone]
            vectors.matrix = vectors.matrix[stay]
            vectors.owners = [vectors.owners[i] for i in stay]

    def _note(self, source_hash: str, digest: bytes) -> None:
        self._texts.setdefault(digest, set()).add(source_hash)
        self._of_row.setdefault(source_hash, []).append(digest)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _units(vectors: Vectors) -> Vectors:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: Vectors = vectors / np.maximum(length, 1e-12)
    return units
