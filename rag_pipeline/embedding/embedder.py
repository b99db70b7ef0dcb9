"""What an embedding provider is, and which one the settings name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rag_pipeline.settings import EmbeddingSettings
from rag_pipeline.usage import Usage

if TYPE_CHECKING:
    from rag_pipeline.embedding.vectors import Vectors

EMBEDDING_VERSION = "1"
"""Part of the fingerprint of stored vectors: raised whenever the same text and settings would
give other vectors."""


class Embedder(Protocol):
    """Turns texts into vectors of unit norm, so that the dot product is the cosine similarity.

    Implementations are safe to call from several threads.
    """

    provider: str
    """Who computes the vectors: `local`, …"""
    model: str
    """Name of the model, as the provider spells it."""
    dimensions: int
    """Length of a vector."""
    max_tokens: int
    """Tokens (as `count_tokens` counts them) that one text may have to be embedded in one piece;
    a longer one is split and its vectors averaged, never cut."""

    contextual: bool
    """Whether a chunk's vector depends on the document's other chunks: `ContextualEmbedder`."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed passages to be found: float32, texts x dimensions, in the order of `texts`.

        Raises `EmbeddingError`; `EmbeddingReplyError` if the model's output fails the checks.
        """
        ...

    def embed_query(self, text: str) -> Vectors:
        """Embed a question: float32, `dimensions` long. Raises like `embed_documents`."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text in the model's vocabulary, prefixes and marks excluded."""
        ...

    def take_usage(self) -> list[Usage]:
        """Return what was asked of the provider since the last call; empty for a local model."""
        ...


class ContextualEmbedder(Embedder, Protocol):
    """An embedder that reads a document's chunks together (`contextual` is true)."""

    def embed_groups(self, groups: Sequence[Sequence[str]]) -> list[Vectors]:
        """Embed the ordered chunks of several documents: a matrix for each, rows in order.

        Several documents may share a request; a document over the provider's limit is cut into
        groups between its chunks. Raises like `embed_documents`.
        """
        ...


def create_embedder(settings: EmbeddingSettings, cache_dir: Path) -> Embedder:
    """Return the embedder that `settings` names; `cache_dir` keeps model files between runs.

    Nothing is loaded before the first call. Raises `SettingsError` for a model or dimensions that
    the provider does not have.
    """
    from rag_pipeline.embedding.local import LocalEmbedder

    return LocalEmbedder(settings, cache_dir)
