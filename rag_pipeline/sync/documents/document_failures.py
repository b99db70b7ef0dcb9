"""Keeps why a document failed, and whether trying again may help."""

from __future__ import annotations

import logging

from rag_pipeline.errors import DocumentError, RagError, UpstreamMissingError, WorkerCrashError
from rag_pipeline.store.database import Database
from rag_pipeline.store.documents import mark_failed, merge_fingerprints
from rag_pipeline.sync.documents.document_jobs import DocumentJob, Outcome
from rag_pipeline.sync.documents.stage_tasks import StageReport

logger = logging.getLogger(__name__)


def record_failure(
    database: Database, job: DocumentJob, stage: str, error: RagError, reports: list[StageReport]
) -> Outcome:
    """Store a document's failure and the stages that were done before it; return its outcome."""
    # A second crash on the same file is the file's fault.
    crashed_again = isinstance(error, WorkerCrashError) and job.state.failure_count > 0
    permanent = (isinstance(error, DocumentError) and error.permanent) or crashed_again
    with database.connection() as connection:
        if reports:
            merge_fingerprints(connection, job.source_hash, job.made_with(reports))
        if isinstance(error, UpstreamMissingError):
            return job.failure(stage, str(error), reports)
        mark_failed(
            connection,
            job.source_hash,
            stage=stage,
            reason=str(error),
            permanent=permanent,
            fingerprint=job.fingerprints[stage],
        )
    logger.info("%s failed at %s: %s", job.name, stage, error)
    return job.failure(stage, str(error), reports)
