"""Everything Dagster loads; only assembles. `dagster dev -m rag_pipeline.definitions`."""

import dagster as dg

from rag_pipeline.assets import (
    documents,
    documents_job,
    evaluation_job,
    nightly_schedule,
    relational_job,
    relational_rows,
    request_stale_documents,
    retrieval_evaluation,
    sources,
    sources_job,
    with_freshness,
)
from rag_pipeline.resources import default_resources
from rag_pipeline.settings import Settings

settings = Settings.load()
# Before the freshness policy, which reads the schedule as well: a wrong one is told here.
nightly_sync = nightly_schedule(settings)

defs = dg.Definitions(
    assets=[with_freshness(sources, settings), documents, relational_rows, retrieval_evaluation],
    jobs=[sources_job, documents_job, relational_job, evaluation_job],
    schedules=[nightly_sync],
    sensors=[request_stale_documents],
    resources=default_resources(),
    # A run's steps share a process: the stages have a pool of their own, and a process per step
    # would only add its start.
    executor=dg.in_process_executor,
)
