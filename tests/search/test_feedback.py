"""The feedback leg: words of the best results, where little of the query's own was found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from rag_pipeline.search import Filters, Searcher, SearchResponse
from rag_pipeline.search.filters import EVERYTHING, resolve
from rag_pipeline.search.legs.feedback_leg import fading, heaviest
from rag_pipeline.search.legs.text_leg import TextFound, text_leg
from rag_pipeline.settings import SearchSettings, Settings
from rag_pipeline.store.database import Database
from tests.conftest import fresh_database
from tests.search.conftest import finish, land_document

SETTINGS = Settings(search=SearchSettings(candidates=2))
OFF = Settings(search=SearchSettings(candidates=2, feedback=0))
REPORT = Filters(documents=["report.pdf"])
SHEET = "Total current assets 512. Total current liabilities 317. Inventories 88."
REPORTED = [
    "Liquidity and working capital: current assets exceed current liabilities and inventories.",
    SHEET,
    "The company was founded by two brothers in a garage.",
    "Employees elect their delegates every third year.",
    "The annual meeting takes place in spring.",
]
OTHERS = [f"Page {number} of the yearbook tells of gardens and birds." for number in range(20)]
ELSEWHERE = "Current assets and current liabilities of the garden club, and its inventories."
QUERY = "Did quarterly working capital improve according to analysts, investors and auditors?"


# How far each chunk of the report is from any query, as an angle: the sheet is not the second.
VECTORS = [[np.cos(angle), np.sin(angle), 0, 0] for angle in (0.0, 0.5, 0.1, 1.5, 1.5)]


class Ahead:
    """Puts every query on the first axis."""

    provider, model, dimensions, contextual, max_tokens = "test", "tiny", 4, False, 512

    def embed_query(self, text: str) -> Any:
        return np.asarray([1, 0, 0, 0], dtype=np.float32)


def land_report(database: Database) -> None:
    land_document(database, "report.pdf", REPORTED, vectors=VECTORS)


@pytest.fixture(scope="module")
def database(server_url: str) -> Iterator[Database]:
    with fresh_database(server_url) as url:
        database = Database.open(Settings(database_url=url))  # type: ignore[arg-type]
        land_report(database)
        land_document(database, "yearbook.pdf", [*OTHERS, ELSEWHERE])
        finish(database)
        yield database
        database.close()


def ask(
    database: Database, query: str, settings: Settings = SETTINGS, **options: Any
) -> SearchResponse:
    searcher = Searcher(database, settings, embedder=Ahead())  # type: ignore[arg-type]
    return searcher.search(query, **{"limit": 2, "filters": REPORT, **options})


@pytest.mark.parametrize("few", [20_000, 0])
def test_what_stands_in_other_words_is_found_by_the_words_of_the_best(
    database: Database, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr("rag_pipeline.search.filters.SELECTIVE", few)
    nonsense = "" if few else " Quux zyzzyva xyzzy plugh thud grault waldo fnord?"
    response = ask(database, QUERY + nonsense)
    assert [one.content for one in response.results] == REPORTED[:2], "and nothing of others"
    assert {"assets", "liabilities"} <= set(response.feedback)
    assert not {"asset", "liabil"} & set(response.feedback), "the same words again"
    assert "capital" not in response.feedback, "it was asked for"
    sheet = response.results[1]
    assert [(detail.leg, detail.clause) for detail in sheet.details] == [("feedback", "feedback")]
    assert sheet.text_score is None, "its words were not asked for"
    assert sheet.vector_score is None, "it is not among the nearest two"
    assert sheet.details[0].raw_score > 0
    for one in response.results:
        assert sum(detail.contribution for detail in one.details) == pytest.approx(one.score)
    assert response.seconds["feedback"] > 0


def test_who_asks_in_the_words_of_the_text_needs_no_others(database: Database) -> None:
    response = ask(database, "employees elect delegates")
    assert response.feedback == []
    assert response.results[0].content == REPORTED[3]


def test_the_less_was_found_the_more_feedback_counts(database: Database) -> None:
    weights = [
        max(d.weight for one in found.results for d in one.details if d.leg == "feedback")
        for more in ("", " and bankers, brokers and journalists")
        if (found := ask(database, QUERY.replace("?", f"{more}?")))
    ]
    assert 0 < weights[0] < weights[1] < 1


def test_a_setting_and_each_search_switch_it_off(database: Database) -> None:
    response = ask(database, QUERY, OFF)
    assert [one.content for one in response.results] == [REPORTED[0], REPORTED[2]]
    assert not ask(database, QUERY, weights={"text": 0.0, "vector": 1.0}).feedback
    assert not ask(database, QUERY, weights={"text": 1.0, "vector": 0.0}).feedback, "no meaning"
    assert not ask(database, "?!").feedback, "nothing was asked for"


def test_over_everything_only_where_next_to_nothing_was_found(database: Database) -> None:
    def share(query: str, filters: Filters | None) -> float:
        with database.connection() as connection:
            scope = resolve(connection, filters) if filters else EVERYTHING
            return fading(text_leg(connection, query, 10, scope=scope))

    query = "working capital of analysts, investors and auditors"
    assert 0 < share(query, REPORT) < 1
    assert share(query, None) < share(query, REPORT)
    assert share("quux zyzzyva", None) == share("quux zyzzyva", REPORT) == 1
    assert fading(TextFound()) == 0, "nothing was looked for"


def test_a_named_file_is_found_unless_a_filter_lists_its_chunks(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sureness(filters: Filters | None) -> float:
        with database.connection() as connection:
            scope = resolve(connection, filters) if filters else EVERYTHING
            return text_leg(connection, "working capital in the report", 10, scope=scope).sureness

    listed = sureness(REPORT)
    monkeypatch.setattr("rag_pipeline.search.filters.SELECTIVE", 0)
    assert sureness(REPORT) == sureness(None) > listed


def test_words_that_are_not_yet_known_change_no_score(database_url: str) -> None:
    database = Database.open(Settings(database_url=database_url))  # type: ignore[arg-type]
    land_report(database)  # and no statistics
    with_it, without = ask(database, QUERY), ask(database, QUERY, OFF)
    assert [one.score for one in with_it.results] == [one.score for one in without.results] != []
    database.close()


def test_rank_fusion_takes_it_as_a_leg(database: Database) -> None:
    by_ranks = Settings(search=SearchSettings(candidates=2, fusion="rrf"))
    found = ask(database, QUERY, by_ranks).results
    given = [detail for one in found for detail in one.details if detail.leg == "feedback"]
    assert [detail.rank for detail in given] == [1, 2]
    for detail in given:
        assert detail.contribution == pytest.approx(detail.weight / (60 + detail.rank))


def test_a_word_is_all_its_forms_and_no_other_word_again() -> None:
    values = {f"w{number}": float(number) for number in range(1, 31)}
    words, factors = heaviest(values, set(), ["en"])
    assert words == [f"w{number}" for number in range(30, 20, -1)], "the heaviest ten"
    assert factors["w30"] == 30
    words, factors = heaviest({"pump": 3.0, "pumps": 2.0, "valves": 1.5}, {"valv"}, ["en"])
    assert words == ["pump"], "its plural is the same word, and valves were asked for"
    assert heaviest({}, set(), ["en"]) == ([], {})


def test_of_many_results_a_word_must_be_in_two(database_url: str) -> None:
    database = Database.open(Settings(database_url=database_url))  # type: ignore[arg-type]
    texts = ["Quux pumps and seals.", "Quux seals and rings.", *["Quux hoses."] * 3]
    land_document(database, "a.pdf", texts, vectors=[VECTORS[0]] * 5)
    finish(database)
    nonsense = "quux zyzzyva xyzzy plugh thud grault waldo fnord"

    def words(count: int) -> set[str]:
        settings = Settings(search=SearchSettings(candidates=count))
        found = ask(database, nonsense, settings, limit=count, filters=Filters(languages=["en"]))
        return set(found.feedback)

    assert words(5) == {"seals", "hoses"}
    assert words(1) == {"pumps", "seals", "hoses"}, "of two results, each word of either"
    database.close()


def test_the_statements_tell_of_it(database: Database) -> None:
    for settings, told in ((SETTINGS, True), (OFF, False)):
        searcher = Searcher(database, settings, embedder=Ahead())  # type: ignore[arg-type]
        statements = searcher.statements(QUERY, limit=2, filters=REPORT)
        assert ("shared_lexemes" in [one.name for one in statements]) == told
