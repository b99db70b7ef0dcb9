"""Everything Dagster loads; only assembles. `dagster dev -m rag_pipeline.definitions`."""

import dagster as dg

from rag_pipeline.assets.automation import (
    documents_job,
    nightly_schedule,
    request_stale_documents,
    sources_job,
    vectors_job,
    words_job,
)
from rag_pipeline.assets.document_assets import documents
from rag_pipeline.assets.evaluation_asset import evaluation_job, retrieval_evaluation
from rag_pipeline.assets.freshness import with_freshness
from rag_pipeline.assets.relational_asset import relational_job, relational_rows
from rag_pipeline.assets.source_scan import sources
from rag_pipeline.resources import default_resources
from rag_pipeline.settings import Settings

settings = Settings.load()
# Before the freshness policy, which reads the schedule as well: a wrong one is told here.
nightly_sync = nightly_schedule(settings)

defs = dg.Definitions(
    assets=[with_freshness(sources, settings), documents, relational_rows, retrieval_evaluation],
    jobs=[sources_job, documents_job, words_job, vectors_job, relational_job, evaluation_job],
    schedules=[nightly_sync],
    sensors=[request_stale_documents],
    resources=default_resources(),
    # A run's steps share a process: the stages have a pool of their own, and a process per step
    # would only add its start.
    executor=dg.in_process_executor,
)
