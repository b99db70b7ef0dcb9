"""Dagster assets, jobs, schedule and sensor: thin, their logic lies in `rag_pipeline`."""

from assets.automation import documents_job, nightly_schedule, request_stale_documents, sources_job
from assets.documents import documents
from assets.sources import sources

__all__ = [
    "documents",
    "documents_job",
    "nightly_schedule",
    "request_stale_documents",
    "sources",
    "sources_job",
]
