"""What a provider's client has to do: send one request in the provider's own terms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from rag_pipeline.embedding_models import EmbeddingModel
from rag_pipeline.remote import ReplyFault
from rag_pipeline.settings import EmbeddingSettings

Purpose = Literal["document", "query"]
Item = TypeVar("Item")
RawVectors = Sequence[Sequence[float]]
"""Vectors as a provider sent them: of any length, and not checked yet."""
SETTINGS_HINT = "check embedding.model, dimensions, base_url and location"


@dataclass(frozen=True)
class EmbeddingReply:
    """What a service answered: a vector for each text, in order."""

    vectors: RawVectors
    tokens: int | None = None
    """Tokens that it bills, if it reports them."""


@dataclass(frozen=True)
class GroupReply:
    """The answer of a contextual model: the vectors of each group's texts, in order."""

    groups: Sequence[RawVectors]
    tokens: int | None = None


class Client(Protocol):
    """One provider's library. Calls raise a `ServiceFault` or a `ProviderError`, nothing else."""

    def embed(self, texts: Sequence[str], purpose: Purpose, timeout: float) -> EmbeddingReply:
        """Send one request; `timeout` is in seconds."""
        ...


class ContextualClient(Client, Protocol):
    """The client of a contextual model."""

    def embed_groups(
        self, groups: Sequence[Sequence[str]], purpose: Purpose, timeout: float
    ) -> GroupReply:
        """Send one request of several groups."""
        ...


Connect = Callable[[EmbeddingSettings, EmbeddingModel], Client]


def in_order(items: Sequence[Item], indices: Sequence[object], source: str) -> list[Item]:
    """Return `items` sorted by their `indices`, which must be 0, 1, 2, … in any order.

    Raises `ReplyFault` if an index is missing, repeated or not a number.
    """
    found = dict(zip(indices, items, strict=True))
    try:
        return [found[index] for index in range(len(items))]
    except KeyError as error:
        raise ReplyFault(f"{source} sent no vector for text {error}, or one twice") from error
