"""The embedder of contextual models, which read the chunks of a document together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from rag_pipeline.embedding.embedder import OnGroup
from rag_pipeline.embedding.remote.client_contract import Connect, ContextualClient, Purpose
from rag_pipeline.embedding.remote.collecting import GroupCollector, refused_error
from rag_pipeline.embedding.remote.key_hiding import key_hidden
from rag_pipeline.embedding.remote.remote_embedder import RemoteEmbedder, blank_texts
from rag_pipeline.embedding.remote.request_planner import (
    ChunkGroup,
    TextWindow,
    fill,
    halve_group,
    plan_groups,
    plan_windows,
)
from rag_pipeline.embedding.remote.sending import Sender
from rag_pipeline.embedding.vectors import Vectors
from rag_pipeline.embedding_models import EmbeddingModel
from rag_pipeline.remote import ReplyFault
from rag_pipeline.settings import EmbeddingSettings
from rag_pipeline.text import clean_text


class ContextualRemoteEmbedder(RemoteEmbedder):
    """A `ContextualEmbedder` on a service: a single text is a group of one."""

    contextual = True

    def __init__(
        self, settings: EmbeddingSettings, facts: EmbeddingModel, connect: Connect
    ) -> None:
        super().__init__(settings, facts, connect)
        self._group_sender: Sender[ChunkGroup, list[Vectors]] = Sender(
            self._limiter,
            settings,
            size=lambda group: group.tokens,
            halve=halve_group,
            join=lambda _groups, parts: [row for part in parts for row in part],
            probe=self._send_probe,
        )

    def embed_groups(
        self, groups: Sequence[Sequence[str]], on_group: OnGroup | None = None
    ) -> list[Vectors]:
        """See `ContextualEmbedder`."""
        cleaned = [[clean_text(text) for text in group] for group in groups]
        blank = {
            index: next(iter(faults.values()))
            for index, group in enumerate(cleaned)
            if (faults := blank_texts(group))
        }
        planned = plan_groups(
            [
                [] if index in blank else plan_windows(group, self._count, self.max_tokens)
                for index, group in enumerate(cleaned)
            ],
            min(self.max_tokens, self._tokens_per_request),
        )
        runs = fill(
            [group.tokens for group in planned],
            self._facts.items_per_request,
            self._tokens_per_request,
            [len(group.windows) for group in planned],
        )
        collector = GroupCollector(planned)
        found: dict[int, Vectors] = {}
        requests = [planned[run.start : run.stop] for run in runs]
        for sent, results in self._group_sender.send_all(requests, self._send_groups):
            for index, vectors in collector.add(sent, results).items():
                found[index] = vectors
                if on_group:
                    on_group(index, vectors)
        if refused := collector.refused | blank:
            raise refused_error(self.provider, refused, len(groups))
        empty = np.empty((0, self.dimensions), dtype=np.float32)
        return [found.get(index, empty) for index in range(len(groups))]

    def _send(
        self, windows: Sequence[TextWindow], timeout: float, purpose: Purpose
    ) -> list[Vectors]:
        groups = [ChunkGroup(window.owner, (window,)) for window in windows]
        return [rows[0] for rows in self._send_groups(groups, timeout, purpose)]

    def _send_groups(
        self, groups: Sequence[ChunkGroup], timeout: float, purpose: Purpose = "document"
    ) -> list[list[Vectors]]:
        texts = [[window.text for window in group.windows] for group in groups]
        client = cast(ContextualClient, self._client)
        with key_hidden(self._key):
            reply = client.embed_groups(texts, purpose, timeout)
        self._add_usage(purpose, reply.tokens, sum(group.tokens for group in groups))
        sizes = [len(group.windows) for group in groups]
        if [len(rows) for rows in reply.groups] != sizes:
            raise ReplyFault(f"{self.provider} sent other numbers of vectors than of chunks")
        flat = iter(self._check([row for rows in reply.groups for row in rows], sum(sizes)))
        return [[next(flat) for _ in range(size)] for size in sizes]
