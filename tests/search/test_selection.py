"""After fusion: relevance, repetitions, diversity, context, reranking; worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from pydantic import SecretStr

from rag_pipeline.search import Filters, Searcher, SearchResult
from rag_pipeline.search.ranking.relevance import boosted, certainty, with_relevance
from rag_pipeline.search.ranking.reranker import rerank
from rag_pipeline.search.ranking.selection import maximal_marginal_relevance, without_duplicates
from rag_pipeline.search.search_results import FOUND
from rag_pipeline.settings import RelevanceSettings, RerankerSettings, Settings
from rag_pipeline.store.database import Database
from tests.search.conftest import finish, land_document
from tests.search.reranker_server import reranker


def result(chunk_id: int, score: float, content: str = "") -> SearchResult:
    return SearchResult(
        chunk_id=chunk_id,
        score=score,
        text_score=None,
        vector_score=None,
        details=(),
        source_hash="0" * 64,
        source_path="/m/a.pdf",
        title=None,
        chunk_index=chunk_id,
        kind="text",
        breadcrumb_trail="Trail",
        content=content,
        page_start=1,
        page_end=1,
        regions=[],
        language="en",
        metadata={},
    )


def ids(results: list[SearchResult]) -> list[int]:
    return [one.chunk_id for one in results]


def test_certainty_by_hand() -> None:
    settings = RelevanceSettings(similarity_floor=0.5, similarity_ceiling=1.0)
    # A third of the words, and a cosine a fifth of the way: .333 + .45 × .2 is over .375.
    assert certainty(1 / 3, 0.6, settings) == pytest.approx(0.5 * (1 / 3 + 0.09) / 0.4)
    assert certainty(0.0, 0.4, settings) == 0.0
    assert certainty(1.0, 1.0, settings) == 1.0
    assert certainty(0.18, None, settings) == pytest.approx(FOUND), "words alone must be fewer"


def test_relevance_follows_the_order() -> None:
    found = with_relevance([result(1, 2.0), result(2, 1.5), result(3, 0.5)], 0.8)
    assert [one.relevance for one in found] == pytest.approx([0.8, 0.6, 0.2])


def test_boosts_are_part_of_the_score() -> None:
    settings = RelevanceSettings(recency_boost=0.1, tag_boosts={"official": 0.05, "x": 0.01})
    now = datetime(2026, 1, 1, tzinfo=UTC)
    old = replace(
        result(1, 1.0), updated_at=now - timedelta(days=365), tags=["x", "official"], language="ko"
    )
    first, second = boosted([old, result(2, 1.0)], settings, "en", now)
    assert (first.chunk_id, second.chunk_id) == (2, 1)
    assert {d.clause: d.contribution for d in first.details} == pytest.approx({"language": 0.2})
    assert {d.clause: d.contribution for d in second.details} == pytest.approx(
        {"recency": 0.05, "tag": 0.05}
    )
    assert (first.score, second.score) == (pytest.approx(1.2), pytest.approx(1.1))


def test_repetitions_stand_under_better_results() -> None:
    text = "turn the valve to the left until it stops then wait"
    results = [result(1, 3, text), result(2, 2, text + " now"), result(3, 1, "something else here")]
    kept, left_out = without_duplicates(results, 0.8)
    assert (ids(kept), left_out) == ([1, 3], 1)
    assert without_duplicates(results, 1.0) == (results, 0)
    assert ids(without_duplicates(results, 0.95)[0]) == [1, 2, 3]


def test_copies_are_named_and_a_value_that_differs_is_no_copy() -> None:
    text = "tighten the bolts of the lid crosswise in three passes with a torque of 85 N·m"
    copies = [
        replace(result(number, 10.0 - number, text), source_path=f"/m/{number}.pdf")
        for number in range(3)
    ]
    other = replace(result(9, 1.0, text.replace("85", "58")), source_path="/m/other.pdf")
    kept, left_out = without_duplicates([*copies, other], 0.5)
    assert (ids(kept), left_out) == ([0, 9], 2)
    assert list(kept[0].copies) == ["/m/1.pdf", "/m/2.pdf"]


def test_copies_make_room_for_what_differs(database: Database) -> None:
    for number in range(60):
        land_document(database, f"{number:02}.pdf", ["Wear gloves at the pump."])
    land_document(database, "other.pdf", ["Wear goggles and an apron at the pump of the mill."])
    finish(database)
    searcher = Searcher(database, Settings())
    weights = {"text": 1.0, "vector": 0.0}
    found = searcher.search("wear at the pump", weights=weights, limit=2).results
    assert [one.document for one in found] == ["00.pdf", "other.pdf"]
    assert len(found[0].copies) == 59


def test_mmr_by_hand() -> None:
    results = [result(1, 1.0), result(2, 0.9), result(3, 0.0)]
    vectors = {1: np.array([1.0, 0.0]), 2: np.array([1.0, 0.0]), 3: np.array([0.0, 1.0])}
    # At .5, result 2 is worth .5 × .9 − .5 × 1 = −.05, result 3 is worth 0.
    assert ids(maximal_marginal_relevance(results, vectors, 2, 0.5)) == [1, 3]
    assert ids(maximal_marginal_relevance(results, vectors, 3, 1.0)) == [1, 2, 3]
    assert maximal_marginal_relevance([], {}, 3, 0.5) == []
    assert ids(maximal_marginal_relevance(results, {}, 3, 0.5)) == [1, 2, 3]


def test_context_of_a_chunk(database: Database) -> None:
    land_document(
        database,
        "a.pdf",
        ["zero", "one", "two", "three"],
        parents=[0, 0, 1, 1],
        sections=["zero one", "two three"],
    )
    finish(database)
    searcher = Searcher(database, Settings())
    text = {"text": 1.0, "vector": 0.0}

    def context(expand: Any) -> str | None:
        return searcher.search("two", weights=text, expand=expand).results[0].context

    assert context("none") is None
    assert context("parent") == "two three"
    assert context("neighbours") == "one\n\ntwo\n\nthree"


def test_what_is_less_relevant_than_asked_is_left_out(database: Database) -> None:
    land_document(database, "a.pdf", ["oil pump and filter", "oil"])
    finish(database)
    searcher = Searcher(database, Settings())
    text = {"text": 1.0, "vector": 0.0}
    everything = searcher.search("oil pump", weights=text).results
    assert [one.content for one in everything] == ["oil pump and filter", "oil"]
    best = everything[0].relevance
    assert 1 >= best > everything[1].relevance > 0
    some = searcher.search("oil pump", weights=text, relevance_threshold=best).results
    assert some == everything[:1]
    none = searcher.search("oil xyzzy", weights=text, relevance_threshold=1.0)
    assert (none.results, none.notes) == ([], ["nothing of relevance 1 or more was found"])


def test_two_weightings_of_one_query(database: Database) -> None:
    land_document(database, "a.pdf", ["oil"])
    finish(database)
    searcher = Searcher(database, Settings.model_validate({"search": {"fusion": "rrf"}}))
    for weight in (0.7, 2.0):
        (found,) = searcher.search("oil", weights={"text": weight, "vector": 0}).results
        assert found.score == pytest.approx(weight / 61)


SCORES = [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.2}]


@pytest.mark.parametrize("field", ["results", "data"])
def test_cohere_and_voyage_replies(field: str) -> None:
    results = [result(1, 3, "a"), result(2, 2, "b"), result(3, 1, "c")]
    with reranker({field: SCORES}) as (url, requests):
        settings = RerankerSettings(url=url, model="m", api_key=SecretStr("key"), candidates=2)
        ordered, note = rerank("query", results, settings)
    assert note is None
    assert ids(ordered) == [2, 1, 3]
    assert [one.rerank_score for one in ordered] == [0.9, 0.2, None]
    body = {"model": "m", "query": "query", "documents": ["Trail\na", "Trail\nb"]}
    assert requests == [("/v1/rerank", "Bearer key", body)]


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ({"results": SCORES}, 500),
        ({"results": SCORES[:1]}, 200),
        ({"results": [{"index": 0}]}, 200),
        ({"other": 1}, 200),
        ([1], 200),
        ({"results": [{"index": i, "relevance_score": "NaN"} for i in range(2)]}, 200),
    ],
)
def test_a_reranker_that_fails_costs_nothing(reply: Any, status: int) -> None:
    results = [result(1, 3, "a"), result(2, 2, "b")]
    with reranker(reply, status) as (url, _):
        ordered, note = rerank("query", results, RerankerSettings(url=url))
    assert ordered == results
    assert note is not None
    assert note.startswith("the reranker failed")


def test_no_reranker_by_default() -> None:
    results = [result(1, 3)]
    assert rerank("query", results, RerankerSettings()) == (results, None)


def test_statements_are_those_that_ran_and_postgres_can_read_them(database: Database) -> None:
    land_document(database, "a.pdf", ["oil pump"])
    filters = Filters(languages=["en"], first_page=1)
    statements = Searcher(database, Settings()).statements(
        "it's 100 % oil", weights={"text": 1.0}, filters=filters
    )
    names = [statement.name for statement in statements]
    assert names[0] == "passing_documents"
    assert names[-1] == "found_chunks"
    assert {"passing_chunks", "posting_buckets", "document_frequencies", "postings"} <= set(names)
    assert all(names), "a statement of the search is not kept in sql/queries"
    by_name = {statement.name: statement.sql for statement in statements}
    with database.connection() as connection:
        for statement in statements:
            connection.execute(statement.sql.encode())
        rows = connection.execute(by_name["document_frequencies"].encode()).fetchall()
    assert rows == [("oil", 1)]
