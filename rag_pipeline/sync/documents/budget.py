"""What a sync has spent, written down as it is spent, and the limit that stops it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rag_pipeline.errors import BudgetError
from rag_pipeline.store.database import Database
from rag_pipeline.store.usage_table import UsageEntry, record_usage
from rag_pipeline.sync.planning.estimate import spent_before
from rag_pipeline.sync.sync_context import SyncContext
from rag_pipeline.usage import Usage, estimate_usd


@dataclass
class Spending:
    """Sums over the calls to services."""

    requests: int = 0
    tokens: int = 0
    pages: int = 0
    usd: float = 0.0
    unpriced: int = 0
    """Entries without a known price."""


@dataclass
class Ledger:
    """Writes usage into the store under one run; `check` raises once the limit is passed.

    `total` may start with what earlier runs of the same sync have cost.
    """

    database: Database
    run: str = "command"
    prices: Mapping[str, float] = field(default_factory=dict)
    max_usd: float | None = None
    total: Spending = field(default_factory=Spending)
    by_document: dict[str, Spending] = field(default_factory=dict)

    @classmethod
    def of(cls, context: SyncContext) -> Ledger:
        """Return the ledger of a run; what the sync's other runs have cost is counted already."""
        settings = context.settings
        return cls(
            context.database,
            context.run,
            settings.prices,
            settings.sync.max_cost_usd,
            Spending(usd=spent_before(context)),
        )

    def note(self, entries: Sequence[UsageEntry]) -> None:
        """Write entries and add them up; `check` then tells whether the limit is passed."""
        if not entries:
            return
        with self.database.connection() as connection:
            record_usage(connection, entries, run=self.run, prices=self.prices)
        for entry in entries:
            own = self.by_document.setdefault(entry.source_hash or "", Spending())
            usd = estimate_usd(entry.usage, self.prices)
            for sums in (self.total, own):
                sums.requests += entry.usage.requests
                sums.tokens += entry.usage.tokens
                sums.pages += entry.usage.pages
                sums.usd += usd or 0.0
                sums.unpriced += usd is None

    def check(self, planned: Usage | None = None) -> None:
        """Raise `BudgetError` once more was spent than allowed, or would be by what is planned."""
        if self.max_usd is None:
            return
        ahead = estimate_usd(planned, self.prices) or 0.0 if planned else 0.0
        if self.total.usd + ahead > self.max_usd:
            raise BudgetError(
                f"the sync has cost an estimated {self.total.usd:.4f} USD, and its next step "
                f"{ahead:.4f}: more than sync.max_cost_usd = {self.max_usd}",
                hint="raise the limit and run `rag sync` again",
            )
