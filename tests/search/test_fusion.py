"""Fusion by scores and by ranks: worked by hand, and the shares add up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_pipeline.search.ranking.fusion import Method, fuse
from rag_pipeline.search.scores import Clause, LegHit

METHODS = st.sampled_from(["relative_score", "rrf"])


def hits(*chunk_ids: int) -> list[LegHit]:
    return [LegHit(chunk_id, 1.0 / position) for position, chunk_id in enumerate(chunk_ids, 1)]


def test_ranks_worked_by_hand() -> None:
    fused = fuse({"text": hits(1, 2), "vector": hits(2, 3)}, {"text": 2, "vector": 1}, "rrf", 60)
    assert [hit.chunk_id for hit in fused] == [2, 1, 3]
    # chunk 2: second in text, first in vector
    assert fused[0].score == pytest.approx(2 / 62 + 1 / 61)
    assert fused[1].score == pytest.approx(2 / 61)
    assert fused[2].score == pytest.approx(1 / 62)


def test_scores_worked_by_hand() -> None:
    text = [LegHit(1, 4.0), LegHit(2, 3.0)]
    vector = [LegHit(2, 0.9), LegHit(3, 0.8)]
    fused = fuse({"text": text, "vector": vector}, {"text": 2, "vector": 1})
    # Cosines count from one step of (.9 - .8) / 2 below the last: .75.
    assert {hit.chunk_id: pytest.approx(hit.score) for hit in fused} == {
        1: 2 / 3,
        2: 2 / 3 * 3 / 4 + 1 / 3,
        3: 1 / 3 * (0.8 - 0.75) / (0.9 - 0.75),
    }
    assert [hit.chunk_id for hit in fused] == [2, 1, 3]


def test_a_bonus_goes_beyond_the_scale() -> None:
    # A phrase is three quarters of the first hit's score; its words alone would give 2.
    phrase = (
        Clause("phrase", 1.0, 6.0, 0.75, is_bonus=True),
        Clause("words", 2.0, 1, 0.25),
    )
    text = [LegHit(1, 8.0, phrase), LegHit(2, 4.0)]
    first, second = fuse({"text": text}, {"text": 1.0})
    assert (first.score, second.score) == (pytest.approx(2.0), pytest.approx(1.0))


def test_a_leg_that_found_little_of_what_was_asked_counts_less() -> None:
    text, vector = [LegHit(1, 0.2), LegHit(2, 0.1)], [LegHit(2, 0.9), LegHit(3, 0.8)]
    legs = {"text": text, "vector": vector}
    fused = fuse(legs, {"text": 0.5, "vector": 0.5}, sure={"text": 0.8})
    scores = {hit.chunk_id: hit.score for hit in fused}
    assert scores[1] == pytest.approx(0.5 * 0.2 / 0.8)
    assert scores[2] == pytest.approx(0.5 * 0.1 / 0.8 + 0.5)


def test_one_hit_is_the_best_of_its_leg() -> None:
    (only,) = fuse({"vector": [LegHit(7, -0.2)]}, {"vector": 1.0})
    assert only.score == 1.0


def test_a_leg_that_did_not_find_a_chunk_gives_it_nothing() -> None:
    (only,) = fuse({"text": hits(7), "vector": []}, {"text": 1, "vector": 1})
    assert [detail.leg for detail in only.details] == ["text"]


def test_a_leg_without_weight_is_not_heard() -> None:
    assert fuse({"text": hits(1)}, {"text": 0, "vector": 1}) == []


LEG = st.lists(st.integers(0, 20), unique=True, max_size=12).map(lambda ids: hits(*ids))


@given(text=LEG, vector=LEG, weight=st.floats(0.1, 10), method=METHODS)
def test_contributions_add_up_and_order_is_right(
    text: list[LegHit], vector: list[LegHit], weight: float, method: Method
) -> None:
    fused = fuse({"text": text, "vector": vector}, {"text": weight, "vector": 1.0}, method)
    assert {hit.chunk_id for hit in fused} == {hit.chunk_id for hit in text + vector}
    for hit in fused:
        assert hit.score == pytest.approx(sum(item.contribution for item in hit.details))
    scores = [hit.score for hit in fused]
    assert scores == sorted(scores, reverse=True)


@given(text=LEG, vector=LEG, method=METHODS)
def test_first_in_both_legs_is_first(
    text: list[LegHit], vector: list[LegHit], method: Method
) -> None:
    best = LegHit(99, 1.1)
    legs = {"text": [best, *text], "vector": [best, *vector]}
    fused = fuse(legs, {"text": 2, "vector": 1}, method)
    assert fused[0].chunk_id == 99
