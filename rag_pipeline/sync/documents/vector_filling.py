"""Fills in the vectors of documents that have landed: chunks without one, read from the store.

A sync that was killed leaves chunks without vectors, and the next one goes on with them; vectors
that were made before are in the cache.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rag_pipeline.errors import EmbeddingError
from rag_pipeline.store.documents import mark_embedded
from rag_pipeline.store.embeddings import (
    ChunkToEmbed,
    EmbeddingSpace,
    add_vectors,
    chunks_to_embed,
    unembedded_tokens,
)
from rag_pipeline.sync.documents.budget import Ledger
from rag_pipeline.sync.documents.document_jobs import DocumentJob, Outcome
from rag_pipeline.sync.documents.embed import ChunkTexts, VectorSource, batch_size
from rag_pipeline.sync.documents.stage_tasks import StageReport
from rag_pipeline.sync.planning.fingerprints import EMBEDDINGS
from rag_pipeline.sync.progress import report
from rag_pipeline.sync.sync_context import SyncContext

RETRY_SECONDS = 1.0
READ_DOCUMENTS = 100
READ_BYTES = 2_000_000
"""Of the files whose chunks are read by one query at most, but for a single larger one."""
Fail = Callable[[DocumentJob, str, EmbeddingError, list[StageReport]], Outcome]


@dataclass
class LandedDocument:
    """A document that is searchable by words."""

    job: DocumentJob
    pages: int
    reports: list[StageReport] = field(default_factory=list)
    seconds: float = 0.0
    """Spent on landing and on its vectors."""
    chunks: int = 0
    error: EmbeddingError | None = None


@dataclass(frozen=True)
class _Part:
    """Chunks of a document that are embedded together."""

    document: LandedDocument
    chunks: list[ChunkToEmbed]
    is_last: bool


class VectorFilling:
    """Gives landed documents their vectors, in batches over documents, in the order given."""

    def __init__(
        self,
        context: SyncContext,
        space: EmbeddingSpace,
        ledger: Ledger,
        vectors: VectorSource,
        fail: Fail,
    ) -> None:
        self._context = context
        self._space = space
        self._ledger = ledger
        self._vectors = vectors
        self._fail = fail
        self._again: list[LandedDocument] = []

    def run(self, documents: Sequence[LandedDocument]) -> Iterator[Outcome]:
        """Yield the outcome of each document once all its chunks have vectors, or some failed.

        Raises what `VectorSource.vectors` raises; the vectors that were made until then stay.
        """
        hashes = [document.job.source_hash for document in documents]
        with self._context.database.connection() as connection:
            tokens = unembedded_tokens(connection, self._space.space_id, hashes)
        report(EMBEDDINGS, 0, found_tokens=tokens)
        yield from self._pass(documents)
        while self._again:
            time.sleep(RETRY_SECONDS)
            again, self._again = self._again, []
            yield from self._pass(again)

    def _pass(self, documents: Sequence[LandedDocument]) -> Iterator[Outcome]:
        together = batch_size(self._context.embedder)
        batch: list[_Part] = []
        for some in _read_together(documents):
            hashes = [document.job.source_hash for document in some]
            with self._context.database.connection() as connection:
                chunks = chunks_to_embed(connection, self._space.space_id, hashes)
            for document in some:
                for part in self._parts(document, chunks[document.job.source_hash], together):
                    batch.append(part)
                    if sum(len(one.chunks) for one in batch) >= together:
                        yield from self._embed(batch)
                        batch = []
        if batch:
            yield from self._embed(batch)

    def _parts(
        self, document: LandedDocument, chunks: list[ChunkToEmbed], size: int
    ) -> Iterator[_Part]:
        """Yield the chunks to embed, at least once."""
        document.chunks, document.error = len(chunks), None
        lacking = [chunk for chunk in chunks if not chunk.has_vector]
        if self._context.embedder.contextual:
            # Each vector depends on the whole document.
            yield _Part(document, chunks if lacking else [], is_last=True)
            return
        for begin in range(0, max(1, len(lacking)), size):
            end = begin + size
            yield _Part(document, lacking[begin:end], is_last=end >= len(lacking))

    def _embed(self, batch: Sequence[_Part]) -> Iterator[Outcome]:
        """Embed the chunks in one call, and write their vectors in one transaction."""
        self._context.database.check_sync_lock()
        start = time.perf_counter()
        filled = [part for part in batch if part.chunks]
        found = self._vectors.vectors([self._texts(part) for part in filled]) if filled else []
        with self._context.database.connection() as connection:
            for part, result in zip(filled, found, strict=True):
                if isinstance(result, EmbeddingError):
                    part.document.error = result
                else:
                    ids = [chunk.chunk_id for chunk in part.chunks]
                    add_vectors(connection, self._space.space_id, ids, result)
            ended = [part.document for part in batch if part.is_last]
            whole = [document.job.source_hash for document in ended if document.error is None]
            mark_embedded(connection, whole)
        seconds = (time.perf_counter() - start) / max(1, sum(len(part.chunks) for part in batch))
        for part in batch:
            part.document.seconds += seconds * len(part.chunks)
        tokens = sum(chunk.token_count for part in filled for chunk in part.chunks)
        report(EMBEDDINGS, len(whole), settled_tokens=tokens)
        for document in ended:
            yield from self._end(document)

    def _texts(self, part: _Part) -> ChunkTexts:
        from rag_pipeline.chunking import embedded_text

        contextual = self._context.embedder.contextual
        texts = [
            # A contextual model reads the neighbours instead of the trail.
            one.content
            if contextual
            else embedded_text(one.breadcrumb_trail, one.context, one.content)
            for one in part.chunks
        ]
        tokens = [chunk.token_count for chunk in part.chunks]
        job = part.document.job
        return ChunkTexts(job.source_hash, job.root, texts, tokens)

    def _end(self, document: LandedDocument) -> Iterator[Outcome]:
        job, error = document.job, document.error
        if error is None:
            done = embedded_report(
                self._space, self._ledger, job, document.pages, document.chunks, document.seconds
            )
            yield job.outcome([*document.reports, done])
        elif tried_again(job, error, self._context.settings.sync.attempts):
            self._again.append(document)
        else:
            yield self._fail(job, EMBEDDINGS, error_of(job, error), document.reports)


def _read_together(documents: Sequence[LandedDocument]) -> Iterator[list[LandedDocument]]:
    """Yield documents whose chunks are read by one query: as many as are little together."""
    some: list[LandedDocument] = []
    size = 0
    for document in documents:
        if some and (size + document.job.state.size > READ_BYTES or len(some) == READ_DOCUMENTS):
            yield some
            some, size = [], 0
        some.append(document)
        size += document.job.state.size
    if some:
        yield some


def tried_again(job: DocumentJob, error: EmbeddingError, attempts: int) -> bool:
    """Count an attempt at a document's vectors; return whether another one is due."""
    job.attempts += 1
    return not error.permanent and job.attempts < attempts


def error_of(job: DocumentJob, error: EmbeddingError) -> EmbeddingError:
    """Return an error, which may cover several documents, under one document's name."""
    return EmbeddingError(error.message, document=job.name, hint=error.hint)


def embedded_report(
    space: EmbeddingSpace,
    ledger: Ledger,
    job: DocumentJob,
    pages: int,
    vectors: int,
    seconds: float,
) -> StageReport:
    """Return the report of a document's last stage, with what services cost it in this run."""
    cost: dict[str, Any] = {}
    if spent := ledger.by_document.get(job.source_hash):
        cost = {
            "requests": spent.requests,
            "tokens sent": spent.tokens,
            "estimated USD": round(spent.usd, 6),
        }
    counts = {"pages": pages, "vectors": vectors}
    model = {"model": space.model, "dimensions": space.dimensions}
    return StageReport(EMBEDDINGS, seconds, {**counts, **model, **cost})
