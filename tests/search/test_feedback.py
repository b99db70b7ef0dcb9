"""The feedback leg: words of the best results, where little of the query's own was found."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from rag_pipeline.search import Filters, Searcher, SearchResponse
from rag_pipeline.search.feedback import fading, heaviest
from rag_pipeline.search.text_leg import TextFound, text_leg
from rag_pipeline.settings import SearchSettings, Settings
from rag_pipeline.store.database import Database
from tests.conftest import fresh_database
from tests.search.conftest import finish, land_document

TEXT = {"text": 1.0, "vector": 0.0}
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
QUERY = "Did quarterly working capital improve according to analysts, investors and auditors?"


@pytest.fixture(scope="module")
def database(server_url: str) -> Iterator[Database]:
    with fresh_database(server_url) as url:
        database = Database.open(Settings(database_url=url))  # type: ignore[arg-type]
        land_document(database, "report.pdf", REPORTED)
        land_document(database, "yearbook.pdf", OTHERS)
        finish(database)
        yield database
        database.close()


def ask(database: Database, query: str, **options: object) -> SearchResponse:
    options = {"weights": TEXT, "filters": REPORT, **options}
    return Searcher(database, Settings()).search(query, **options)  # type: ignore[arg-type]


def test_what_stands_in_other_words_is_found_by_the_words_of_the_best(database: Database) -> None:
    response = ask(database, QUERY)
    assert [one.content for one in response.results] == REPORTED[:2]
    assert {"asset", "liabil"} <= set(response.feedback)
    assert "capital" not in response.feedback, "it was asked for"
    sheet = response.results[1]
    assert [(detail.leg, detail.clause) for detail in sheet.details] == [("feedback", "feedback")]
    assert sheet.text_score is None, "its words were not asked for"
    assert sheet.relevance == 0, "what it shares with a result makes it no surer"
    assert sheet.details[0].raw_score > 0
    for one in response.results:
        assert sum(detail.contribution for detail in one.details) == pytest.approx(one.score)
    assert response.seconds["feedback"] > 0


def test_who_asks_in_the_words_of_the_text_needs_no_others(database: Database) -> None:
    response = ask(database, "employees elect delegates")
    assert response.feedback == []
    assert [one.content for one in response.results] == [REPORTED[3]]


def test_the_less_was_found_the_more_feedback_counts(database: Database) -> None:
    weights = [
        max(d.weight for one in found.results for d in one.details if d.leg == "feedback")
        for more in ("", " and bankers, brokers and journalists")
        if (found := ask(database, QUERY.replace("?", f"{more}?")))
    ]
    assert 0 < weights[0] < weights[1] < 1


def test_a_setting_and_each_search_switch_it_off(database: Database) -> None:
    off = Settings(search=SearchSettings(feedback=0))
    response = Searcher(database, off).search(QUERY, weights=TEXT, filters=REPORT)
    assert [one.content for one in response.results] == REPORTED[:1]
    assert not ask(database, QUERY, weights={**TEXT, "feedback": 0.0}).feedback
    assert not ask(database, "?!").feedback, "nothing was asked for"


def test_over_everything_only_where_next_to_nothing_was_found(database: Database) -> None:
    def share(query: str, filters: Filters | None) -> float:
        searcher = Searcher(database, Settings())
        with database.connection() as connection:
            scope = searcher._scope(filters, {})
            return fading(text_leg(connection, query, 10, scope=scope))

    query = "working capital of analysts, investors and auditors"
    assert 0 < share(query, REPORT) < 1
    assert share(query, None) < share(query, REPORT)
    assert share("quux zyzzyva", None) == share("quux zyzzyva", REPORT) == 1
    assert fading(TextFound()) == 0, "nothing was looked for"


def test_words_are_weighed_by_who_has_them_and_how_rare_they_are() -> None:
    many = {f"w{number}": 1.0 for number in range(30)}
    frequencies = {word: number + 1 for number, word in enumerate(many)}
    found = heaviest(many, frequencies, 1000)
    assert list(found) == [f"w{number}" for number in range(10)], "the rarest ten"
    assert heaviest({"a": 1.0, "b": 2.0}, {"a": 5, "b": 5}, 100) == pytest.approx(
        {"b": 2 * found_idf(5), "a": found_idf(5)}
    )
    assert heaviest({"a": 1.0}, {}, 100) == {}, "gone meanwhile"


def found_idf(frequency: int) -> float:
    return float(np.log(1 + (100 - frequency + 0.5) / (frequency + 0.5)))


def test_the_statements_tell_of_it(database: Database) -> None:
    searcher = Searcher(database, Settings())
    names = [one.name for one in searcher.statements(QUERY)]
    assert "lexemes_within" in names
    off = Searcher(database, Settings(search=SearchSettings(feedback=0)))
    assert "lexemes_within" not in [one.name for one in off.statements(QUERY)]
