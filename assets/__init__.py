"""Dagster assets, jobs, schedule and sensor: thin, their logic lies in `rag_pipeline`."""

import warnings

import dagster as dg

# Two features that Dagster marks as beta are used knowingly (docs/decisions.md): partitioned asset
# checks and dagster-pandera. Their notices would stand above every command's output.
warnings.filterwarnings("ignore", category=dg.BetaWarning)
warnings.filterwarnings("ignore", category=dg.PreviewWarning)

from rag_pipeline.assets.automation import (
    documents_job,
    nightly_schedule,
    request_stale_documents,
    sources_job,
)
from rag_pipeline.assets.document_assets import documents
from rag_pipeline.assets.evaluation_asset import evaluation_job, retrieval_evaluation
from rag_pipeline.assets.freshness import with_freshness
from rag_pipeline.assets.relational_asset import relational_job, relational_rows
from rag_pipeline.assets.source_scan import sources

__all__ = [
    "documents",
    "documents_job",
    "evaluation_job",
    "nightly_schedule",
    "relational_job",
    "relational_rows",
    "request_stale_documents",
    "retrieval_evaluation",
    "sources",
    "sources_job",
    "with_freshness",
]
