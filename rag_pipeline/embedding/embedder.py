"""What an embedding provider does, whichever it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from rag_pipeline.usage import Usage

if TYPE_CHECKING:
    from rag_pipeline.embedding.vectors import Vectors

OnBatch: TypeAlias = "Callable[[Sequence[int], Vectors], None]"
"""Takes the indices of texts and their vectors as they land, in any order, in the caller's thread.
What it stores is kept even if the rest fails."""
OnGroup: TypeAlias = "Callable[[int, Vectors], None]"
"""Takes the index of a document and the vectors of its chunks, likewise."""


class Embedder(Protocol):
    """Turns texts into vectors of unit norm, so that the dot product is the cosine similarity.

    Implementations are safe to call from several threads.
    """

    provider: str
    """Who computes the vectors: `local`, …"""
    model: str
    """Name of the model, as the provider spells it, with a hash after a `#` for a variant of your
    own (see `embedding_models.resolve_model`). Equal to `settings.model`."""
    dimensions: int
    """Length of a vector."""
    contextual: bool
    """Whether a chunk's vector depends on the document's other chunks: `ContextualEmbedder`."""

    @property
    def version(self) -> str:
        """Version of the space that its vectors lie in; vectors of different ones never mix."""
        ...

    @property
    def max_tokens(self) -> int:
        """Tokens (as `count_tokens` counts them) of a text that is embedded in one piece.

        A longer text is split and its vectors averaged; nothing is cut off.
        """
        ...

    def embed_documents(self, texts: Sequence[str], on_batch: OnBatch | None = None) -> Vectors:
        """Embed the passages to search: float32, texts x dimensions, in the order of `texts`.

        `on_batch` gets the vectors as they land. Raises `EmbeddingError` with `bad_texts` if
        single texts are refused or blank (`on_batch` got all others), and without if the service
        cannot be reached in time; `EmbeddingReplyError` if the model's output fails the checks
        every time; `ProviderError` if the service refuses everything.
        """
        ...

    def embed_query(self, text: str) -> Vectors:
        """Embed a question: float32, `dimensions` long. Raises like `embed_documents`."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text in the model's vocabulary, prefixes and marks excluded."""
        ...

    def take_usage(self) -> list[Usage]:
        """Return the usage since the last call; empty for a local model."""
        ...


class ContextualEmbedder(Embedder, Protocol):
    """An embedder that reads a document's chunks together (`contextual` is true)."""

    def embed_groups(
        self, groups: Sequence[Sequence[str]], on_group: OnGroup | None = None
    ) -> list[Vectors]:
        """Embed the ordered chunks of several documents: one matrix per document, rows in order.

        Several documents may share a request; a document over the provider's limit is cut into
        groups between its chunks. `on_group` gets each document as it lands. Raises like
        `embed_documents`; `bad_texts` are then indices of documents.
        """
        ...
