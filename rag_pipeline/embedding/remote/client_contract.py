"""What a provider's client has to do for `remote`: one request, in the provider's own words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from rag_pipeline.embedding.remote.provider_faults import ReplyFault
from rag_pipeline.embedding_models import EmbeddingModel
from rag_pipeline.settings import EmbeddingSettings

Purpose = Literal["document", "query"]


@dataclass(frozen=True)
class Reply:
    """What a service answered: a vector for each text, in order."""

    vectors: Sequence[Any]
    tokens: int | None = None
    """Tokens that it bills, where it says so."""


@dataclass(frozen=True)
class GroupReply:
    """The same of a contextual model: the vectors of each group's texts, in order."""

    groups: Sequence[Sequence[Any]]
    tokens: int | None = None


class Client(Protocol):
    """One provider's library. Calls raise a `Fault` or a `ProviderError`, nothing else."""

    def embed(self, texts: Sequence[str], purpose: Purpose, timeout: float) -> Reply:
        """Send one request; `timeout` is in seconds."""
        ...


class ContextualClient(Client, Protocol):
    """The same for a contextual model."""

    def embed_groups(
        self, groups: Sequence[Sequence[str]], purpose: Purpose, timeout: float
    ) -> GroupReply:
        """Send one request of several groups."""
        ...


Connect = Callable[[EmbeddingSettings, EmbeddingModel], Client]


def in_order(items: Sequence[Any], indices: Sequence[Any], source: str) -> list[Any]:
    """Return `items` sorted by their `indices`, which must be 0, 1, 2, … in any order.

    Raises `ReplyFault` where one is missing, doubled or no number.
    """
    found = dict(zip(indices, items, strict=True))
    try:
        return [found[index] for index in range(len(items))]
    except KeyError as error:
        raise ReplyFault(f"{source} sent no vector for text {error}, or one twice") from error
