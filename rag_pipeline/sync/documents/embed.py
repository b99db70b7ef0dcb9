"""Vectors for the chunks of several documents at once: from the cache, else from the embedder.

What a text cost is noted for the document that it stands in. Vectors are cached as they come, so
that a crash or one bad text loses little, and nothing is paid for twice.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
import pandas as pd

from rag_pipeline.embedding import ContextualEmbedder, Embedder
from rag_pipeline.embedding_models import api_name
from rag_pipeline.errors import EmbeddingError, ProviderError
from rag_pipeline.store.database import Database
from rag_pipeline.store.embeddings import EmbeddingSpace, cache_vectors, cached_vectors
from rag_pipeline.store.usage_table import UsageEntry
from rag_pipeline.sync.documents.budget import Ledger
from rag_pipeline.sync.planning.fingerprints import EMBEDDINGS
from rag_pipeline.sync.progress import report
from rag_pipeline.usage import Usage

Vectors = np.ndarray[Any, np.dtype[np.float32]]
LOCAL_BATCH = 64
REMOTE_BATCH = 2_048
"""Texts gathered over documents before the embedder is called: a service plans its own requests,
and has several on the way at once."""
DEAD_BATCHES = 2
"""Batches of which nothing could be embedded, after which the service is given up."""


@dataclass(frozen=True)
class ChunkTexts:
    """What is embedded of one document: its chunks' texts in order."""

    source_hash: str
    root: str | None
    texts: list[str]
    tokens: list[int]

    @classmethod
    def of(
        cls,
        embedder: Embedder,
        source_hash: str,
        root: str | None,
        chunks: pd.DataFrame,
        texts: list[str],
    ) -> ChunkTexts:
        """Return what the embedder reads of chunks; `texts` are theirs under their trails."""
        # A contextual model reads the neighbours instead of the trail.
        read = chunks["content"].tolist() if embedder.contextual else texts
        return cls(source_hash, root, read, chunks["token_count"].tolist())


def batch_size(embedder: Embedder) -> int:
    """Return how many texts are worth gathering before the embedder is called."""
    return LOCAL_BATCH if embedder.provider == "local" else REMOTE_BATCH


