"""The table `usage`: calls to providers by run, document and source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from rag_pipeline.store.named_queries import queries, records
from rag_pipeline.usage import Usage, estimate_usd

if TYPE_CHECKING:
    from rag_pipeline.store.database import Database

UsageGroup = Literal["provider", "day", "source"]


@dataclass(frozen=True)
class UsageEntry:
    """Usage for one document, or for a query (no document)."""

    usage: Usage
    source_hash: str | None = None
    root: str | None = None


@dataclass(frozen=True)
class UsageTotal:
    """The usage of one provider's model, one day (UTC) or one source."""

    group: str
    requests: int
    tokens: int
    output_tokens: int
    pages: int
    usd: float | None
    """Estimated; None where no price is known."""
    unpriced: int
    """Rows without a known price, which `usd` does not include."""


def record_usage(
    connection: Connection[TupleRow],
    entries: Sequence[UsageEntry],
    *,
    run: str,
    prices: Mapping[str, float] | None = None,
) -> None:
    """Write usage with its estimated cost, in the caller's transaction."""
    if entries:
        rows = [
            {
                **asdict(entry.usage),
                "run": run,
                "source_hash": entry.source_hash,
                "root": entry.root,
                "usd": estimate_usd(entry.usage, prices),
            }
            for entry in entries
        ]
        queries.insert_usage(connection, rows=Jsonb(rows))


def record_query(
    database: Database,
    used: Sequence[Usage],
    *,
    run: str,
    prices: Mapping[str, float] | None = None,
) -> None:
    """Record what a query or an evaluation used.

    Writes through `database.whole`, since a database restricted to readers is read-only.
    """
    if used:
        with database.whole.connection() as connection:
            record_usage(connection, [UsageEntry(one) for one in used], run=run, prices=prices)


def usage_totals(
    connection: Connection[TupleRow], by: UsageGroup, since: datetime | None = None
) -> list[UsageTotal]:
    """Return totals per group, most expensive first (days: oldest first)."""
    return records(connection, UsageTotal, queries.usage_totals, by=by, since=since)
