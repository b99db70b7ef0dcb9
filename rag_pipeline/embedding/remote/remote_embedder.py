"""Embedders that ask a service: one way to plan, send, check and count for all of them.

Whatever differs is in a client per provider (`openai_client`, `voyage_client`, …): it calls the
provider's library once, translates its errors and puts its reply in order.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cached_property, partial

import numpy as np

from rag_pipeline.code_versions import EMBEDDING_VERSION
from rag_pipeline.embedding.embedder import OnBatch
from rag_pipeline.embedding.remote.client_contract import Client, Connect, Purpose, RawVectors
from rag_pipeline.embedding.remote.collecting import WindowCollector, average, refused_error
from rag_pipeline.embedding.remote.key_hiding import key_hidden
from rag_pipeline.embedding.remote.request_planner import (
    TextWindow,
    fill,
    halve_window,
    plan_windows,
)
from rag_pipeline.embedding.remote.sending import Sender
from rag_pipeline.embedding.token_vocabularies import TokenCounter, token_counter
from rag_pipeline.embedding.vectors import Vectors, check_vectors
from rag_pipeline.embedding_models import EmbeddingModel, api_name
from rag_pipeline.errors import EmbeddingReplyError
from rag_pipeline.remote import Bucket, Limiter, RefusedFault, ReplyFault
from rag_pipeline.settings import EmbeddingSettings
from rag_pipeline.text import clean_text
from rag_pipeline.usage import Usage, UsageMeter

PROBE = TextWindow(0, "test", 1)
_MARKS = 4  # start and end tokens that a service adds to a text; an upper bound


class RemoteEmbedder:
    """An `Embedder` on a service. Cheap to make and to pickle; connects on the first call."""

    contextual = False
    version = EMBEDDING_VERSION

    def __init__(
        self, settings: EmbeddingSettings, facts: EmbeddingModel, connect: Connect
    ) -> None:
        self.provider: str = settings.provider
        self.model = settings.model
        self.dimensions = settings.dimensions
        self._facts = facts
        self._settings = settings
        self._connect = connect
        self._lock = threading.RLock()
        self._connected: Client | None = None
        self._counter: TokenCounter | None = None
        self._meter = UsageMeter()
        document, query = settings.document_prefix, settings.query_prefix
        self._prefixes: Mapping[Purpose, str] = {
            "document": facts.document_prefix if document is None else document,
            "query": facts.query_prefix if query is None else query,
        }
        self._limiter = Limiter(
            settings.max_concurrent_requests,
            requests=Bucket(settings.requests_per_minute),
            tokens=Bucket(settings.tokens_per_minute),
        )
        self._sender: Sender[TextWindow, Vectors] = Sender(
            self._limiter,
            settings,
            size=lambda window: window.tokens,
            halve=halve_window,
            join=lambda parts, rows: average(
                [(row, len(part.text)) for part, row in zip(parts, rows, strict=True)]
            ),
            probe=self._send_probe,
        )

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self._settings, self._facts, self._connect))

    @cached_property
    def max_tokens(self) -> int:
        """See `Embedder`: the model's limit, less the longer prefix and the model's own marks."""
        prefix = max(self._count(prefix) for prefix in self._prefixes.values())
        return max(1, (self._settings.max_tokens or self._facts.max_tokens) - prefix - _MARKS)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See `Embedder`; an estimate if the model's vocabulary is not available offline."""
        return [self._count(text) for text in texts]

    def take_usage(self) -> list[Usage]:
        """See `Embedder`."""
        return self._meter.take()

    def embed_documents(self, texts: Sequence[str], on_batch: OnBatch | None = None) -> Vectors:
        """See `Embedder`. Equal texts are sent once, and blank ones not at all."""
        cleaned = [clean_text(text) for text in texts]
        places: dict[str, list[int]] = {}
        for index, text in enumerate(cleaned):
            places.setdefault(text, []).append(index)
        unique = list(places)
        windows = plan_windows(unique, self._count, self.max_tokens)
        collector = WindowCollector(windows)
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        send = partial(self._send, purpose="document")
        for sent, results in self._sender.send_all(self._requests(windows), send):
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
        self._raise_refused(refused, cleaned)
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """See `Embedder`."""
        cleaned = clean_text(text)
        windows = self._query_windows(cleaned)
        collector = WindowCollector(windows)
        send = partial(self._send, purpose="query")
        found: dict[int, Vectors] = {}
        for sent, results in self._sender.send_all(self._requests(windows), send):
            found |= collector.add(sent, results)
        self._raise_refused(collector.refused, [cleaned])
        return found[0]

    def _query_windows(self, text: str) -> list[TextWindow]:
        """Plan a question. A token is at least a byte, so short ones need no vocabulary."""
        size = len((self._prefixes["query"] + text).encode()) + _MARKS
        if size <= (self._settings.max_tokens or self._facts.max_tokens):
            return [TextWindow(0, text, size // 2)] if text.strip() else []
        return plan_windows([text], self._count, self.max_tokens)

    def _requests(self, windows: Sequence[TextWindow]) -> list[Sequence[TextWindow]]:
        prefix = self._count(self._prefixes["document"]) if len(windows) > 1 else 0
        runs = fill(
            [window.tokens + prefix for window in windows],
            self._facts.items_per_request,
            self._tokens_per_request,
        )
        return [windows[run.start : run.stop] for run in runs]

    def _send(
        self, windows: Sequence[TextWindow], timeout: float, purpose: Purpose
    ) -> list[Vectors]:
        texts = [self._prefixes[purpose] + window.text for window in windows]
        with key_hidden(self._key):
            reply = self._client.embed(texts, purpose, timeout)
        # Counted before it is checked: a bad reply is billed as well.
        self._add_usage(purpose, reply.tokens, sum(window.tokens for window in windows))
        return list(self._check(reply.vectors, len(windows)))

    def _send_probe(self, timeout: float) -> None:
        self._send([PROBE], timeout, "document")

    def _check(self, vectors: RawVectors, count: int) -> Vectors:
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
        """Raise the error for texts that were refused, or not sent because they are blank."""
        refused = {**refused, **blank_texts(texts)}
        if refused:
            raise refused_error(self.provider, refused, len(texts))

    def connect(self) -> None:
        """Make the client, sending nothing. Raises `ProviderError` if the key is missing."""
        _ = self._client

    @property
    def _tokens_per_request(self) -> int:
        """The provider's limit, or less: more than a minute's tokens would never be sent."""
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


def blank_texts(texts: Sequence[str]) -> dict[int, RefusedFault]:
    """Blank texts, by index: they have no meaning to find, so they are reported and not sent."""
    return {
        index: RefusedFault("the text is blank")
        for index, text in enumerate(texts)
        if not text.strip()
    }
