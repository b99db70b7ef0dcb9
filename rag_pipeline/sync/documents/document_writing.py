"""Writes documents that are ready to land: several in one transaction, where one fails it alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag_pipeline.embedding import Embedder
from rag_pipeline.errors import DatabaseUnavailableError, RagError
from rag_pipeline.store.embeddings import EmbeddingSpace
from rag_pipeline.store.landing import Compared, Landing, land_all
from rag_pipeline.sync.documents.document_jobs import DocumentJob, Outcome
from rag_pipeline.sync.documents.embed import ChunkTexts, Vectors
from rag_pipeline.sync.documents.stage_tasks import PreparedChunks, StageReport, StageResult
from rag_pipeline.sync.planning.fingerprints import EMBEDDINGS
from rag_pipeline.sync.sync_context import SyncContext

Fail = Callable[[DocumentJob, str, RagError, list[StageReport]], Outcome]


@dataclass(frozen=True)
class WaitingDocument:
    """A document with its chunks, as a worker returned them."""

    job: DocumentJob
    result: StageResult
    prepared: PreparedChunks

    def texts(self, embedder: Embedder) -> ChunkTexts:
        """Return what the embedder reads."""
        job, prepared = self.job, self.prepared
        return ChunkTexts.of(embedder, job.source_hash, job.root, prepared.chunks, prepared.texts)

    def landing(self, embeddings: Vectors | None, *, is_contextual: bool) -> Landing:
        """Return what is written; without embeddings it is searchable by words."""
        prepared, document = self.prepared, self.prepared.document
        warnings = list(document["warnings"])
        if prepared.chunks.empty:
            warnings.append("nothing to search: it has no text except running headers")
        return Landing(
            source_hash=self.job.source_hash,
            title=document["title"],
            page_count=document["page_count"],
            language=document["language"],
            warnings=warnings,
            fingerprints=self.job.fingerprints,
            chunks=prepared.chunks,
            sections=prepared.sections,
            search_vectors=prepared.search_vectors,
            lexeme_counts=prepared.lexeme_counts,
            embeddings=embeddings,
            is_contextual=is_contextual,
        )


@dataclass(frozen=True)
class Written:
    """A document that was to be written: its share of the seconds, and what came in between."""

    item: WaitingDocument
    seconds: float
    failure: Outcome | None = None
    compared: Compared | None = None


class DocumentWriter:
    """Lands documents; a document is written whole or not at all."""

    def __init__(self, context: SyncContext, space: EmbeddingSpace, fail: Fail) -> None:
        self._context = context
        self._space = space
        self._fail = fail

    def write(
        self, items: Sequence[WaitingDocument], vectors: Sequence[Vectors | None]
    ) -> list[Written]:
        """Write documents in one transaction; one that cannot be written falls out alone.

        Where the transaction fails, each is written in one of its own. Raises
        `DatabaseUnavailableError`.
        """
        if not items:
            return []
        self._context.database.check_sync_lock()
        start = time.perf_counter()
        is_contextual = self._context.embedder.contextual
        landings = [
            item.landing(matrix, is_contextual=is_contextual)
            for item, matrix in zip(items, vectors, strict=True)
        ]
        try:
            with self._context.database.connection() as connection:
                landed = land_all(connection, self._space.space_id, landings)
        except DatabaseUnavailableError:
            raise
        except RagError as error:
            if len(items) > 1:
                alone = zip(items, vectors, strict=True)
                return [written for item, one in alone for written in self.write([item], [one])]
            item = items[0]
            failure = self._fail(item.job, EMBEDDINGS, error, item.result.reports)
            return [Written(item, 0.0, failure)]
        seconds = (time.perf_counter() - start) / len(items)
        return [
            Written(item, seconds, None, landed[item.job.source_hash])
            if item.job.source_hash in landed
            else Written(item, seconds, _gone(item))
            for item in items
        ]


def _gone(item: WaitingDocument) -> Outcome:
    gone = "the file was removed while it was being processed"
    return item.job.failure(EMBEDDINGS, gone, item.result.reports)
