"""The page of a chunk to look at, worked by hand."""

from __future__ import annotations

from rag_pipeline.search.ranking.result_pages import ranked_pages, text_by_page

CONTENT = "Replace the filter.\nOpen the cover.\nTorque: 25 Nm."
REGIONS = [
    {"page": 3, "start": 0},
    {"page": 3, "start": 20},
    {"page": 4, "start": CONTENT.index("Torque")},
]


def test_text_goes_from_one_start_to_the_next() -> None:
    assert text_by_page(CONTENT, REGIONS) == {
        3: "Replace the filter.\n\nOpen the cover.\n",
        4: "Torque: 25 Nm.",
    }


def test_text_before_the_first_start_belongs_to_the_first_region() -> None:
    found = text_by_page("Title\nbody\nrest", [{"page": 1, "start": 6}, {"page": 2, "start": 11}])
    assert found == {1: "Title\nbody\n", 2: "rest"}


def test_the_page_with_the_words_is_first() -> None:
    assert ranked_pages(CONTENT, REGIONS, "en", {"torqu": 3.0, "25": 2.0}) == (4, 3)
    assert ranked_pages(CONTENT, REGIONS, "en", {"filter": 3.0}) == (3, 4)


def test_of_the_same_words_those_that_stand_together_count_more() -> None:
    far = "The valve " + "is one of many parts " * 10 + "with a spring."
    near = "Many parts " * 20 + "and the valve spring is one of them here."
    content = f"{far}\n{near}"
    regions = [{"page": 7, "start": 0}, {"page": 8, "start": len(far) + 1}]
    assert ranked_pages(content, regions, "en", {"valv": 2.0, "spring": 2.0}) == (8, 7)


def test_pages_that_match_alike_stay_in_order() -> None:
    assert ranked_pages(CONTENT, REGIONS, "en", {"pump": 3.0}) == (3, 4)
    assert ranked_pages(CONTENT, REGIONS, "en", {}) == (3, 4)


def test_regions_stored_without_starts_keep_their_order() -> None:
    old = [{"page": region["page"]} for region in REGIONS]
    assert ranked_pages(CONTENT, old, "en", {"torqu": 3.0}) == (3, 4)
