"""Reciprocal rank fusion: worked by hand, and its shares add up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_pipeline.search.fusion import LegHit, fuse


def hits(*chunk_ids: int) -> list[LegHit]:
    return [LegHit(chunk_id, 1.0 / position) for position, chunk_id in enumerate(chunk_ids, 1)]


def test_worked_by_hand() -> None:
    fused = fuse({"text": hits(1, 2), "vector": hits(2, 3)}, {"text": 2, "vector": 1}, 60)
    assert [hit.chunk_id for hit in fused] == [2, 1, 3]
    # chunk 2: second in text, first in vector
    assert fused[0].score == pytest.approx(2 / 62 + 1 / 61)
    assert fused[1].score == pytest.approx(2 / 61)
    assert fused[2].score == pytest.approx(1 / 62)


def test_a_leg_that_did_not_find_a_chunk_gives_it_nothing() -> None:
    (only,) = fuse({"text": hits(7), "vector": []}, {"text": 1, "vector": 1})
    assert [detail.leg for detail in only.details] == ["text"]


def test_a_leg_without_weight_is_not_heard() -> None:
    assert fuse({"text": hits(1)}, {"text": 0, "vector": 1}) == []


LEG = st.lists(st.integers(0, 20), unique=True, max_size=12).map(lambda ids: hits(*ids))


@given(text=LEG, vector=LEG, weight=st.floats(0.1, 10))
def test_contributions_add_up_and_order_is_right(
    text: list[LegHit], vector: list[LegHit], weight: float
) -> None:
    fused = fuse({"text": text, "vector": vector}, {"text": weight, "vector": 1.0})
    assert {hit.chunk_id for hit in fused} == {hit.chunk_id for hit in text + vector}
    for hit in fused:
        assert hit.score == pytest.approx(sum(item.contribution for item in hit.details))
    scores = [hit.score for hit in fused]
    assert scores == sorted(scores, reverse=True)


@given(text=LEG, vector=LEG)
def test_first_in_both_legs_is_first(text: list[LegHit], vector: list[LegHit]) -> None:
    best = LegHit(99, 1.0)
    fused = fuse({"text": [best, *text], "vector": [best, *vector]}, {"text": 2, "vector": 1})
    assert fused[0].chunk_id == 99
