"""Headings that what stands around them gives away as something else."""

from __future__ import annotations

from tests.structure.frames import Pages, roles


def test_a_small_line_over_the_title_of_a_page_is_no_heading() -> None:
    pages = Pages().add("Overview of the pack", font_size=12.0)
    pages.heading("Evaluation of the model", 18).body(n=4)
    assert roles(pages.infer()) | {"Overview of the pack": "paragraph"} == roles(pages.infer())
    assert roles(pages.infer())["Evaluation of the model"] == "heading"


def test_a_heading_with_text_above_stays_over_a_larger_one() -> None:
    pages = Pages().body(n=4).add("Overview of the pack", font_size=12.0)
    pages.heading("Evaluation of the model", 18).body(n=4)
    assert roles(pages.infer())["Overview of the pack"] == "heading"


def test_a_line_of_nearly_the_size_of_the_title_is_a_heading_too() -> None:
    pages = Pages().heading("Maintenance", 15).heading("Changing the oil", 17).body(n=4)
    assert roles(pages.infer())["Maintenance"] == "heading"


def test_the_heading_above_once_more_titles_the_table() -> None:
    pages = Pages().heading("Version history").heading("Version history", 12).body(n=4)
    found = pages.infer()["role"].tolist()
    assert found[:2] == ["heading", "paragraph"]


def test_the_same_title_after_text_is_a_heading_again() -> None:
    pages = Pages().heading("Version history").body().heading("Version history").body()
    assert pages.infer()["role"].tolist().count("heading") == 2


def test_text_beside_the_label_of_a_caption_belongs_to_it() -> None:
    pages = Pages().body(n=3)
    y = pages.y
    pages.add("Diagram 4", y0=y).heading("Posts by month", 10, x0=0.25, y0=y).body()
    assert roles(pages.infer())["Posts by month"] == "caption"


def test_a_label_of_a_caption_within_the_block_makes_it_one() -> None:
    pages = Pages().body(n=3).heading("Channel of the agency in May\nFigure 4", 10).body()
    assert roles(pages.infer())["Channel of the agency in May"] == "caption"


def test_labels_in_figures_are_no_headings_but_titles_over_pictures_are() -> None:
    pages = Pages().body(n=4)
    y = pages.y
    pages.add("", kind="figure", x0=0.1, x1=0.8, y0=y)
    pages.rows[-1]["y1"] = y + 0.3
    pages.add("Recall of documents", font_size=12.0, x0=0.2, y0=y + 0.1)
    pages.add("Chapter of pictures", font_size=20.0, x0=0.2, y0=y + 0.2)
    pages.y = y + 0.35
    found = roles(pages.body().infer())
    assert found["Recall of documents"] == "paragraph"
    assert found["Chapter of pictures"] == "heading"


def test_institutions_between_a_papers_title_and_abstract_are_no_headings() -> None:
    pages = Pages().heading("Scaling of large models", 15)
    pages.add("Ann Example").heading("Institute of Examples", 12).heading("Abstract", 12)
    pages.body(n=4).heading("1 Introduction", 12).body()
    found = roles(pages.infer())
    assert found["Institute of Examples"] == "paragraph"
    assert [title for title, role in found.items() if role == "heading"] == [
        "Scaling of large models",
        "Abstract",
        "1 Introduction",
    ]


def test_a_quantity_in_large_type_is_no_numbered_heading() -> None:
    pages = Pages().heading("Results", 14).body(n=3).add("1.7X ↑", font_size=16.0).body()
    assert roles(pages.infer())["1.7X ↑"] == "paragraph"
