"""Checks of vectors before they are stored or searched with, and scaling to unit length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rag_pipeline.errors import EmbeddingReplyError

Vectors = npt.NDArray[np.float32]


def check_vectors(reply: Any, *, count: int, dimensions: int, source: str = "model") -> Vectors:
    """Return a provider's reply as float32 vectors of unit norm, `count` x `dimensions`.

    `reply` is an array or nested sequences; `source` names the provider in the message. Raises
    `EmbeddingReplyError` if the count or the dimensions differ, a value is not finite, or a
    vector is zero (no direction, so no similarity).
    """
    try:
        with np.errstate(over="ignore"):
            vectors = np.ascontiguousarray(reply, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise EmbeddingReplyError(f"{source} sent vectors of unequal length or not numbers") from (
            error
        )
    if count == 0 and vectors.size == 0:
        return np.empty((0, dimensions), dtype=np.float32)
    if vectors.ndim != 2 or vectors.shape[0] != count:
        got = vectors.shape[0] if vectors.ndim else 0
        raise EmbeddingReplyError(f"{source} sent {got} vectors for {count} texts")
    if vectors.shape[1] != dimensions:
        raise EmbeddingReplyError(
            f"{source} sent vectors of {vectors.shape[1]} dimensions instead of {dimensions}",
            hint="check the settings embedding.model and embedding.dimensions",
        )
    if bad := _indices(np.logical_not(np.isfinite(vectors).all(axis=1))):
        raise EmbeddingReplyError(f"{source} sent values that are not finite, for texts {bad}")
    # float64: squares of small or large float32 values leave its range.
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    if bad := _indices(norms == 0):
        raise EmbeddingReplyError(f"{source} sent zero vectors, for texts {bad}")
    unit: Vectors = (vectors / norms[:, None]).astype(np.float32)
    return unit


def average_windows(vectors: Vectors, owners: Sequence[int], weights: Sequence[int]) -> Vectors:
    """Average the windows of each text, weighted by their tokens.

    `vectors` is windows x dimensions; window `i` belongs to text `owners[i]` (every text from 0
    to the largest has at least one). The result, texts x dimensions, is not normalised.
    """
    texts = max(owners, default=-1) + 1
    if texts == len(owners):
        return vectors[np.argsort(np.asarray(owners), kind="stable")] if texts else vectors
    share = np.asarray(weights, dtype=np.float64)
    sums = np.zeros((texts, vectors.shape[1]), dtype=np.float64)
    np.add.at(sums, np.asarray(owners), vectors * share[:, None])
    totals = np.bincount(np.asarray(owners), weights=share, minlength=texts)
    return (sums / totals[:, None]).astype(np.float32)


def _indices(mask: npt.NDArray[np.bool_]) -> str:
    """Name the first few rows of `mask` that are true; empty if none is."""
    rows = np.flatnonzero(mask)
    return ", ".join(map(str, rows[:5])) + (", …" if len(rows) > 5 else "")
