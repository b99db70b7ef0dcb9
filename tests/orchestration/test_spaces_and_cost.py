"""`rag spaces` and `rag cost` on a store that two models filled."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from rag_pipeline.cli.commands import app
from rag_pipeline.code_versions import EMBEDDING_VERSION
from rag_pipeline.embedding import create_embedder
from rag_pipeline.errors import SettingsError
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.embeddings import active_space, cache_vectors, ensure_space
from rag_pipeline.store.usage_table import UsageEntry, record_usage
from rag_pipeline.usage import Usage

SHORT = "local/multilingual-e5-small/384"
OTHER = f"openai/text-embedding-3-small/1536@{EMBEDDING_VERSION}"


@pytest.fixture
def local(settings: Settings) -> str:
    """The name of the space that the local model fills on this machine."""
    version = create_embedder(settings.embedding, settings.models_path).version
    return f"{SHORT}@{version}"


@pytest.fixture
def spaces(in_project: Settings, database: Database, local: str) -> Database:
    """A store with two complete (empty) spaces, the local one active."""
    with database.connection() as connection:
        ensure_space(connection, "local", "multilingual-e5-small", 384, local.rsplit("@", 1)[1])
        other = ensure_space(
            connection, "openai", "text-embedding-3-small", 1536, EMBEDDING_VERSION
        )
        cache_vectors(connection, other.space_id, [bytes(32)], np.ones((1, 1536), dtype=np.float32))
    return database


def rag(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def active(database: Database) -> tuple[str, bool]:
    with database.connection() as connection:
        space = active_space(connection)
    assert space is not None
    return space.name, space.pinned


def test_spaces_are_listed_activated_pinned_and_dropped(spaces: Database, local: str) -> None:
    listed = json.loads(rag("spaces", "list", "--json"))
    assert [(row["name"], row["space"]["state"]) for row in listed] == [
        (local, "active"),
        (OTHER, "building"),
    ]
    with pytest.raises(SettingsError, match="is the active space"):
        rag("spaces", "drop", local)
    rag("spaces", "activate", OTHER.rsplit("@", 1)[0])
    assert active(spaces) == (OTHER, True), "another than the settings' one is pinned"
    rag("spaces", "activate", local)
    assert active(spaces) == (local, False)
    assert "1 cached texts" in rag("spaces", "drop", OTHER)
    assert [row["name"] for row in json.loads(rag("spaces", "list", "--json"))] == [local]
    with pytest.raises(SettingsError, match=r"'x' names no space; known: local/"):
        rag("spaces", "drop", "x")


def test_an_incomplete_space_is_not_activated(spaces: Database, tmp_path: Path) -> None:
    with spaces.connection() as connection:
        connection.execute("INSERT INTO document (source_hash) VALUES (repeat('a', 64))")
        connection.execute(
            "INSERT INTO source (uri, root, source_hash, size, modified_ns) "
            "VALUES ('/a.pdf', '/', repeat('a', 64), 1, 1)"
        )
        connection.execute(
            "INSERT INTO chunk (source_hash, chunk_index, kind, breadcrumb_trail, content, "
            "token_count, page_start, page_end, regions, content_hash, language, search_vector, "
            "lexeme_count) VALUES (repeat('a', 64), 0, 'text', '', 'x', 1, 1, 1, '[]', "
            "repeat('b', 64), 'en', '', 0)"
        )
    with pytest.raises(SettingsError, match="has vectors for 0 of 1 chunks"):
        rag("spaces", "activate", OTHER)


def test_cost_by_provider_day_and_source(spaces: Database) -> None:
    entries = [
        UsageEntry(
            Usage("openai", "text-embedding-3-small", "embed", 1, tokens=500_000), "a", "/m"
        ),
        UsageEntry(Usage("document_ai", "ocr", "parse", 2, pages=30), "b", "/n"),
        UsageEntry(Usage("chat", "mine", "chat", 1, tokens=10, output_tokens=5)),
    ]
    with spaces.connection() as connection:
        record_usage(connection, entries, run="r")
    by_provider = {row["group"]: row for row in json.loads(rag("cost", "--json"))}
    # .02 dollars a million tokens; 1.50 a thousand pages.
    assert by_provider["openai/text-embedding-3-small"]["usd"] == pytest.approx(0.01)
    assert by_provider["document_ai/ocr"]["usd"] == pytest.approx(0.045)
    assert by_provider["chat/mine"]["usd"] is None
    assert by_provider["chat/mine"]["unpriced"] == 1
    by_source = {
        row["group"]: row["usd"] for row in json.loads(rag("cost", "--by", "source", "--json"))
    }
    assert by_source == {"/m": pytest.approx(0.01), "/n": pytest.approx(0.045), "(none)": None}
    (day,) = json.loads(rag("cost", "--by", "day", "--days", "1", "--json"))
    assert (day["requests"], day["pages"]) == (4, 30)
    assert "$0.055 (estimate)" in rag("cost")
