"""Filters hold before the k best, by words and by vectors, at any selectivity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from typer.main import get_command

from rag_pipeline.cli.commands import app
from rag_pipeline.errors import SettingsError
from rag_pipeline.search import Filters, MetadataFilter, Searcher
from rag_pipeline.search.filters import EVERYTHING, resolve
from rag_pipeline.search.legs.vector_leg import vector_leg
from rag_pipeline.serve.request_models import FiltersRequest
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.embeddings import ensure_index
from tests.conftest import fresh_database
from tests.search.conftest import finish, land_document, source_hash_of, space_of

TEXT = {"text": 1.0, "vector": 0.0}


@pytest.fixture(scope="module")
def database(server_url: str) -> Iterator[Database]:
    with fresh_database(server_url) as url:
        database = Database.open(Settings(database_url=url))  # type: ignore[arg-type]
        land_document(
            database,
            "a.pdf",
            ["pump one", "pump two", "pump three"],
            tags=["service"],
            metadata=[
                {"year": 2019, "kind": "table", "machine": {"make": "X"}},
                {"year": 2021, "kind": "text", "codes": ["E1", "E2"]},
                {"year": "2023", "note": 'a "quoted" one'},
            ],
            ingested=datetime(2024, 5, 1, tzinfo=UTC),
        )
        land_document(
            database,
            "b.docx",
            ["pump vier", "Ventil"],
            language="de",
            tags=["sales", "draft"],
            ingested=datetime(2025, 5, 1, tzinfo=UTC),
        )
        finish(database)
        yield database
        database.close()


def found(database: Database, **filters: Any) -> set[str]:
    searcher = Searcher(database, Settings())
    results = searcher.search("pump", weights=TEXT, filters=Filters(**filters)).results
    return {result.content.removeprefix("pump ") for result in results}


A = {"one", "two", "three"}


def where(*conditions: str) -> dict[str, Any]:
    return {"metadata": [MetadataFilter.parse(condition) for condition in conditions]}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, A | {"vier"}),
        ({"source_types": ["pdf"]}, A),
        ({"source_types": [".DOCX"]}, {"vier"}),
        ({"tags": ["draft", "other"]}, {"vier"}),
        ({"documents": ["a.pdf"]}, A),
        ({"documents": ["/m/b.docx"]}, {"vier"}),
        ({"documents": [source_hash_of("a.pdf")[:10]]}, A),
        ({"documents": ["a"]}, set()),
        ({"languages": ["de"]}, {"vier"}),
        ({"first_page": 2}, {"two", "three"}),
        ({"first_page": 2, "last_page": 2}, {"two"}),
        ({"ingested_from": datetime(2025, 1, 1, tzinfo=UTC)}, {"vier"}),
        ({"ingested_before": datetime(2025, 1, 1, tzinfo=UTC)}, A),
        ({"tags": ["service"], "last_page": 1}, {"one"}),
        (where("year=2019"), {"one"}),
        (where("year=2019|2023"), {"one", "three"}),
        (where("year>=2020"), {"two"}),
        (where("year=2019..2021"), {"one", "two"}),
        (where("year<=2019", "kind=table"), {"one"}),
        (where("codes=E2"), {"two"}),
        (where("machine.make=X"), {"one"}),
        (where('note=a "quoted" one'), {"three"}),
        (where("nothing=1"), set()),
    ],
)
def test_filters(database: Database, filters: dict[str, Any], expected: set[str]) -> None:
    assert found(database, **filters) == expected


def test_nothing_passes_and_the_response_says_so(database: Database) -> None:
    searcher = Searcher(database, Settings())
    response = searcher.search("pump", weights=TEXT, filters=Filters(tags=["none"]))
    assert (response.results, response.notes) == ([], ["no chunk passes the filters"])


def test_a_filter_that_is_none_is_refused() -> None:
    with pytest.raises(SettingsError, match="is not a condition"):
        MetadataFilter.parse("year")


@pytest.mark.parametrize("selective", [0, 20_000])
@pytest.mark.parametrize("every", [1, 2, 50])
def test_as_an_exact_scan_at_any_selectivity(
    server_url: str, monkeypatch: pytest.MonkeyPatch, selective: int, every: int
) -> None:
    monkeypatch.setattr("rag_pipeline.search.filters.SELECTIVE", selective)
    generator = np.random.default_rng(3)
    vectors = generator.standard_normal((1_000, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    with fresh_database(server_url) as url:
        database = Database.open(Settings(database_url=url))  # type: ignore[arg-type]
        metadata = [{"shelf": i % every} for i in range(1_000)]
        land_document(database, "a.pdf", ["x"] * 1_000, metadata=metadata, vectors=vectors)
        space = space_of(database)
        filters = Filters(metadata=[MetadataFilter("shelf", (0,))])
        with database.connection() as connection:
            ensure_index(connection, space)
            rows = connection.execute("SELECT chunk_index, chunk_id FROM chunk").fetchall()
            ids = dict(rows)
        passing = [i for i in range(1_000) if i % every == 0]
        for query in vectors[:5]:
            with database.connection() as connection:
                scope = resolve(connection, filters)
                hits = vector_leg(connection, space, query, 50, scope)
            exact = sorted(passing, key=lambda i: -float(vectors[i] @ query))[:50]
            wanted = {ids[i] for i in exact}
            assert len(hits) == min(50, len(passing))
            assert len({hit.chunk_id for hit in hits} & wanted) >= 0.98 * len(wanted)
        database.close()


def test_no_filter_looks_at_everything(database: Database) -> None:
    with database.connection() as connection:
        assert resolve(connection, Filters()) is EVERYTHING


def test_text_goes_on_until_enough_pass(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_pipeline.search.filters.SELECTIVE", 0)
    assert found(database, languages=["de"]) == {"vier"}
    assert found(database, first_page=2, last_page=2) == {"two"}


def test_every_way_in_offers_every_filter() -> None:
    """A field of `Filters` is an option of `rag search` and `rag ask`, and a field of the API."""
    names = {one.name for one in fields(Filters)}
    assert set(FiltersRequest.model_fields) == names
    spans = {"pages", "since", "before", "where"}
    singular = {name.removesuffix("s") for name in names}
    commands = get_command(app).commands  # type: ignore[attr-defined]
    for command in ("search", "ask"):
        options = {option.name for option in commands[command].params}
        assert spans <= options
        assert singular - options == {
            "first_page",
            "last_page",
            "ingested_from",
            "ingested_before",
            "metadata",
        }
