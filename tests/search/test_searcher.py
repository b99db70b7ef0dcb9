"""Search over a real store: both legs, their shares, and every kind of odd query."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_pipeline.analysis import to_search_vectors
from rag_pipeline.embedding import create_embedder
from rag_pipeline.frames import Chunks, check
from rag_pipeline.search import Filters, Searcher
from rag_pipeline.settings import EmbeddingSettings, Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.embeddings import ensure_index, ensure_space
from rag_pipeline.store.landing import Landing, land
from rag_pipeline.store.source_tables import SourceFile, apply_changes
from rag_pipeline.store.statistics import refresh_statistics
from tests.conftest import fresh_database

TEXTS = {
    "en": [
        "Replace the oil filter QF-1142/B every 2000 hours.",
        "The compressor DS-7604NI-E1/4P/A delivers 7.5 bar.",
        "Error code E-07 means that the airend is too hot.",
        "Lock out the compressor before you open the service door.",
        "A cat sat on the mat and a dog ran away.",
    ],
    "ko": [
        "오일필터를 교체하십시오.",
        "이 설명서의 번역을 확인하십시오.",
        "40P01은 교착 상태를 뜻합니다.",
    ],
}


@pytest.fixture(scope="module")
def searcher(server_url: str, models_dir: Path) -> Iterator[Searcher]:
    with fresh_database(server_url) as url:
        database = Database.open(Settings(database_url=url))  # type: ignore[arg-type]
        embedder = create_embedder(EmbeddingSettings(), models_dir)
        with database.connection() as connection:
            space = ensure_space(
                connection, "local", embedder.model, embedder.dimensions, embedder.version
            )
            for number, (language, texts) in enumerate(TEXTS.items()):
                source_hash = f"{number}" * 64
                file = SourceFile(f"/m/{language}.pdf", "/m", source_hash, 1, 1)
                apply_changes(connection, [file], [])
                frame = pd.DataFrame(
                    {
                        "chunk_index": range(len(texts)),
                        "parent_index": None,
                        "kind": "text",
                        "breadcrumb_trail": "",
                        "content": texts,
                        "context": None,
                        "token_count": 1,
                        "page_start": range(1, len(texts) + 1),
                        "page_end": range(1, len(texts) + 1),
                        "regions": [[] for _ in texts],
                        "content_hash": "0" * 64,
                        "metadata": [{} for _ in texts],
                    }
                )
                vectors, counts = to_search_vectors(texts, language)
                landing = Landing(
                    source_hash,
                    None,
                    len(texts),
                    language,
                    [],
                    {},
                    check(frame, Chunks),
                    vectors,
                    counts,
                    embedder.embed_documents(texts),
                )
                assert land(connection, space.space_id, landing)
            refresh_statistics(connection)
            ensure_index(connection, space)
        yield Searcher(database, Settings(), embedder=embedder)
        database.close()


def first(searcher: Searcher, query: str, **weights: float) -> str:
    return searcher.search(query, weights=weights or None).results[0].content


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("DS-7604NI-E1/4P/A", "delivers 7.5 bar"),
        ("DS-7604NI", "delivers 7.5 bar"),
        ("7604NI", "delivers 7.5 bar"),
        ("QF-1142/B", "oil filter"),
        ("e-07", "too hot"),
        ("filters", "oil filter"),
        ("번역", "번역을"),
        ("40P01", "교착"),
    ],
)
def test_words_and_codes_are_found_by_text_alone(
    searcher: Searcher, query: str, found: str
) -> None:
    assert found in first(searcher, query, text=1.0, vector=0.0)


def test_meaning_is_found_without_a_shared_word(searcher: Searcher) -> None:
    assert "too hot" in first(searcher, "high temperature", text=0.0, vector=1.0)


def test_contributions_add_up_to_the_score(searcher: Searcher) -> None:
    for result in searcher.search("oil filter").results:
        assert result.score == pytest.approx(sum(d.contribution for d in result.details))
        legs = {detail.leg for detail in result.details}
        assert ("text" in legs) == (result.text_score is not None)
        cosine = [d.raw_score for d in result.details if d.leg == "vector"]
        assert cosine == ([] if result.vector_score is None else [result.vector_score])


def test_a_term_absent_from_the_text_earns_nothing_there(searcher: Searcher) -> None:
    results = searcher.search("zyzzyva", limit=20).results
    assert results
    assert all(result.text_score is None for result in results)


def test_a_question_in_another_language_goes_on_with_words_of_what_its_meaning_found(
    searcher: Searcher,
) -> None:
    english = Filters(languages=["en"])
    response = searcher.search("기계가 과열되면 어떻게 합니까?", filters=english)
    assert response.feedback
    legs = [{detail.leg for detail in one.details} for one in response.results]
    assert legs[0] == {"vector", "feedback"}
    alone = searcher.search(
        "기계가 과열되면 어떻게 합니까?", filters=english, weights={"text": 0, "vector": 1}
    )
    assert not alone.feedback, "words have no weight at all"


def test_a_comma_is_a_space(searcher: Searcher) -> None:
    def scores(query: str) -> list[tuple[int, float]]:
        response = searcher.search(query, weights={"text": 1.0, "vector": 0.0})
        return [(result.chunk_id, result.score) for result in response.results]

    assert scores("dog,cat") == scores("dog cat") != []


@pytest.mark.parametrize(
    "query", ["What's", "' & | ! : * ( ) < > \\", "a\x00b", "\ud800", "%", "''"]
)
def test_no_query_is_an_error(searcher: Searcher, query: str) -> None:
    searcher.search(query)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(query=st.text(alphabet=st.sampled_from("'&|!:*()<>\\\"%_-/ aé가漢\x00\ud800"), max_size=30))
def test_no_mix_of_operators_is_an_error(searcher: Searcher, query: str) -> None:
    searcher.search(query, weights={"text": 1.0, "vector": 0.0})


def test_an_empty_query_finds_nothing_and_says_so(searcher: Searcher) -> None:
    assert searcher.search("  \n").notes == ["the query is empty"]


def test_a_long_query_is_cut_and_says_so(searcher: Searcher) -> None:
    response = searcher.search("oil filter " * 2_000, limit=1)
    assert response.notes == ["the query was cut after 8000 characters"]
    assert "oil filter" in response.results[0].content


def test_as_many_results_as_there_are(searcher: Searcher) -> None:
    assert len(searcher.search("compressor", limit=50).results) == 8


def test_an_empty_store_says_what_to_do(database: Database, models_dir: Path) -> None:
    embedder = create_embedder(EmbeddingSettings(), models_dir)
    response = Searcher(database, Settings(), embedder=embedder).search("oil")
    assert response.results == []
    assert response.notes == ["the knowledge base is empty: run `rag sync FOLDER`"]
