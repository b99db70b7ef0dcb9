"""Whole syncs that send pages to Document AI, over gRPC to a server on this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from rag_pipeline.assets.launch import run_sync
from rag_pipeline.errors import BudgetError
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.documents import list_documents
from rag_pipeline.store.source_tables import register_roots
from rag_pipeline.store.usage_table import usage_totals
from rag_pipeline.sync.planning.dry_run import preview_sync
from rag_pipeline.sync.planning.estimate import estimate_plan
from rag_pipeline.sync.sources.places import given_root
from rag_pipeline.sync_summary import SyncSummary
from tests.document_ai.replies import make_manual, reply_of, scanned
from tests.document_ai.server import DocumentAiServer

pytest.importorskip("google.cloud.documentai", reason="the extra document_ai is not installed")


@pytest.fixture
def sync_with(
    in_project: Settings,
    database: Database,
    instance: dg.DagsterInstance,
    manuals: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[DocumentAiServer, str], SyncSummary]:
    """Sync the folder `manuals` with a parser, one process at a time."""
    from rag_pipeline.definitions import defs

    def run(server: DocumentAiServer, parser: str) -> SyncSummary:
        monkeypatch.setenv("RAG_PARSING__PARSER", parser)
        monkeypatch.setenv("RAG_PARSING__OCR", "off")
        monkeypatch.setenv("RAG_DOCUMENT_AI__PROJECT", "p")
        monkeypatch.setenv("RAG_DOCUMENT_AI__PROCESSOR", "1f")
        monkeypatch.setenv("RAG_DOCUMENT_AI__ENDPOINT", server.endpoint)
        root = given_root(manuals)
        with database.connection() as connection:
            register_roots(connection, [root])
        settings = Settings.load(in_project.project_dir)
        return run_sync(defs, instance, settings, database, [root.root])

    return run


def test_pages_are_paid_for_once(
    sync_with: Callable[[DocumentAiServer, str], SyncSummary], database: Database, manuals: Path
) -> None:
    manual = make_manual(manuals / "manual.pdf", 20)
    with DocumentAiServer(reply_of(manual)) as server:
        assert sync_with(server, "document_ai").documents_done == 1
        assert sorted(server.pages_asked()) == list(range(1, 21))
        with database.connection() as connection:
            (total,) = usage_totals(connection, "provider")
            pages = connection.execute("SELECT DISTINCT page_start FROM chunk").fetchall()
            connection.execute("UPDATE document SET fingerprints = '{}'")
        assert (total.group, total.pages, total.requests) == ("document_ai/ocr", 20, 2)
        # 20 pages at 1.50 dollars a thousand.
        assert total.usd == pytest.approx(0.03)
        assert len(pages) > 1
        server.calls.clear()
        assert sync_with(server, "document_ai").documents_done == 1
        assert server.calls == [], "every reply was kept"
        manual.unlink()
        sync_with(server, "document_ai")
    with database.connection() as connection:
        assert list_documents(connection) == []


def test_auto_sends_what_needs_it_and_a_dry_run_says_so(
    sync_with: Callable[[DocumentAiServer, str], SyncSummary],
    in_project: Settings,
    database: Database,
    manuals: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = make_manual(tmp_path / "plain.pdf", 4)
    mixed = scanned(plain, manuals / "mixed.pdf", pages={2, 3})
    make_manual(manuals / "readable.pdf", 3)
    with DocumentAiServer(reply_of(plain)) as server:
        monkeypatch.setenv("RAG_SYNC__MAX_COST_USD", "0.001")
        with pytest.raises(BudgetError, match="2 pages to Document AI"):
            sync_with(server, "auto")
        assert server.calls == []
        monkeypatch.delenv("RAG_SYNC__MAX_COST_USD")
        settings = Settings.load(in_project.project_dir)
        preview = preview_sync(settings, database, [given_root(manuals)])
        estimate = estimate_plan(preview.plan, settings, database)
        sent = {document.name: document.sent_why for document in estimate.documents}
        assert sent["readable.pdf"] == ""
        assert "page 2-3 of 4: no text" in sent[mixed.name]
        # Two pages at 1.50 dollars a thousand; the local model costs nothing.
        assert estimate.usd == pytest.approx(0.003)

        assert sync_with(server, "auto").documents_done == 2
        assert sorted(server.pages_asked()) == [2, 3]
    with database.connection() as connection:
        (total,) = usage_totals(connection, "provider")
    assert total.pages == 2


def test_missing_credentials_are_noticed_before_anything_is_parsed(
    in_project: Settings,
    database: Database,
    instance: dg.DagsterInstance,
    manuals: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from rag_pipeline.definitions import defs

    monkeypatch.setenv("RAG_PARSING__PARSER", "document_ai")
    monkeypatch.setenv("RAG_DOCUMENT_AI__PROJECT", "p")
    monkeypatch.setenv("RAG_DOCUMENT_AI__PROCESSOR", "1f")
    monkeypatch.setenv("RAG_DOCUMENT_AI__CREDENTIALS_FILE", str(manuals.parent / "no_key.json"))
    settings = Settings.load(in_project.project_dir)
    root = given_root(manuals)
    with database.connection() as connection:
        register_roots(connection, [root])
    (manuals / "notes.txt").write_text("Change the oil every year.")
    assert run_sync(defs, instance, settings, database, [root.root]).documents_done == 1
    (manuals / "more.txt").write_text("Clean the air filter every month.")
    make_manual(manuals / "manual.pdf", 2)
    summary = run_sync(defs, instance, settings, database, [root.root])
    assert "no_key.json" in (summary.aborted or "")
    assert summary.documents_done == 0
    with database.connection() as connection:
        found = {one.uris[0].rsplit("/", 1)[-1]: one.status for one in list_documents(connection)}
    assert found["notes.txt"] == "ready", "what Document AI does not read needs no credentials"
    assert "ready" not in {found.get("more.txt"), found.get("manual.pdf")}
