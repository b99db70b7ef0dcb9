"""Trails: common to all sections, within the budget."""

from __future__ import annotations

from rag_pipeline.chunking.chunk_trails import Trails
from rag_pipeline.chunking.task import TokenCounter
from tests.chunking.documents import count_characters


def trails(*given: tuple[str, ...], title: str | None = None, limit: int = 40) -> Trails:
    return Trails(given, title, limit, TokenCounter(count_characters))


def test_the_common_trail() -> None:
    shown = trails(("A", "B", "C"), ("A", "B", "D"), ("E",), title="Manual")
    assert shown.common([("A", "B", "C")]) == "A > B > C"
    assert shown.common([("A", "B", "C"), ("A", "B", "D")]) == "A > B"
    assert shown.common([("A", "B", "C"), ("E",)]) == "Manual"


def test_a_trail_reserves_room_for_the_title_that_may_replace_it() -> None:
    assert trails(("A",), title="Manual").tokens(("A",)) == 6


def test_long_headings_are_cut_and_short_ones_kept() -> None:
    long = ("Chapter", "word " * 400)
    shown = trails(long)
    assert shown.common([long]) == "Chapter > " + ("word " * 10)[:29].rstrip() + "…"
    assert shown.tokens(long) <= 40


def test_very_deep_trails_lose_their_outer_headings() -> None:
    deep = tuple(f"Heading number {i}" for i in range(30))
    shown = trails(deep)
    # three headings of 8 characters and two separators of 3 are 30 characters; four would be 41
    assert shown.common([deep]) == "Heading… > Heading… > Heading…"
