"""Is the nightly sync on time? A freshness policy of the scan, which Dagster's daemon watches."""

from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise

import dagster as dg
from dagster._utils.schedules import schedule_execution_time_iterator

from rag_pipeline.settings import Settings

GRACE = timedelta(hours=2)
"""A scan waits for another sync and takes its time."""
TICKS = 15
"""Ticks of the schedule among which the longest gap is sought: two weeks of a nightly one."""


def with_freshness(assets_def: dg.AssetsDefinition, settings: Settings) -> dg.AssetsDefinition:
    """Return the asset with the policy that it is materialized at every tick of the schedule.

    A scan of `rag sync` counts as well.
    """
    policy = dg.FreshnessPolicy.time_window(fail_window=longest_gap(settings) + GRACE)
    return assets_def.map_asset_specs(lambda spec: dg.apply_freshness_policy(spec, policy))


def longest_gap(settings: Settings, after: datetime | None = None) -> timedelta:
    """Return the longest time between two of the schedule's next ticks."""
    start = (after or datetime.now(UTC)).timestamp()
    sync = settings.sync
    ticks = islice(schedule_execution_time_iterator(start, sync.schedule, sync.timezone), TICKS)
    return max(later - earlier for earlier, later in pairwise(ticks))