class VectorSource:
    """Gives every text its vector in one space."""

    def __init__(
        self, database: Database, embedder: Embedder, space: EmbeddingSpace, ledger: Ledger
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._space = space
        self._ledger = ledger
        self.embedded = 0
        """Texts that were not cached, so far."""
        self._dead_batches = 0

    def vectors(self, documents: Sequence[ChunkTexts]) -> list[Vectors | EmbeddingError]:
        """Return for each document a matrix, chunks x dimensions, or why there is none.

        Raises `ProviderError` where nothing can be embedded, also where that was so of
        `DEAD_BATCHES` calls in a row, and `BudgetError` where the limit of cost is reached; what
        was embedded until then is cached.
        """
        contextual = self._embedder.contextual
        keys = [_group_keys(d.texts) if contextual else _text_keys(d.texts) for d in documents]
        with self._database.connection() as connection:
            known = cached_vectors(
                connection, self._space.space_id, [key for group in keys for key in group]
            )
        embed = self._embed_groups if contextual else self._embed_texts
        errors = embed(documents, keys, known)
        self._stop_where_nothing_works(documents, errors)
        return [
            errors.get(document.source_hash) or self._matrix(group, known)
            for document, group in zip(documents, keys, strict=True)
        ]

    def _stop_where_nothing_works(
        self, documents: Sequence[ChunkTexts], errors: dict[str, EmbeddingError]
    ) -> None:
        """End the sync when a service failed for every document of two batches in a row.

        Each batch has waited as long as it may: thousands more would wait for nothing.
        """
        works = any(document.source_hash not in errors for document in documents)
        if not errors or works or any(error.bad_texts for error in errors.values()):
            self._dead_batches = 0
            return
        self._dead_batches += 1
        if self._dead_batches >= DEAD_BATCHES and self._embedder.provider != "local":
            reason = next(iter(errors.values())).message
            raise ProviderError(
                f"{self._space.provider} cannot be used now ({reason})",
                hint="what has landed stays; run `rag sync` when it works again",
            )

    def _matrix(self, keys: list[bytes], known: dict[bytes, Vectors]) -> Vectors:
        matrix = np.array([known[key] for key in keys], dtype=np.float32)
        return matrix.reshape(len(keys), self._space.dimensions)

    def _embed_texts(
        self,
        documents: Sequence[ChunkTexts],
        keys: Sequence[list[bytes]],
        known: dict[bytes, Vectors],
    ) -> dict[str, EmbeddingError]:
        """Embed what is not cached, each text once; return the documents that failed."""
        missing: dict[bytes, tuple[str, int, ChunkTexts]] = {}
        for document, group in zip(documents, keys, strict=True):
            for key, text, tokens in zip(group, document.texts, document.tokens, strict=True):
                if key not in known:
                    missing.setdefault(key, (text, tokens, document))
        order = list(missing)
        failed: dict[bytes, EmbeddingError] = {}
        size = batch_size(self._embedder)
        for begin in range(0, len(order), size):
            part = order[begin : begin + size]
            self._ledger.check(self._planned(sum(missing[key][1] for key in part)))
            try:
                self._embedder.embed_documents(
                    [missing[key][0] for key in part],
                    # Kept as they come: whatever happens to the rest, these are paid for.
                    partial(self._keep_some, part, [missing[key][1] for key in part], known),
                )
            except EmbeddingError as error:
                bad = error.bad_texts or range(len(part))
                failed.update((part[i], error) for i in bad if part[i] not in known)
            finally:
                self._note_usage([missing[key][1:] for key in part])
        return {
            document.source_hash: next(failed[key] for key in group if key in failed)
            for document, group in zip(documents, keys, strict=True)
            if not failed.keys().isdisjoint(group)
        }

    def _embed_groups(
        self,
        documents: Sequence[ChunkTexts],
        keys: Sequence[list[bytes]],
        known: dict[bytes, Vectors],
    ) -> dict[str, EmbeddingError]:
        """Embed the documents of which any chunk is not cached, each whole and in order."""
        todo = [
            (document, group)
            for document, group in zip(documents, keys, strict=True)
            if any(key not in known for key in group)
        ]
        if not todo:
            return {}
        embedder = cast(ContextualEmbedder, self._embedder)
        self._ledger.check(self._planned(sum(sum(document.tokens) for document, _ in todo)))
        try:
            embedder.embed_groups(
                [document.texts for document, _ in todo],
                lambda index, matrix: self._keep(
                    todo[index][1], matrix, known, sum(todo[index][0].tokens)
                ),
            )
        except EmbeddingError as error:
            bad = error.bad_texts or range(len(todo))
            return {
                todo[i][0].source_hash: error
                for i in bad
                if any(key not in known for key in todo[i][1])
            }
        finally:
            self._note_usage([(sum(document.tokens), document) for document, _ in todo])
        return {}

    def _keep_some(
        self,
        part: Sequence[bytes],
        tokens: Sequence[int],
        known: dict[bytes, Vectors],
        indices: Sequence[int],
        computed: Vectors,
    ) -> None:
        keys = [part[index] for index in indices]
        self._keep(keys, computed, known, sum(tokens[index] for index in indices))

    def _keep(
        self, keys: Sequence[bytes], computed: Vectors, known: dict[bytes, Vectors], tokens: int
    ) -> None:
        with self._database.connection() as connection:
            cache_vectors(connection, self._space.space_id, keys, computed)
        known.update(zip(keys, computed, strict=True))
        self.embedded += len(keys)
        report(EMBEDDINGS, 0, texts=len(keys), tokens=tokens)

    def _planned(self, tokens: int) -> Usage:
        name = api_name(self._embedder.model)
        return Usage(self._embedder.provider, name, "embed_documents", tokens=tokens)

    def _note_usage(self, owners: Sequence[tuple[int, ChunkTexts]]) -> None:
        """Share what was used among the documents, by their tokens; also where a call failed."""
        used = self._embedder.take_usage()
        if not used:
            return
        documents = {document.source_hash: document for _, document in owners}
        weights = dict.fromkeys(documents, 0)
        for tokens, document in owners:
            weights[document.source_hash] += max(1, tokens)
        parts = list(weights.values())
        entries: list[UsageEntry] = []
        for usage in used:
            shares = zip(_shares(usage.requests, parts), _shares(usage.tokens, parts), strict=True)
            entries += [
                UsageEntry(
                    replace(usage, requests=requests, tokens=tokens),
                    document.source_hash,
                    document.root,
                )
                for document, (requests, tokens) in zip(documents.values(), shares, strict=True)
            ]
        self._ledger.note(entries)


def _text_keys(texts: Sequence[str]) -> list[bytes]:
    return [hashlib.sha256(text.encode()).digest() for text in texts]


def _group_keys(texts: Sequence[str]) -> list[bytes]:
    """Return keys of chunks whose vectors depend on all of them and on their order."""
    group = hashlib.sha256(b"".join(_text_keys(texts)))
    keys = []
    for index in range(len(texts)):
        key = group.copy()
        key.update(index.to_bytes(4, "big"))
        keys.append(key.digest())
    return keys


def _shares(total: int, weights: Sequence[int]) -> list[int]:
    """Cut a whole number into parts in proportion to the weights; the parts add up to it.

    >>> _shares(10, [1, 1, 2])
    [2, 3, 5]
    """
    whole = sum(weights)
    borders = [0]
    running = 0
    for weight in weights:
        running += weight
        borders.append(total * running // whole)
    return [end - begin for begin, end in itertools.pairwise(borders)]
