"""Alerts when the nightly sync is late: a freshness policy that Dagster's daemon evaluates."""

from datetime import UTC, datetime, timedelta

import dagster as dg

from rag_pipeline.settings import Settings

GRACE = timedelta(hours=2)
"""Allows for waiting on another sync, and for the scan itself."""
TICKS = 15
"""Schedule ticks searched for the longest gap: two weeks of a nightly schedule."""


def with_freshness(assets_def: dg.AssetsDefinition, settings: Settings) -> dg.AssetsDefinition:
    """Return the asset with a policy that expects a materialization at every schedule tick.

    A scan started by `rag sync` counts as well.
    """
    policy = dg.FreshnessPolicy.time_window(fail_window=longest_gap(settings) + GRACE)
    return assets_def.map_asset_specs(lambda spec: dg.apply_freshness_policy(spec, policy))


def longest_gap(settings: Settings, after: datetime | None = None) -> timedelta:
    """Return the longest time between two consecutive ticks among the schedule's next `TICKS`."""
    tick = after or datetime.now(UTC)
    schedule = dg.TimeWindowPartitionsDefinition(
        start=tick,
        fmt="%Y-%m-%dT%H:%M:%S",
        cron_schedule=settings.sync.schedule,
        timezone=settings.sync.timezone,
    )
    longest = timedelta()
    for _ in range(TICKS - 1):
        window = schedule.get_next_partition_window(tick, respect_bounds=False)
        assert window is not None  # only bounds end the sequence
        longest, tick = max(longest, window.end - window.start), window.end
    return longest
