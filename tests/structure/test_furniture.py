"""Running heads, page numbers and contents pages (faults P4 and P5)."""

from __future__ import annotations

import pytest

from rag_pipeline.structure.furniture import is_page_number
from tests.structure.frames import Pages, roles


def manual(pages: int = 8) -> Pages:
    built = Pages()
    for number in range(1, pages + 1):
        built.add(f"XJ-900 Service Manual {number}", y0=0.04, is_bold=True)
        built.y = 0.1
        built.heading(f"{number} Topic {'abcdefgh'[number - 1] * 3}").body(n=4)
        built.add(str(number), y0=0.95, x0=0.5)
        if number < pages:
            built.next_page()
    return built


def test_running_heads_and_page_numbers() -> None:
    frame = manual().infer()
    assert set(frame.loc[frame["y0"] < 0.05, "role"]) == {"page_header"}
    assert set(frame.loc[frame["y0"] > 0.94, "role"]) == {"page_footer"}
    assert (frame["role"] == "heading").sum() == 8


def test_running_heads_that_change_with_the_chapter() -> None:
    built = Pages()
    chapters = ["Safety", "Service", "Parts"]
    for number in range(9):
        built.add(chapters[number // 3], y0=0.04)
        built.y = 0.1
        built.body(n=4).next_page()
    frame = built.infer()
    assert set(frame.loc[frame["y0"] < 0.05, "role"]) == {"page_header"}


def test_chapter_titles_at_the_top_are_no_running_heads() -> None:
    built = Pages()
    for number in range(1, 7):
        built.heading(f"Chapter {number}", 18, y0=0.06)
        built.y = 0.12
        built.body(n=4).next_page()
    assert (built.infer()["role"] == "heading").sum() == 6


@pytest.mark.parametrize("text", ["12", "- 12 -", "xiv", "Page 3 of 9", "3 / 27", "쪽 3"])
def test_page_numbers(text: str) -> None:
    assert is_page_number(text)


@pytest.mark.parametrize("text", ["3 Safety", "E-07 stuck", "12 V supply", ""])
def test_other_texts_are_no_page_numbers(text: str) -> None:
    assert not is_page_number(text)


def test_contents_by_leaders_are_neither_headings_nor_parents() -> None:
    pages = Pages().heading("Contents", 16)
    for number in range(1, 9):
        pages.heading(f"{number} Topic {number} ........................ {number + 2}", 12)
    pages.next_page().heading("1 Topic 1", 16).body().heading("2 Topic 2", 16).body()
    frame = pages.infer()
    assert (frame["role"] == "contents_entry").sum() == 8
    headings = frame[frame["role"] == "heading"]
    assert headings["breadcrumb_trail"].tolist() == ["Contents", "1 Topic 1", "2 Topic 2"]


def test_contents_without_leaders() -> None:
    pages = Pages().heading("Inhaltsverzeichnis", 16)
    for number in range(1, 9):
        pages.add(f"{number} Thema {number} {number + 2}")
    pages.next_page().heading("1 Thema 1", 16).body()
    frame = pages.infer()
    assert (frame["role"] == "contents_entry").sum() == 8


def test_contents_without_page_numbers() -> None:
    titles = [
        f"{number} Topic of {word}" for number, word in enumerate("oil air heat dust".split(), 1)
    ]
    titles += ["5 Topic of noise", "6 Topic of waste"]
    pages = Pages()
    for title in titles:
        pages.heading(title, 12)
    pages.next_page()
    for title in titles:
        pages.heading(title, 14).body()
    frame = pages.infer()
    assert frame["role"].tolist()[:6] == ["contents_entry"] * 6
    assert (frame["role"] == "heading").sum() == 6


def test_footnotes() -> None:
    pages = Pages().heading("Data").body(n=6)
    pages.add("1) Measured at the outlet.", font_size=8.0, y0=0.9)
    assert roles(pages.infer())["1) Measured at the outlet."] == "footnote"


def test_an_address_in_fixed_width_type_at_the_foot_is_a_footnote() -> None:
    pages = Pages().body(n=12)
    pages.add("1https://example.org/model", y0=0.9, font_size=8.0, is_monospace=True, kind="code")
    assert roles(pages.infer())["1https://example.org/model"] == "footnote"
