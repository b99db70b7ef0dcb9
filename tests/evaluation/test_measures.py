"""Measures against values worked out by hand, and the units that they count."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_pipeline.evaluation.known_questions import Gold, KnownQuestion
from rag_pipeline.evaluation.matching import gold_units, holds, ranked_units
from rag_pipeline.evaluation.ranking_measures import means, measure, paired_bootstrap, percentiles
from rag_pipeline.search import SearchResult


def result(
    source: str, first: int, last: int | None = None, content: str = "", chunk_id: int = 1
) -> SearchResult:
    return SearchResult(
        chunk_id=chunk_id,
        score=1.0,
        text_score=None,
        vector_score=None,
        details=(),
        source_hash="",
        source_path=source,
        title=None,
        chunk_index=0,
        kind="text",
        breadcrumb_trail="",
        content=content,
        page_start=first,
        page_end=last or first,
        regions=[],
        language="en",
        metadata={},
    )


def test_measures_are_those_of_the_books() -> None:
    found = measure({"q": ["x", "a", "y", "b", "z"]}, {"q": ["a", "b", "c"]})["q"]
    assert found["MRR"] == pytest.approx(1 / 2)
    assert found["recall@1"] == 0
    assert found["recall@2"] == pytest.approx(1 / 3)
    assert found["recall@5"] == pytest.approx(2 / 3)
    assert found["precision@5"] == pytest.approx(2 / 5)
    assert found["precision@10"] == pytest.approx(2 / 10)
    assert (found["hit@1"], found["hit@3"]) == (0, 1)
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert found["nDCG@10"] == pytest.approx((1 / math.log2(3) + 1 / math.log2(5)) / ideal)


def test_a_question_without_results_counts_as_nothing_found() -> None:
    found = measure({"q": [], "r": ["a"]}, {"q": ["a"], "r": ["a"]})
    assert set(found["q"].values()) == {0.0}
    assert means(found, ["q", "r"])["MRR"] == 0.5
    assert set(measure({"q": []}, {"q": ["a"]})["q"].values()) == {0.0}


@given(st.lists(st.integers(0, 30), unique=True, max_size=30), st.integers(0, 30))
def test_one_gold_is_worth_its_reciprocal_rank(ranking: list[int], gold: int) -> None:
    found = measure({"q": [str(one) for one in ranking]}, {"q": [str(gold)]})["q"]
    rank = ranking.index(gold) + 1 if gold in ranking else None
    assert found["MRR"] == pytest.approx(1 / rank if rank else 0)
    assert found["recall@5"] == found["hit@5"] == float(rank is not None and rank <= 5)


def test_pages_count_once_in_order() -> None:
    question = KnownQuestion("q", "?", (Gold("a.pdf", 3), Gold("a.pdf", 3), Gold("b.pdf", 1)))
    results = [result("/m/a.pdf", 2, 3), result("/m/a.pdf", 3, 4), result("/m/b.pdf", 9)]
    assert gold_units(question) == ["a.pdf, page 3", "b.pdf, page 1"]
    assert ranked_units(question, results) == [
        "a.pdf, page 2",
        "a.pdf, page 3",
        "a.pdf, page 4",
        "b.pdf, page 9",
    ]


def test_documents_and_ends_of_paths() -> None:
    question = KnownQuestion("q", "?", (Gold("x/a.pdf"),))
    results = [result("/m/y/a.pdf", 1), result("/m/x/a.pdf", 1), result("/m/x/a.pdf", 2)]
    assert ranked_units(question, results) == ["/m/y/a.pdf", "x/a.pdf"]


def test_passages_are_found_in_chunks() -> None:
    question = KnownQuestion("q", "?", (Gold("a.pdf", None, "Oil filter QF-1142/B"),))
    results = [
        result("/m/a.pdf", 1, content="Air filter", chunk_id=5),
        result("/m/b.pdf", 1, content="Oil filter QF-1142/B", chunk_id=6),
        result("/m/a.pdf", 2, content="| Oil filter | QF-1142/B |", chunk_id=7),
    ]
    assert ranked_units(question, results) == ["chunk 5", "chunk 6", gold_units(question)[0]]
    assert holds("one two three four x", "One, two, three, four, five.")
    assert not holds("one two three x y", "One, two, three, four, five.")


def test_a_sure_difference_and_one_by_chance() -> None:
    sure = paired_bootstrap("MRR", [0.0] * 30, [1.0] * 30)
    assert (sure.mean, sure.low, sure.high, sure.better, sure.worse) == (1.0, 1.0, 1.0, 30, 0)
    assert sure.is_sure
    chance = paired_bootstrap("MRR", [0.0, 1.0] * 15, [1.0, 0.0] * 15)
    assert (chance.mean, chance.better, chance.worse) == (0.0, 15, 15)
    assert chance.low < 0 < chance.high
    assert not chance.is_sure
    # The standard error of the mean of 100 values of ±1 is 0.1: the interval is about ±0.196.
    wide = paired_bootstrap("MRR", [0.0] * 100, [1.0] * 50 + [-1.0] * 50)
    assert wide.high == pytest.approx(0.196, abs=0.02)


def test_percentiles_are_of_the_questions_that_ran_the_stage() -> None:
    seconds = [{"text": 0.001 * n} for n in range(1, 102)] + [{"embed": 0.5}]
    assert percentiles(seconds) == {
        "text": (pytest.approx(51.0), pytest.approx(96.0)),
        "embed": (pytest.approx(500.0), pytest.approx(500.0)),
    }
