"""What an embedding provider is, and which one the settings name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from rag_pipeline.settings import EmbeddingSettings
from rag_pipeline.usage import Usage

if TYPE_CHECKING:
    from rag_pipeline.embedding.vectors import Vectors

EMBEDDING_VERSION = "1"
"""Part of the fingerprint of stored vectors: raised whenever the same text and settings would
give other vectors."""


OnBatch: TypeAlias = "Callable[[Sequence[int], Vectors], None]"
"""Takes the indices of texts and their vectors as they land, in any order, in the caller's thread;
the place to keep what is paid for, whatever happens to the rest."""
OnGroup: TypeAlias = "Callable[[int, Vectors], None]"
"""The same for the index of a document and its chunks' vectors."""


class Embedder(Protocol):
    """Turns texts into vectors of unit norm, so that the dot product is the cosine similarity.

    Implementations are safe to call from several threads.
    """

    provider: str
    """Who computes the vectors: `local`, …"""
    model: str
    """Name of the model, as the provider spells it; behind a `#`, what makes one's own variant
    of it another one (see `embedding_models.resolve_model`). Equal to `settings.model`."""
    dimensions: int
    """Length of a vector."""
    contextual: bool
    """Whether a chunk's vector depends on the document's other chunks: `ContextualEmbedder`."""

    @property
    def max_tokens(self) -> int:
        """Tokens (as `count_tokens` counts them) of a text that is embedded in one piece.

        A longer one is split and its vectors averaged, never cut.
        """
        ...

    def embed_documents(self, texts: Sequence[str], on_batch: OnBatch | None = None) -> Vectors:
        """Embed passages to be found: float32, texts x dimensions, in the order of `texts`.

        `on_batch` gets the vectors as they land. Raises `EmbeddingError`: with `bad_texts`, where
        single texts are refused or blank and all others were handed to `on_batch`; without, when
        the service cannot be reached in time. `EmbeddingReplyError`, if the model's output fails
        the checks each time; `ProviderError`, if the service refuses everything.
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

    def embed_groups(
        self, groups: Sequence[Sequence[str]], on_group: OnGroup | None = None
    ) -> list[Vectors]:
        """Embed the ordered chunks of several documents: a matrix for each, rows in order.

        Several documents may share a request; a document over the provider's limit is cut into
        groups between its chunks. `on_group` gets each document as it lands. Raises like
        `embed_documents`; `bad_texts` are then indices of documents.
        """
        ...


def create_embedder(settings: EmbeddingSettings, cache_dir: Path) -> Embedder:
    """Return the embedder that `settings` names; `cache_dir` keeps model files between runs.

    Nothing is loaded, read or called before the first call.
    """
    if settings.provider == "local":
        if settings.model_path is None:
            from rag_pipeline.embedding.local.local_embedder import LocalEmbedder

            return LocalEmbedder(settings, cache_dir)
        from rag_pipeline.embedding.local.own_model import FolderEmbedder

        return FolderEmbedder(settings, cache_dir)
    from rag_pipeline.embedding.remote.providers import create_remote_embedder

    return create_remote_embedder(settings, cache_dir)
