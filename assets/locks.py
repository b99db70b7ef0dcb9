"""One sync at a time: the lock that every asset which writes takes."""

from __future__ import annotations

from contextlib import AbstractContextManager

import dagster as dg

from rag_pipeline.store.database import SYNC_WAIT_SECONDS, Database


def waiting_lock(
    database: Database, context: dg.AssetExecutionContext
) -> AbstractContextManager[None]:
    """Hold the store's sync lock; while another sync has it, wait, and say so in the run's log."""
    return database.sync_lock(
        SYNC_WAIT_SECONDS, lambda: context.log.info("another sync is running: waiting for it")
    )
