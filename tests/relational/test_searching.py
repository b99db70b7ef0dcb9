"""Search and answers over rows: SQL narrows, enriches, computes; nobody sees more than allowed."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from rag_pipeline.answering import Answerer
from rag_pipeline.relational.databases import Databases
from rag_pipeline.relational.row_search import RowSearcher
from rag_pipeline.relational.rows.row_sync import sync_relational
from rag_pipeline.relational.search_opening import create_searcher
from rag_pipeline.search import Filters, MetadataFilter, Searcher
from rag_pipeline.settings import RelationalSettings, SearchSettings, Settings
from rag_pipeline.store.database import Database
from rag_pipeline.sync.finish import finish
from tests.relational.conftest import Source
from tests.relational.contexts import context_of
from tests.search.reranker_server import reranker


def searcher_of(
    database: Database, settings: Settings, *sources: RelationalSettings
) -> RowSearcher:
    """Index sources, and return what searches them."""
    settings = settings.model_copy(update={"relational": list(sources)})
    context = context_of(database, settings)
    for source in sources:
        sync_relational(context, source)
    finish(context)
    searcher = create_searcher(database, settings, embedder=context.embedder)
    assert isinstance(searcher, RowSearcher)
    return searcher


def test_without_relational_sources_it_is_a_plain_searcher(
    database: Database, settings: Settings
) -> None:
    assert type(create_searcher(database, settings)) is Searcher


def test_rows_that_are_named_come_first_with_their_columns_of_now(
    database: Database, settings: Settings, source: Source, workshop: Path
) -> None:
    searcher = searcher_of(database, settings, source(strategy="entity"))
    with sqlite3.connect(workshop) as connection:
        connection.execute("UPDATE clients SET city = 'Emden' WHERE id = 1")
    response = searcher.search("Which clients bought the Rotor?", limit=2)
    assert {one.title for one in response.results} == {"Nordwerk", "Hansol Works"}
    rows = {one.title: one.metadata["row"] for one in response.results}
    assert rows["Nordwerk"]["city"] == "Emden"
    assert rows["Hansol Works"]["country"] == "South Korea"


def test_a_row_that_is_gone_meanwhile_is_told(
    database: Database, settings: Settings, source: Source, workshop: Path
) -> None:
    searcher = searcher_of(database, settings, source(strategy="entity"))
    with sqlite3.connect(workshop) as connection:
        connection.execute("DELETE FROM clients WHERE id = 3")
    response = searcher.search("What about Idle Mills?", limit=1)
    assert response.results[0].metadata.get("row") is None or response.notes == []
    assert any("gone from the database" in note for note in searcher.search("Mills").notes)


def test_a_category_with_many_rows_narrows(
    database: Database, settings: Settings, source: Source, workshop: Path
) -> None:
    with sqlite3.connect(workshop) as connection:
        rows = [(i, f"Client {i}", "Kiel", "Poland" if i % 2 else "Norway") for i in range(10, 50)]
        connection.executemany("INSERT INTO clients VALUES (?, ?, ?, ?, 1, NULL)", rows)
    searcher = searcher_of(database, settings, source(strategy="entity"))
    found = searcher.search("clients in Poland", limit=10).results
    assert {one.metadata["values"]["country"] for one in found} == {"Poland"}


def test_a_database_that_is_away_does_not_stop_a_search(
    database: Database, settings: Settings, source: Source, workshop: Path
) -> None:
    searcher = searcher_of(database, settings, source(strategy="entity"))
    workshop.rename(workshop.with_suffix(".gone"))
    workshop.mkdir()
    response = searcher.search("Nordwerk")
    assert response.results[0].title == "Nordwerk"
    assert "relational source workshop: " in response.notes[0]


def test_numbers_are_computed_first(database: Database, settings: Settings, source: Source) -> None:
    searcher = searcher_of(database, settings, source(strategy="entity"))
    answerer = Answerer(database, settings, searcher)
    answer = answerer.ask("What is the total revenue?")
    assert (answer.kind, answer.text, answer.status) == ("computed", "235", "answered")
    assert answer.computation is not None
    assert answer.computation.source == "workshop"
    assert answer.computation.is_exact
    assert answer.computation.sql.startswith("SELECT")
    assert list(answerer.stream("고객은 몇 명인가요?")) == ["3"]
    # What is limited to documents, and what is no question for a number, goes the usual way.
    assert answerer.ask("Who prefers delivery by rail?").kind == "extractive"
    limited = answerer.ask("How many clients are there?", filters=Filters(tags=["manual"]))
    assert limited.kind == "extractive"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("In which city is Nordwerk?", "Nordwerk · city: Bremen [1]"),
        ("Nordwerk는 어느 도시에 있습니까?", "Nordwerk · city: Bremen [1]"),
        ("Who referred Idle Mills?", "Idle Mills · referred by: Nordwerk [1]"),
    ],
)
def test_a_fact_is_named_with_its_row(
    database: Database, settings: Settings, source: Source, question: str, answer: str
) -> None:
    searcher = searcher_of(database, settings, source(strategy="entity"))
    # With a filter nothing is computed.
    clients = Filters(metadata=[MetadataFilter.parse("table=clients")])
    found = Answerer(database, settings, searcher).ask(question, filters=clients)
    assert found.text.split("\n")[0] == answer
    assert found.citations[0].breadcrumb_trail.endswith(answer.split(" · ")[0])


def test_a_number_that_was_refused_is_noted(
    database: Database, settings: Settings, source: Source
) -> None:
    searcher = searcher_of(database, settings, source(strategy="entity"))
    answer = Answerer(database, settings, searcher).ask("How many walruses did Nordwerk buy?")
    assert answer.kind != "computed"
    assert any("“walruses”" in note for note in answer.notes)


@pytest.fixture
def clients_and_parts(source: Source) -> list[RelationalSettings]:
    """Two sources in one database: clients for all, parts for the store keepers."""
    return [
        source(name="clients", depth=0),
        source(name="parts", root="parts", depth=1, readers=["group:store"]),
    ]


def test_what_may_not_be_read_is_not_computed_either(
    database: Database, settings: Settings, clients_and_parts: list[RelationalSettings]
) -> None:
    every = Databases(clients_and_parts)
    assert every.answer("How many parts are there?").text == "3"
    public = Databases(clients_and_parts, ["clients"])
    assert public.answer("How many clients are there?").text == "3"
    assert not public.answer("How many parts are there?").is_computed
    assert not public.answer("What is the total revenue?").is_computed
    assert not Databases(clients_and_parts, [])
    names = [one.name for one in clients_and_parts]
    seen = {
        principals: every.readable_from(_Restricted(principals))._readable
        for principals in [(), ("user:kim",), ("group:store",), None]
    }
    assert seen == {
        (): [],
        ("user:kim",): ["clients"],
        ("group:store",): names,
        None: names,
    }


class _Restricted(Database):
    """A database that is open to some principals; nothing is read from it."""

    def __init__(self, principals: tuple[str, ...] | None) -> None:
        self.principals = principals


def test_what_is_excluded_is_not_computed_either(source: Source) -> None:
    databases = Databases([source(exclude=["parts.stock", "client_notes"])])
    assert databases.answer("What is the highest price of parts?").is_computed
    assert not databases.answer("What is the total stock?").is_computed
    assert not databases.answer("How many client notes are there?").is_computed


def test_the_embedder_and_the_reranker_are_asked_once(
    database: Database, settings: Settings, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many passes over named rows, their children and everything a search takes."""
    searcher = searcher_of(database, settings, source(strategy="parent_child"))
    embedded: list[str] = []
    embed = type(searcher.embedder).embed_query

    def counting(self: Any, text: str) -> Any:
        embedded.append(text)
        return embed(self, text)

    monkeypatch.setattr(type(searcher.embedder), "embed_query", counting)
    scores = [{"index": place, "relevance_score": 1 / (1 + place)} for place in range(3)]
    with reranker({"results": scores}) as (url, requests):
        given = {"reranker": {"url": url, "candidates": 3}}
        reranking = SearchSettings.model_validate({**settings.search.model_dump(), **given})
        searcher._settings = reranking
        response = searcher.search("Nordwerk", limit=3)
    assert embedded == ["Nordwerk"]
    assert len(requests) == 1
    assert response.results[0].title == "Nordwerk"
    assert {one.rerank_score for one in response.results} <= {1.0, 0.5, 1 / 3, None}
