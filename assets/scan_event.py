"""What Dagster hears of a scan: an event of `sources`, and one partition for each document."""

from __future__ import annotations

from typing import Any

import dagster as dg

from rag_pipeline.assets.dagster_events import changes_markdown
from rag_pipeline.assets.partitions import (
    PLANNED_TAG,
    align_partitions,
    align_relational_partitions,
)
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.source_tables import note_scan, source_hashes
from rag_pipeline.sync.planning.refresh import RefreshResult

ASSET = "sources"
DATA_VERSION = "content-addressed"
"""A document is keyed by its content, so no scan can make one stale: constant."""


def align(instance: dg.DagsterInstance, settings: Settings, database: Database) -> tuple[int, int]:
    """Bring Dagster's partition keys to the store; return how many were added and deleted."""
    with database.connection() as connection:
        # Noted before it is done: what is written meanwhile is then told once more.
        note_scan(connection, is_untold=False)
        hashes = source_hashes(connection)
    changed = align_partitions(instance, hashes)
    align_relational_partitions(instance, [one.name for one in settings.relational])
    return changed


def scan_metadata(scan: RefreshResult, added: int, deleted: int) -> dict[str, Any]:
    """Return what the UI shows of a scan."""
    return {
        "dagster/row_count": scan.files,
        **scan.changes.counts(),
        "partitions added": added,
        "partitions deleted": deleted,
        "changes": dg.MetadataValue.md(changes_markdown(scan.changes)),
        "problems": dg.MetadataValue.md(
            "\n".join(f"- {problem}" for problem in scan.problems) or "none"
        ),
    }


def report_scan(
    instance: dg.DagsterInstance, settings: Settings, database: Database, scan: RefreshResult
) -> None:
    """Report a scan that `rag sync` did, which does what follows from it as well.

    An event without a run: starting one takes longer than the scan.
    """
    added, deleted = align(instance, settings, database)
    tags = {"dagster/data_version": DATA_VERSION, PLANNED_TAG: "rag_sync"}
    metadata = scan_metadata(scan, added, deleted)
    event = dg.AssetMaterialization(ASSET, metadata=metadata, tags=tags)
    instance.report_runless_asset_event(event)
