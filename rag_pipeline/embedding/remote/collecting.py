"""Reassembling results as they land: windows into texts, groups into documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from rag_pipeline.embedding.remote.request_planner import ChunkGroup, TextWindow
from rag_pipeline.embedding.vectors import Vectors, average_windows, check_vectors
from rag_pipeline.errors import EmbeddingError, EmbeddingReplyError
from rag_pipeline.remote import RefusedFault


class WindowCollector:
    """Averages the windows of each text as soon as the last of them has landed."""

    def __init__(self, windows: Sequence[TextWindow]) -> None:
        self._missing = Counter(window.owner for window in windows)
        self._landed: dict[int, list[tuple[Vectors, int]]] = {}
        self.refused: dict[int, RefusedFault] = {}
        """The fault of each text that was refused, by its index."""

    def add(
        self, windows: Sequence[TextWindow], results: Sequence[Vectors | RefusedFault]
    ) -> dict[int, Vectors]:
        """Take the results of a request; return the vectors of the texts that are now complete."""
        complete: dict[int, Vectors] = {}
        for window, result in zip(windows, results, strict=True):
            owner = window.owner
            self._missing[owner] -= 1
            if isinstance(result, RefusedFault):
                self.refused.setdefault(owner, result)
            else:
                self._landed.setdefault(owner, []).append((result, max(1, window.tokens)))
            if not self._missing[owner]:
                landed = self._landed.pop(owner, [])
                if owner not in self.refused:
                    complete[owner] = average(landed)
        return complete


class GroupCollector:
    """Joins the groups of each document as soon as the last of them has landed."""

    def __init__(self, groups: Sequence[ChunkGroup]) -> None:
        self._groups: dict[int, list[ChunkGroup]] = {}
        for group in groups:
            self._groups.setdefault(group.owner, []).append(group)
        self._landed: dict[ChunkGroup, list[Vectors]] = {}
        self.refused: dict[int, RefusedFault] = {}
        """The fault of each document that was refused, by its index."""

    def add(
        self, groups: Sequence[ChunkGroup], results: Sequence[list[Vectors] | RefusedFault]
    ) -> dict[int, Vectors]:
        """Take the results of a request; return the matrices of the documents now complete.

        A matrix has a row for each chunk that was planned, in order.
        """
        complete: dict[int, Vectors] = {}
        for group, result in zip(groups, results, strict=True):
            if isinstance(result, RefusedFault):
                self.refused.setdefault(group.owner, result)
                continue
            self._landed[group] = result
            parts = self._groups[group.owner]
            if all(part in self._landed for part in parts):
                windows = [window for part in parts for window in part.windows]
                rows = [row for part in parts for row in self._landed.pop(part)]
                collector = WindowCollector(windows)
                chunks = collector.add(windows, rows)
                complete[group.owner] = np.stack([chunks[index] for index in sorted(chunks)])
        return complete


def average(windows: Sequence[tuple[Vectors, int]]) -> Vectors:
    """Return the average of (vector, weight) pairs, of unit norm."""
    if len(windows) == 1:
        return windows[0][0]
    rows, weights = zip(*windows, strict=True)
    mean = average_windows(np.stack(rows), [0] * len(rows), weights)
    unit: Vectors = check_vectors(mean, count=1, dimensions=mean.shape[1])[0]
    return unit


def refused_error(provider: str, refused: Mapping[int, RefusedFault], count: int) -> EmbeddingError:
    """Return the error for texts that were refused: which ones, and why the first of them was."""
    first = min(refused)
    kind = EmbeddingError
    if all(fault.bad_reply for fault in refused.values()):
        kind = EmbeddingReplyError
    # Without the text itself: errors may be shown to people who may not see the document.
    return kind(
        f"{len(refused)} of {count} texts cannot be embedded by {provider}: {refused[first]}",
        bad_texts=sorted(refused),
    )
