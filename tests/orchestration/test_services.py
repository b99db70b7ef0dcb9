"""Whole syncs with an embedding service, spoken to by its real client on a local server."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import fsspec
import pytest

from rag_pipeline.assets.launch import run_sync
from rag_pipeline.errors import BudgetError, SettingsError
from rag_pipeline.search import Searcher
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.documents import list_documents
from rag_pipeline.store.embeddings import active_space, list_spaces, vector_coverage
from rag_pipeline.store.source_tables import register_roots
from rag_pipeline.store.usage_table import usage_totals
from rag_pipeline.sync.planning.dry_run import preview_sync
from rag_pipeline.sync.planning.estimate import estimate_plan
from rag_pipeline.sync.sources.places import given_root
from rag_pipeline.sync_summary import SyncSummary
from tests.chat.chat_server import Answer, ChatServer, whole
from tests.embedding.provider_server import ProviderServer
from tests.pdfs import make_pdf

SyncWith = Callable[[], SyncSummary]
OIL = [("Oil", ["Change the oil every year."])]
AIR = [("Air", ["Clean the air filter every month."])]
SPACE = "openai/stub/64"


@pytest.fixture
def service(in_project: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    """An embedding service that the project's settings name."""
    with ProviderServer().serving() as server:
        use_service(monkeypatch, server)
        yield server


def use_service(monkeypatch: pytest.MonkeyPatch, server: ProviderServer) -> None:
    monkeypatch.setenv("RAG_EMBEDDING__PROVIDER", "openai")
    monkeypatch.setenv("RAG_EMBEDDING__MODEL", "stub")
    monkeypatch.setenv("RAG_EMBEDDING__DIMENSIONS", "64")
    monkeypatch.setenv("RAG_EMBEDDING__BASE_URL", server.url)
    monkeypatch.setenv("RAG_EMBEDDING__DEADLINE_SECONDS", "60")


@pytest.fixture
def sync_with(
    in_project: Settings, database: Database, instance: dg.DagsterInstance, manuals: Path
) -> SyncWith:
    """Sync the folder `manuals` with the settings as they are in the environment then."""
    from rag_pipeline.definitions import defs

    def run() -> SyncSummary:
        root = given_root(manuals)
        with database.connection() as connection:
            register_roots(connection, [root])
        settings = Settings.load(in_project.project_dir)
        return run_sync(defs, instance, settings, database, [root.root])

    return run


