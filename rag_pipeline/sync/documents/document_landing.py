"""A document whose chunks wait to be landed, and what of them is written."""

from __future__ import annotations

from dataclasses import dataclass

from rag_pipeline.embedding import Embedder
from rag_pipeline.store.landing import Landing
from rag_pipeline.sync.documents.document_jobs import DocumentJob
from rag_pipeline.sync.documents.embed import ChunkTexts, Vectors
from rag_pipeline.sync.documents.stage_tasks import PreparedChunks, StageResult


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

    def landing(self, embeddings: Vectors | None) -> Landing:
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
        )
