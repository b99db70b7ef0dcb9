"""The feedback leg: words of the best results, where little of the query's own was found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from rag_pipeline.search import Filters, Searcher, SearchResponse
from rag_pipeline.search.feedback import fading, heaviest, shared_lexemes
from rag_pipeline.search.filters import EVERYTHING, resolve
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
ELSEWHERE = "Current assets and current liabilities of the garden club, and its inventories."
QUERY = "Did quarterly working capital improve according to analysts, investors and auditors?"


@pytest.fixture(scope="module")
def database(server_url: str) -> Iterator[Database]:
    with fresh_database(server_url) as url:
        database = Database.open(Settings(database_url=url))  # type: ignore[arg-type]
        land_document(database, "report.pdf", REPORTED)
        land_document(database, "yearbook.pdf", [*OTHERS, ELSEWHERE])
        finish(database)
        yield database
        database.close()


def ask(database: Database, query: str, **options: object) -> SearchResponse:
    options = {"weights": TEXT, "filters": REPORT, **options}
    return Searcher(database, Settings()).search(query, **options)  # type: ignore[arg-type]


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
    assert not ask(database, QUERY, weights={"text": 0.0, "vector": 0.0}).feedback
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


def test_words_that_no_other_chunk_has_change_no_score(database_url: str) -> None:
    database = Database.open(Settings(database_url=database_url))  # type: ignore[arg-type]
    land_document(database, "report.pdf", REPORTED)  # no statistics yet: no word is known
    with_it = Searcher(database, Settings()).search(QUERY, weights=TEXT)
    off = Settings(search=SearchSettings(feedback=0))
    without = Searcher(database, off).search(QUERY, weights=TEXT)
    assert [one.score for one in with_it.results] == [one.score for one in without.results] != []
    database.close()


def test_rank_fusion_takes_it_as_a_leg(database: Database) -> None:
    by_ranks = Settings(search=SearchSettings(fusion="rrf"))
    found = Searcher(database, by_ranks).search(QUERY, weights=TEXT, filters=REPORT).results
    assert [one.content for one in found] == REPORTED[:2]
    (detail,) = found[1].details
    assert detail.contribution == pytest.approx(detail.weight / (60 + detail.rank))


def test_a_word_is_all_its_forms_and_no_other_word_again() -> None:
    values = {f"w{number}": float(number) for number in range(1, 31)}
    words, factors = heaviest(values, {}, ["en"])
    assert words == [f"w{number}" for number in range(30, 20, -1)], "the heaviest ten"
    assert factors["w30"] == 30
    words, factors = heaviest({"pump": 3.0, "pumps": 2.0, "valves": 1.5}, {"valv": 1.0}, ["en"])
    assert words == ["pump"], "its plural is the same word, and valves were asked for"
    assert heaviest({}, {}, ["en"]) == ([], {})


def test_of_many_results_a_word_must_be_in_two() -> None:
    one, other = (2.0, ["pump", "seal"]), (1.0, ["seal", "ring"])
    assert shared_lexemes([one, other]) == {"pump": 2.0, "seal": 3.0, "ring": 1.0}
    assert shared_lexemes([one, other, *[(0.5, ["hose"])] * 3]) == {"seal": 3.0, "hose": 1.5}
    assert shared_lexemes([]) == {}


class Ahead:
    """Puts every query on the first axis."""

    provider, model, dimensions, contextual, max_tokens = "test", "tiny", 4, False, 512

    def embed_query(self, text: str) -> Any:
        return np.asarray([1, 0, 0, 0], dtype=np.float32)


def test_what_only_feedback_found_is_as_relevant_as_its_meaning(database_url: str) -> None:
    """Two candidates a leg: the sheet is neither's, yet passes the threshold by its cosine."""
    database = Database.open(Settings(database_url=database_url))  # type: ignore[arg-type]
    angles = np.asarray([0.0, 0.5, 0.1, 1.5, 1.5])
    vectors = np.stack([np.cos(angles), np.sin(angles), 0 * angles, 0 * angles], axis=1)
    land_document(database, "report.pdf", REPORTED, vectors=vectors)
    finish(database)
    settings = Settings(search=SearchSettings(candidates=2))
    searcher = Searcher(database, settings, embedder=Ahead())  # type: ignore[arg-type]
    found = searcher.search(QUERY, limit=2, filters=REPORT, relevance_threshold=0.5).results
    sheet = next(one for one in found if one.content == SHEET)
    assert [detail.leg for detail in sheet.details] == ["feedback"]
    assert sheet.vector_score is None, "the leg did not find it"
    floor, ceiling = settings.search.relevance.similarity_floor, 0.93
    assert sheet.relevance == pytest.approx((np.cos(0.5) - floor) / (ceiling - floor), abs=0.01)
    database.close()


def test_the_statements_tell_of_it(database: Database) -> None:
    searcher = Searcher(database, Settings())
    names = [one.name for one in searcher.statements(QUERY)]
    assert "lexemes_within" in names
    off = Searcher(database, Settings(search=SearchSettings(feedback=0)))
    assert "lexemes_within" not in [one.name for one in off.statements(QUERY)]