def test_usage_is_written_and_nothing_is_asked_for_twice(
    service: ProviderServer,
    sync_with: SyncWith,
    database: Database,
    manuals: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RAG_PRICES", '{"openai/stub": 2.0}')
    make_pdf(manuals / "oil.pdf", OIL)
    make_pdf(manuals / "air.pdf", AIR)
    assert sync_with().documents_done == 2
    assert sorted(text.splitlines()[0] for text in service.sent) == ["Air", "Oil"]
    with database.connection() as connection:
        (total,) = usage_totals(connection, "source")
        documents = connection.execute("SELECT count(DISTINCT source_hash) FROM usage").fetchone()
        connection.execute("DELETE FROM chunk")
    # As the server counts: a token for every four characters and one more for each text.
    tokens = sum(len(text) // 4 + 1 for text in service.sent)
    assert (total.group, total.tokens) == (str(manuals), tokens)
    assert total.usd == pytest.approx(tokens * 2.0 / 1_000_000)
    assert documents == (2,)

    service.reset()
    assert sync_with().documents_done == 2
    assert service.requests == [], "every vector came from the cache"


def test_a_bad_text_fails_its_document_alone(
    service: ProviderServer, sync_with: SyncWith, database: Database, manuals: Path
) -> None:
    make_pdf(manuals / "oil.pdf", OIL)
    make_pdf(manuals / "air.pdf", AIR)
    service.refuse = lambda text: "air filter" in text
    summary = sync_with()
    assert summary.documents_done == 1
    (failure,) = summary.failures
    assert failure["file"] == "air.pdf"
    assert "this text is not accepted" in failure["reason"]
    service.reset()
    assert sync_with().documents_done == 1
    assert [text.splitlines()[0] for text in service.sent] == ["Air"]


def test_a_bad_key_ends_the_sync_at_once(
    service: ProviderServer, sync_with: SyncWith, database: Database, manuals: Path
) -> None:
    make_pdf(manuals / "oil.pdf", OIL)
    service.always.status = 401
    summary = sync_with()
    assert "RAG_EMBEDDING__API_KEY" in (summary.aborted or "")
    assert len(service.requests) == 1
    with database.connection() as connection:
        (document,) = list_documents(connection)
    assert document.status == "ready", "found by words; it is no fault of the document"


def test_words_are_searched_while_vectors_are_filled_in(
    in_project: Settings,
    service: ProviderServer,
    sync_with: SyncWith,
    database: Database,
    manuals: Path,
) -> None:
    make_pdf(manuals / "oil.pdf", OIL)
    make_pdf(manuals / "air.pdf", AIR)
    service.refuse = lambda text: "air filter" in text
    assert sync_with().documents_done == 1
    settings = Settings.load(in_project.project_dir)
    with database.connection() as connection:
        space = active_space(connection)
        assert space is not None
        coverage = vector_coverage(connection, space.space_id)
    assert (space.is_filling, coverage.lacking) == (True, 1)
    told = "vectors for 50 % of chunks; the others are found by words only"
    assert coverage.describe() == told
    service.reset()  # queries are embedded
    response = Searcher(database, settings).search("air filter")
    found = {result.document: result.vector_score for result in response.results}
    assert found["air.pdf"] is None, "found by words"
    assert told in response.notes
    chunk_ids = "SELECT chunk_id FROM chunk ORDER BY 1"
    with database.connection() as connection:
        before = connection.execute(chunk_ids).fetchall()

    service.reset()
    summary = sync_with()
    assert (summary.documents_done, set(summary.stages)) == (1, {"chunk_embeddings"})
    assert len(service.sent) == 1, "what has a vector is not embedded again"
    with database.connection() as connection:
        assert connection.execute(chunk_ids).fetchall() == before, "nothing landed again"
        space = active_space(connection)
        assert space is not None
        assert vector_coverage(connection, space.space_id).describe() == ""
        statuses = {document.status for document in list_documents(connection)}
    assert (space.is_filling, statuses) == (False, {"ready"})
    response = Searcher(database, settings).search("air filter")
    assert all(result.vector_score is not None for result in response.results)
    assert told not in response.notes


def test_a_service_that_is_down_ends_the_sync(
    service: ProviderServer,
    sync_with: SyncWith,
    database: Database,
    manuals: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_pdf(manuals / "oil.pdf", OIL)
    service.always.status = 503
    with monkeypatch.context() as patched:
        patched.setenv("RAG_EMBEDDING__DEADLINE_SECONDS", "1")
        aborted = sync_with().aborted
    assert "openai cannot be used now" in (aborted or "")
    with database.connection() as connection:
        (document,) = list_documents(connection)
    assert document.status == "ready", "found by words; it is no fault of the document"
    service.reset()
    assert sync_with().documents_done == 1


def test_a_dry_run_and_the_limit_of_cost_send_nothing(
    service: ProviderServer,
    sync_with: SyncWith,
    in_project: Settings,
    database: Database,
    manuals: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RAG_PRICES", '{"openai/stub": 1000.0}')
    make_pdf(manuals / "oil.pdf", OIL, pages=3)
    settings = Settings.load(in_project.project_dir)
    preview = preview_sync(settings, database, [given_root(manuals)])
    estimate = estimate_plan(preview.plan, settings, database)
    (document,) = estimate.documents
    assert (document.name, document.why, document.pages) == ("oil.pdf", "it is new", 3)
    # Three pages of 600 tokens each, at 1,000 dollars a million.
    assert (estimate.tokens, estimate.usd) == (1_800, pytest.approx(1.8))
    with database.connection() as connection:
        assert list_documents(connection) == []

    monkeypatch.setenv("RAG_SYNC__MAX_COST_USD", "0.5")
    with pytest.raises(BudgetError, match=r"1\.8000 USD.*more than sync\.max_cost_usd = 0\.5"):
        sync_with()
    assert service.requests == []
    monkeypatch.setenv("RAG_SYNC__MAX_COST_USD", "2")
    assert sync_with().documents_done == 1


def test_a_new_model_is_built_beside_the_old_one(
    in_project: Settings,
    sync_with: SyncWith,
    database: Database,
    manuals: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_pdf(manuals / "oil.pdf", OIL)
    make_pdf(manuals / "air.pdf", AIR)
    assert sync_with().documents_done == 2
    with ProviderServer().serving() as server:
        use_service(monkeypatch, server)
        server.refuse = lambda text: "air filter" in text
        summary = sync_with()
        assert (summary.documents_done, len(summary.failures)) == (1, 1)
        with database.connection() as connection:
            active = active_space(connection)
            vectors = {row.space.provider: row.vectors for row in list_spaces(connection)}
        assert active is not None
        assert active.provider == "local", "the old one answers until the new one is complete"
        assert vectors == {"local": 2, "openai": 1}
        settings = Settings.load(in_project.project_dir)
        found = Searcher(database, settings).search("oil", weights={"vector": 1.0}).results
        assert [result.content.splitlines()[0] for result in found] == ["Oil", "Air"]

        server.reset()
        assert sync_with().documents_done == 1
        with database.connection() as connection:
            active = active_space(connection)
            rows = list_spaces(connection)
        assert active is not None
        assert active.name.startswith(SPACE)
        assert all(row.is_complete for row in rows), "the old one can be activated again"
        for name in (SPACE, "local/multilingual-e5-small/384"):
            searcher = Searcher(database, settings, space=name)
            assert len(searcher.search("oil", weights={"vector": 1.0}).results) == 2
        with pytest.raises(SettingsError, match="there is no embedding space 'x'"):
            Searcher(database, settings, space="x").search("oil")


def test_sources_choose_parser_and_strategy(
    in_project: Settings,
    database: Database,
    instance: dg.DagsterInstance,
    service: ProviderServer,
    manuals: Path,
) -> None:
    from rag_pipeline.definitions import defs

    other = manuals.parent / "notes"
    lines = [f"Sentence {number} of the text on valves and pumps." for number in range(25)]
    make_pdf(manuals / "a.pdf", [("Valves", lines)])
    make_pdf(other / "b.pdf", [("Pumps", lines)])
    (in_project.project_dir / "rag.toml").write_text(
        f"[chunking]\ntarget_tokens = 64\noverlap_tokens = 0\n"
        f'[[sources]]\npath = "{manuals}"\n'
        f'[[sources]]\npath = "{other}"\nstrategy = "sentence"\n',
        encoding="utf-8",
    )
    settings = Settings.load(in_project.project_dir)
    assert run_sync(defs, instance, settings, database, []).documents_done == 2
    with database.connection() as connection:
        strategies = {
            Path(uri).name: fingerprint
            for uri, fingerprint in connection.execute(
                "SELECT uri, fingerprints ->> 'contextual_chunks' FROM document "
                "JOIN source USING (source_hash)"
            )
        }
    assert strategies["a.pdf"] != strategies["b.pdf"]
    (in_project.project_dir / "rag.toml").write_text(
        f"[chunking]\ntarget_tokens = 64\noverlap_tokens = 0\n"
        f'[[sources]]\npath = "{manuals}"\n'
        f'[[sources]]\npath = "{other}"\n',
        encoding="utf-8",
    )
    again = run_sync(defs, instance, Settings.load(in_project.project_dir), database, [])
    assert again.documents_done == 1, "only the source whose strategy changed"


def test_a_source_elsewhere(
    in_project: Settings,
    database: Database,
    instance: dg.DagsterInstance,
    service: ProviderServer,
    manuals: Path,
) -> None:
    from rag_pipeline.definitions import defs

    memory = fsspec.filesystem("memory")
    memory.store.clear()
    memory.pipe("/remote/oil.pdf", make_pdf(manuals / "oil.pdf", OIL).read_bytes())
    root = given_root("memory://remote")
    with database.connection() as connection:
        register_roots(connection, [root])
    settings = Settings.load(in_project.project_dir)
    summary = run_sync(defs, instance, settings, database, [root.root])
    assert (summary.documents_done, summary.failures) == (1, [])
    with database.connection() as connection:
        (document,) = list_documents(connection)
    assert (document.uris, document.status) == (["memory:///remote/oil.pdf"], "ready")
    assert not (settings.data_path / "spool").exists()
    memory.store.clear()


def test_contexts_are_asked_for_once_and_embedded(
    service: ProviderServer,
    sync_with: SyncWith,
    database: Database,
    manuals: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_pdf(manuals / "oil.pdf", OIL)
    with ChatServer().serving() as chat:
        chat.always = Answer(whole("Context: About the yearly oil service of the compressor."))
        monkeypatch.setenv("RAG_CHAT__BASE_URL", chat.url)
        monkeypatch.setenv("RAG_CHAT__MODEL", "small")
        monkeypatch.setenv("RAG_CHUNKING__LLM_CONTEXT", "true")
        assert sync_with().documents_done == 1
        context = "About the yearly oil service of the compressor."
        (text,) = service.sent
        assert text.splitlines()[:2] == ["Oil", context]
        assert len(chat.requests) == 1
        assert "Change the oil every year." in chat.requests[0].body["messages"][1]["content"]
        settings = Settings.load(Path(os.environ["RAG_HOME"]))
        found = Searcher(database, settings).search("compressor", weights={"text": 1.0}).results
        assert len(found) == 1, "words of the context are found"
        with database.connection() as connection:
            assert connection.execute("SELECT context FROM chunk").fetchall() == [(context,)]
            totals = {total.group: total.tokens for total in usage_totals(connection, "provider")}
            connection.execute("UPDATE document SET fingerprints = '{}'")
        assert totals["chat/small"] == 11
        assert sync_with().documents_done == 1
        assert len(chat.requests) == 1, "the reply was kept"


def test_a_space_that_lacks_a_quarantined_document_does_not_take_over(
    in_project: Settings,
    sync_with: SyncWith,
    database: Database,
    manuals: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_pdf(manuals / "oil.pdf", OIL)
    assert sync_with().documents_done == 1
    with ProviderServer().serving() as server:
        use_service(monkeypatch, server)
        monkeypatch.setenv("RAG_SYNC__QUARANTINE_AFTER", "1")
        server.refuse = lambda text: "oil" in text
        assert len(sync_with().failures) == 1
        assert sync_with().documents_done == 0, "it is in quarantine"
    with database.connection() as connection:
        active = active_space(connection)
    assert active is not None
    assert active.provider == "local"


def test_a_limit_of_cost_needs_known_prices_and_counts_contexts(
    service: ProviderServer,
    sync_with: SyncWith,
    in_project: Settings,
    database: Database,
    manuals: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (manuals / "long.txt").write_text("Check the valve before the pump runs.\n\n" * 3_000)
    monkeypatch.setenv("RAG_SYNC__MAX_COST_USD", "0")
    with pytest.raises(BudgetError, match=r"no price is known.*\[prices\]"):
        sync_with()
    monkeypatch.setenv("RAG_PRICES", '{"openai/stub": 1.0}')
    settings = Settings.load(in_project.project_dir)
    preview = preview_sync(settings, database, [given_root(manuals)])
    (document,) = estimate_plan(preview.plan, settings, database).documents
    real = len("Check the valve before the pump runs.\n\n" * 3_000) / 4
    assert document.tokens > real, "a file without pages is judged by its size"

    monkeypatch.setenv("RAG_CHUNKING__LLM_CONTEXT", "true")
    monkeypatch.setenv("RAG_CHAT__MODEL", "m")
    monkeypatch.setenv("RAG_CHAT__BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("RAG_PRICES", '{"openai/stub": 1.0, "chat/m": 1.0, "chat/m/output": 2.0}')
    settings = Settings.load(in_project.project_dir)
    (with_contexts,) = estimate_plan(preview.plan, settings, database).documents
    assert with_contexts.usd is not None
    assert document.usd is not None
    assert with_contexts.usd > 10 * document.usd
    assert service.requests == []


def test_sentences_of_semantic_are_asked_for_once(
    service: ProviderServer,
    sync_with: SyncWith,
    manuals: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sentences = " ".join(f"The valve number {number} opens slowly." for number in range(30))
    (manuals / "valves.txt").write_text(sentences)
    monkeypatch.setenv("RAG_CHUNKING__STRATEGY", "semantic")
    monkeypatch.setenv("RAG_CHUNKING__TARGET_TOKENS", "64")
    assert sync_with().documents_done == 1
    assert len(service.sent) > 30
    service.reset()
    monkeypatch.setenv("RAG_CHUNKING__PARENT_TOKENS", "0")
    assert sync_with().documents_done == 1
    assert service.requests == []


@pytest.mark.parametrize(
    "variables",
    [
        {"RAG_EMBEDDING__PROVIDER": "openai", "RAG_EMBEDDING__MODEL": "text-embedding-3-small"},
        {"RAG_EMBEDDING__PROVIDER": "voyage", "RAG_EMBEDDING__MODEL": "voyage-3.5"},
        {"RAG_CHUNKING__LLM_CONTEXT": "true", "RAG_CHAT__MODEL": "gpt-4o-mini"},
    ],
)
def test_a_missing_key_is_noticed_before_anything_is_parsed(
    sync_with: SyncWith,
    in_project: Settings,
    manuals: Path,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
) -> None:
    for name in ("OPENAI_API_KEY", "VOYAGE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    make_pdf(manuals / "oil.pdf", OIL)
    summary = sync_with()
    assert summary.aborted is not None
    assert "no key is set" in summary.aborted
    assert not list((in_project.data_path / "artifacts").rglob("*.parquet"))
