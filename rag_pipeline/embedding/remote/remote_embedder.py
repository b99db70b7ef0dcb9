"""Embedders that ask a service: one way to plan, send, check and count for all of them.

What differs lies in a client per provider (`openai_client`, `voyage_client`, …): one call of its
library, its errors translated, its reply put in order.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from rag_pipeline.embedding.embedder import OnBatch, OnGroup, create_embedder
from rag_pipeline.embedding.remote.client_contract import Client, Connect, ContextualClient, Purpose
from rag_pipeline.embedding.remote.collecting import (
    GroupCollector,
    WindowCollector,
    average,
    refused_error,
)
from rag_pipeline.embedding.remote.provider_faults import RefusedFault, ReplyFault, key_hidden
from rag_pipeline.embedding.remote.request_planner import (
    Group,
    Piece,
    fill,
    halve_group,
    halve_piece,
    plan_groups,
    plan_pieces,
)
from rag_pipeline.embedding.remote.sending import Sender
from rag_pipeline.embedding.token_vocabularies import TokenCounter, token_counter
from rag_pipeline.embedding.vectors import Vectors, check_vectors
from rag_pipeline.embedding_models import api_name, find_model
from rag_pipeline.errors import EmbeddingReplyError
from rag_pipeline.remote import Bucket, Limiter
from rag_pipeline.settings import EmbeddingSettings
from rag_pipeline.text import clean_text
from rag_pipeline.usage import Usage, UsageMeter

_PROBE = Piece(0, "test", 1)
_MARKS = 4  # tokens of begin and end that a service adds to a text, on the safe side


class RemoteEmbedder:
    """An `Embedder` on a service. Cheap to make and to pickle; connects at the first call."""

    contextual = False

    def __init__(self, settings: EmbeddingSettings, cache_dir: Path, connect: Connect) -> None:
        facts = find_model(settings.provider, settings.model, settings.dimensions)
        assert facts is not None, "settings are resolved"
        self.provider: str = settings.provider
        self.model = settings.model
        self.dimensions = settings.dimensions
        self._facts = facts
        self._settings = settings
        self._cache_dir = cache_dir
        self._connect = connect
        self._lock = threading.RLock()
        self._connected: Client | None = None
        self._counter: TokenCounter | None = None
        self._meter = UsageMeter()
        own = {"document": settings.document_prefix, "query": settings.query_prefix}
        listed = {"document": facts.document_prefix, "query": facts.query_prefix}
        self._prefixes: Mapping[Purpose, str] = {
            "document": listed["document"] if own["document"] is None else own["document"],
            "query": listed["query"] if own["query"] is None else own["query"],
        }
        self._limiter = Limiter(
            settings.max_concurrent_requests,
            requests=Bucket(settings.requests_per_minute),
            tokens=Bucket(settings.tokens_per_minute),
        )
        self._sender = self._make_sender(
            size=lambda piece: piece.tokens,
            halve=halve_piece,
            join=lambda parts, rows: average(
                [(row, len(part.text)) for part, row in zip(parts, rows, strict=True)]
            ),
            probe=lambda timeout: self._send([_PROBE], timeout, "document"),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return (create_embedder, (self._settings, self._cache_dir))

    @cached_property
    def max_tokens(self) -> int:
        """See `Embedder`: the model's limit, less the longer prefix and the model's own marks."""
        prefix = max(self._count(prefix) for prefix in self._prefixes.values())
        return max(1, (self._settings.max_tokens or self._facts.max_tokens) - prefix - _MARKS)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See `Embedder`; estimated where the model's vocabulary is not at hand."""
        return [self._count(text) for text in texts]

    def take_usage(self) -> list[Usage]:
        """See `Embedder`."""
        return self._meter.take()

    def embed_documents(self, texts: Sequence[str], on_batch: OnBatch | None = None) -> Vectors:
        """See `Embedder`. The same text is sent once; of a blank one, nothing is sent."""
        cleaned = [clean_text(text) for text in texts]
        places: dict[str, list[int]] = {}
        for index, text in enumerate(cleaned):
            places.setdefault(text, []).append(index)
        unique = list(places)
        pieces = plan_pieces(unique, self._count, self.max_tokens)
        collector = WindowCollector(pieces)
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        send = partial(self._send, purpose="document")
        for sent, results in self._sender.send_all(self._requests(pieces), send):
            indices: list[int] = []
            for owner, vector in collector.add(sent, results).items():
                vectors[places[unique[owner]]] = vector
                indices += places[unique[owner]]
            if on_batch and indices:
                on_batch(indices, vectors[indices])
        refused = {
            index: fault
            for owner, fault in collector.refused.items()
            for index in places[unique[owner]]
        }
        self._raise_refused(refused | _blank(cleaned), cleaned)
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """See `Embedder`."""
        cleaned = clean_text(text)
        pieces = self._query_pieces(cleaned)
        collector = WindowCollector(pieces)
        send = partial(self._send, purpose="query")
        found: dict[int, Vectors] = {}
        for sent, results in self._sender.send_all(self._requests(pieces), send):
            found |= collector.add(sent, results)
        self._raise_refused(collector.refused | _blank([cleaned]), [cleaned])
        return found[0]

    def _query_pieces(self, text: str) -> list[Piece]:
        """Plan a question. A token is at least a byte: a short one need not load the vocabulary."""
        size = len((self._prefixes["query"] + text).encode()) + _MARKS
        if size <= (self._settings.max_tokens or self._facts.max_tokens):
            return [Piece(0, text, size // 2)] if text.strip() else []
        return plan_pieces([text], self._count, self.max_tokens)

    def _requests(self, pieces: Sequence[Piece]) -> list[Sequence[Piece]]:
        prefix = self._count(self._prefixes["document"]) if len(pieces) > 1 else 0
        runs = fill(
            [piece.tokens + prefix for piece in pieces],
            self._facts.items_per_request,
            self._tokens_per_request,
        )
        return [pieces[run.start : run.stop] for run in runs]

    def _send(self, pieces: Sequence[Piece], timeout: float, purpose: Purpose) -> list[Vectors]:
        texts = [self._prefixes[purpose] + piece.text for piece in pieces]
        with key_hidden(self._key):
            reply = self._client.embed(texts, purpose, timeout)
        # Counted before it is checked: a bad reply is billed as well.
        self._add_usage(purpose, reply.tokens, sum(piece.tokens for piece in pieces))
        return list(self._check(reply.vectors, len(pieces)))

    def _check(self, vectors: Sequence[Any], count: int) -> Vectors:
        """Return the vectors of a reply with unit norm; raises `ReplyFault`."""
        try:
            return check_vectors(
                vectors, count=count, dimensions=self.dimensions, source=self.provider
            )
        except EmbeddingReplyError as error:
            raise ReplyFault(str(error)) from error

    def _add_usage(self, purpose: Purpose, billed: int | None, planned: int) -> None:
        self._meter.add(
            Usage(
                self.provider,
                api_name(self.model),
                "embed_query" if purpose == "query" else "embed_documents",
                requests=1,
                tokens=planned if billed is None else billed,
            )
        )

    def _raise_refused(self, refused: Mapping[int, RefusedFault], texts: Sequence[str]) -> None:
        if refused:
            raise refused_error(self.provider, refused, len(texts))

    @property
    def _tokens_per_request(self) -> int:
        """The provider's limit; a request that no minute has room for would never pass."""
        per_minute = self._settings.tokens_per_minute or self._facts.tokens_per_request
        return min(self._facts.tokens_per_request, per_minute)

    @property
    def _key(self) -> str | None:
        key = self._settings.api_key
        return key.get_secret_value() if key else None

    @property
    def _client(self) -> Client:
        with self._lock:
            if self._connected is None:
                self._connected = self._connect(self._settings, self._facts)
            return self._connected

    @property
    def _count(self) -> TokenCounter:
        with self._lock:
            if self._counter is None:
                self._counter = token_counter(self._settings.provider, self._facts.vocabulary)
            return self._counter

    def _make_sender(self, **how: Callable[..., Any]) -> Sender[Any, Any]:
        return Sender(
            self._limiter,
            deadline=self._settings.deadline_seconds,
            concurrency=self._settings.max_concurrent_requests,
            **how,
        )


class ContextualRemoteEmbedder(RemoteEmbedder):
    """A `ContextualEmbedder` on a service: a text alone is a group of one."""

    contextual = True

    def __init__(self, settings: EmbeddingSettings, cache_dir: Path, connect: Connect) -> None:
        super().__init__(settings, cache_dir, connect)
        self._group_sender = self._make_sender(
            size=lambda group: group.tokens,
            halve=halve_group,
            join=lambda _groups, parts: [row for part in parts for row in part],
            probe=lambda timeout: self._send([_PROBE], timeout, "document"),
        )

    def embed_groups(
        self, groups: Sequence[Sequence[str]], on_group: OnGroup | None = None
    ) -> list[Vectors]:
        """See `ContextualEmbedder`."""
        cleaned = [[clean_text(text) for text in group] for group in groups]
        blank = {
            index: next(iter(_blank(group).values()))
            for index, group in enumerate(cleaned)
            if _blank(group)
        }
        planned = plan_groups(
            [
                [] if index in blank else plan_pieces(group, self._count, self.max_tokens)
                for index, group in enumerate(cleaned)
            ],
            min(self.max_tokens, self._tokens_per_request),
        )
        runs = fill(
            [group.tokens for group in planned],
            self._facts.items_per_request,
            self._tokens_per_request,
            [len(group.pieces) for group in planned],
        )
        collector = GroupCollector(planned)
        found: dict[int, Vectors] = {}
        requests = [planned[run.start : run.stop] for run in runs]
        for sent, results in self._group_sender.send_all(requests, self._send_groups):
            for index, vectors in collector.add(sent, results).items():
                found[index] = vectors
                if on_group:
                    on_group(index, vectors)
        self._raise_refused(collector.refused | blank, [" ".join(group) for group in cleaned])
        empty = np.empty((0, self.dimensions), dtype=np.float32)
        return [found.get(index, empty) for index in range(len(groups))]

    def _send(self, pieces: Sequence[Piece], timeout: float, purpose: Purpose) -> list[Vectors]:
        groups = [Group(piece.owner, (piece,)) for piece in pieces]
        return [rows[0] for rows in self._send_groups(groups, timeout, purpose)]

    def _send_groups(
        self, groups: Sequence[Group], timeout: float, purpose: Purpose = "document"
    ) -> list[list[Vectors]]:
        texts = [[piece.text for piece in group.pieces] for group in groups]
        client = cast(ContextualClient, self._client)
        with key_hidden(self._key):
            reply = client.embed_groups(texts, purpose, timeout)
        self._add_usage(purpose, reply.tokens, sum(group.tokens for group in groups))
        sizes = [len(group.pieces) for group in groups]
        if [len(rows) for rows in reply.groups] != sizes:
            raise ReplyFault(f"{self.provider} sent other numbers of vectors than of chunks")
        flat = self._check([row for rows in reply.groups for row in rows], sum(sizes))
        rows = iter(flat)
        return [[next(rows) for _ in range(size)] for size in sizes]


def _blank(texts: Sequence[str]) -> dict[int, RefusedFault]:
    """Blank texts have no meaning to point at: they are not sent, and reported."""
    return {
        index: RefusedFault("the text is blank")
        for index, text in enumerate(texts)
        if not text.strip()
    }
