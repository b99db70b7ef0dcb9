"""The runs that make up one sync: a scan, one for each range of documents, one for databases."""

import dagster as dg

SYNC_TAG = "rag/sync"
"""On all runs of one sync, with the same value: `sync.max_cost_usd` is a limit of them together."""
RUNS_OF_A_SYNC = 1_000


def earlier_runs(instance: dg.DagsterInstance, run: dg.DagsterRun) -> list[str]:
    """Return the ids of the other runs of this run's sync; none where it was started alone."""
    sync = run.tags.get(SYNC_TAG)
    if sync is None:
        return []
    found = instance.get_runs(dg.RunsFilter(tags={SYNC_TAG: sync}), limit=RUNS_OF_A_SYNC)
    return [other.run_id for other in found if other.run_id != run.run_id]
