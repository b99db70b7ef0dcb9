"""What a whole sync did, in numbers, and what failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag_pipeline.store.documents import list_documents
from rag_pipeline.sync.sources.places import file_name

if TYPE_CHECKING:
    from rag_pipeline.relational.rows.row_report import RelationalReport
    from rag_pipeline.store.database import Database
    from rag_pipeline.store.documents import DocumentRow, DocumentState
    from rag_pipeline.sync.documents.document_jobs import Outcome
    from rag_pipeline.sync.planning.plan import SyncPlan
    from rag_pipeline.sync.planning.refresh import RefreshResult


@dataclass
class StageTotals:
    """What the workers did in one stage, over all documents of a sync."""

    documents: int = 0
    pages: int = 0
    seconds: float = 0.0


@dataclass
class SyncSummary:
    """What a sync did, in numbers, and what failed."""

    files: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    """Those of the problems that mean that something was not read."""
    documents_done: int = 0
    documents_current: int = 0
    failures: list[dict[str, str]] = field(default_factory=list)
    """source_hash, file, reason; `earlier` says whether it was tried in this sync."""
    edited: list[dict[str, str | int]] = field(default_factory=list)
    """file, and of its chunks: kept, made anew, and such of them as only got another heading."""
    stages: dict[str, StageTotals] = field(default_factory=dict)
    runs: list[str] = field(default_factory=list)
    """Of Dagster; none where there was nothing to do."""
    seconds: float = 0.0
    relational: list[RelationalReport] = field(default_factory=list)
    """One report per database."""
    aborted: str | None = None
    """Why the sync ended before all documents were tried."""

    def take_scan(self, scan: RefreshResult) -> None:
        """Count what a scan found."""
        self.files = scan.changes.counts()
        self.problems, self.unread = scan.problems, scan.unread

    def take_documents(self, documents: Sequence[Outcome]) -> None:
        """Count what was done of documents, each of which may have come up more than once."""
        failed = {outcome.source_hash for outcome in documents if outcome.error is not None}
        done = {outcome.source_hash for outcome in documents if outcome.done}
        self.documents_done += len(done - failed)
        for outcome in documents:
            if outcome.compared is not None and (outcome.compared.kept or outcome.compared.moved):
                counts = {
                    name: getattr(outcome.compared, name) for name in ("kept", "made", "moved")
                }
                self.edited.append({"file": outcome.name, **counts})
            for report in outcome.done:
                totals = self.stages.setdefault(report.stage, StageTotals())
                totals.documents += 1
                totals.pages += int(report.metadata["pages"])
                totals.seconds += report.seconds

    def take_failures(self, database: Database, plan: SyncPlan) -> None:
        """List what is failed now, tried in this sync or before: the exit status tells of both."""
        if not plan.stale:  # nothing was tried
            self.failures += [_failure(state, is_earlier=True) for state in plan.failed]
            return
        earlier = {state.source_hash for state in plan.failed}
        with database.connection() as connection:
            documents = list_documents(connection)
        for document in documents:
            known = document.source_hash in earlier
            if document.status == "failed" and (known or document.source_hash in plan.stale):
                self.failures.append(_failure(document, is_earlier=known))


def _failure(document: DocumentRow | DocumentState, *, is_earlier: bool) -> dict[str, str]:
    return {
        "source_hash": document.source_hash,
        "file": file_name(document.uris[0]),
        "reason": document.failure_reason or "unknown",
        "earlier": "yes" if is_earlier else "no",
    }
