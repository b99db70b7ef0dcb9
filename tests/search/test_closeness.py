"""Words that stand close together: of chunks with the same words, those of one sentence first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_pipeline.search import Searcher, SearchResult
from rag_pipeline.search.legs.closeness import closest_together
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from tests.conftest import fresh_database
from tests.search.conftest import finish, land_document

FILLER = " ".join(f"part{number}" for number in range(40))
NEAR = f"{FILLER} {FILLER} Bleed the valve with a spanner."
APART = f"Bleed the hose. {FILLER} The valve is shut. {FILLER} No spanner."
KOREAN = f"압축기의 {FILLER} 스패너 valve bleed spanner {FILLER} 오일을 점검하십시오."


@pytest.fixture(scope="module")
def searcher(server_url: str) -> Iterator[Searcher]:
    with fresh_database(server_url) as url:
        database = Database.open(Settings(database_url=url))  # type: ignore[arg-type]
        land_document(database, "apart.pdf", [APART])
        land_document(database, "near.pdf", [NEAR])
        land_document(database, "korean.pdf", [KOREAN], language="ko")
        finish(database)
        yield Searcher(database, Settings())
        database.close()


def raw(result: SearchResult) -> float:
    return next((one.raw_score for one in result.details if one.clause == "closeness"), 0.0)


def test_words_of_one_sentence_are_ahead_of_the_same_words_apart(searcher: Searcher) -> None:
    results = searcher.search(
        "How do I bleed the valve with the spanner?", weights={"text": 1.0, "vector": 0.0}
    ).results
    by_name = {one.document: one for one in results}
    near, apart = by_name["near.pdf"], by_name["apart.pdf"]
    assert raw(near) == pytest.approx(1.0)
    assert 0 < raw(apart) < 0.5, "one word at a time"
    assert near.score > apart.score


def test_words_of_another_language_are_names_and_say_nothing(searcher: Searcher) -> None:
    results = searcher.search(
        "How do I bleed the valve with the spanner?", weights={"text": 1.0, "vector": 0.0}
    ).results
    assert [raw(one) for one in results if one.document == "korean.pdf"] == [0.0]


def test_a_word_that_the_documents_lack_is_part_of_the_question(searcher: Searcher) -> None:
    (first, *_) = searcher.search(
        "bleed the valve with a zzgrommet", weights={"text": 1.0, "vector": 0.0}
    ).results
    assert first.document == "near.pdf"
    assert 0 < raw(first) < 0.8


def test_a_single_word_is_close_to_nothing(searcher: Searcher) -> None:
    results = searcher.search("spanner", weights={"text": 1.0, "vector": 0.0}).results
    assert results
    assert not any(map(raw, results))


def test_a_word_that_comes_again_counts_once() -> None:
    found = [(1, "oil"), (2, "oil"), (3, "filter"), (60, "filter"), (61, "pump")]
    factors = {"oil": 1.0, "filter": 2.0, "pump": 4.0}
    assert closest_together(found, factors) == 6.0
    assert closest_together(found[:3], factors) == 3.0
    assert closest_together([], factors) == 0.0
