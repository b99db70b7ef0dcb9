"""Keeps the store in sync with relational sources; `source_sync` does one of them.

A root row is a document under the hash of its name (`relational:SOURCE/TABLE/KEY`), so its chunks
are replaced in place. A hash of the row and all below it (`row_signatures`), stored as the source's
etag, shows whether it changed; unchanged texts of a changed row come from the cache of vectors.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from rag_pipeline.embedding_models import api_name
from rag_pipeline.errors import (
    BudgetError,
    DatabaseUnavailableError,
    RagError,
    StoreError,
)
from rag_pipeline.relational.rows.addresses import (
    ROOT_PREFIX,
)
from rag_pipeline.relational.rows.row_report import RelationalReport
from rag_pipeline.relational.rows.source_sync import SourceSync
from rag_pipeline.settings import RelationalSettings, Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.named_queries import queries
from rag_pipeline.store.source_tables import apply_changes
from rag_pipeline.sync.documents.budget import Ledger
from rag_pipeline.sync.sync_context import SyncContext
from rag_pipeline.usage import Usage, estimate_usd


def sync_relational_sources(
    context: SyncContext,
    sources: Sequence[RelationalSettings],
    *,
    force: bool = False,
) -> list[RelationalReport]:
    """Sync sources one after the other; one that cannot be read fails alone, in its report.

    The caller holds `Database.sync_lock`, and calls `finish` afterwards. Raises `StoreError` where
    our own store fails.
    """
    ledger = open_ledger(context)
    reports = []
    for settings in sources:
        report = RelationalReport(settings.name)
        start = time.perf_counter()
        try:
            SourceSync(context, settings, ledger, report, force).run()
        except (StoreError, DatabaseUnavailableError):
            raise
        except RagError as error:
            report.error = str(error)
        report.seconds = time.perf_counter() - start
        reports.append(report)
    return reports


def sync_relational(
    context: SyncContext,
    settings: RelationalSettings,
    *,
    force: bool = False,
) -> RelationalReport:
    """Bring the store to what one relational source holds; reads it batch by batch.

    Rows that are gone are deleted only after everything was read without an error; none are where
    the root table is suddenly empty, unless `force` says that it is meant to be. The caller holds
    `Database.sync_lock`, and calls `finish` afterwards. Raises `SourceError` (the source cannot be
    read), `SettingsError`, `StoreError`, `ProviderError`, `BudgetError`; what has landed stays.
    """
    report = RelationalReport(settings.name)
    start = time.perf_counter()
    SourceSync(context, settings, open_ledger(context), report, force).run()
    report.seconds = time.perf_counter() - start
    return report


def open_ledger(context: SyncContext) -> Ledger:
    """Return what notes the cost of rows. Raises `BudgetError` where a limit cannot be kept."""
    settings, embedder = context.settings, context.embedder
    limit = settings.sync.max_cost_usd
    one = Usage(embedder.provider, api_name(embedder.model), "embed_documents", tokens=1)
    if limit is not None and estimate_usd(one, settings.prices) is None:
        raise BudgetError(
            f"sync.max_cost_usd = {limit} cannot be kept: no price is known for "
            f"{one.provider}/{one.model}; nothing was sent",
            hint="set it under [prices] in rag.toml",
        )
    return Ledger.of(context)


def forget_relational(database: Database, settings: Settings) -> int:
    """Delete what is stored of sources that are no longer in rag.toml; return how many rows.

    The caller holds `Database.sync_lock`.
    """
    removed = 0
    names = [source.name for source in settings.relational]
    project = str(settings.project_dir)
    with database.connection() as connection:
        gone = list(
            queries.unconfigured_relational_sources(connection, project=project, names=names)
        )
        for (name,) in gone:
            root = f"{ROOT_PREFIX}{name}"
            rows = queries.relational_rows(connection, root=root, space_id=0)
            uris = [uri for uri, _, _ in rows]
            apply_changes(connection, [], uris)
            queries.disown_relational_source(connection, name=name)
            removed += len(uris)
    return removed
