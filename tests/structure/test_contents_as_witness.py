"""What a document's own contents pages say about its headings, and levels decided as a whole."""

from __future__ import annotations

from rag_pipeline.structure import headings_of
from tests.structure.frames import Pages, roles, trails

CHAPTERS = ("Oil", "Air", "Heat", "Dust", "Noise", "Waste")


def with_contents(first_page: int = 3, **style: object) -> Pages:
    """Contents, then a chapter a page in the given style; printed page 1 is page `first_page`."""
    pages = Pages().heading("Contents", 16)
    for number, chapter in enumerate(CHAPTERS, start=1):
        pages.add(f"{chapter} {number}")
    for _ in range(first_page - 1):
        pages.next_page().body(n=1) if pages.page < first_page - 1 else pages.next_page()
    for chapter in CHAPTERS:
        pages.add(chapter, **style).body().next_page()
    return pages


def test_plain_lines_that_the_contents_name_are_headings() -> None:
    frame = with_contents().infer()
    found = frame[frame["role"] == "heading"]
    assert found["text"].tolist() == ["Contents", *CHAPTERS]
    assert found["page_number"].tolist() == [1, 3, 4, 5, 6, 7, 8]
    assert found["rule"].iloc[1].startswith("heading: the contents page names it")


def test_the_same_words_on_another_page_are_none() -> None:
    pages = with_contents()
    pages.add("Heat").body()
    frame = pages.infer()
    assert frame.loc[frame["text"] == "Heat", "role"].tolist() == ["heading", "paragraph"]


def test_a_large_style_that_the_contents_do_not_know_is_no_heading() -> None:
    pages = with_contents(font_size=12.0, is_bold=True)
    pages.add("SALE", font_size=30.0).body()
    assert roles(pages.infer())["SALE"] == "paragraph"


def test_values_behind_leaders_are_no_contents() -> None:
    pages = Pages().heading("Technical data")
    for line in (
        "Voltage ........ 230",
        "Speed ........ 2900",
        "Thread ........ M12",
        "Blades .... 7",
    ):
        pages.add(line)
    assert "contents_entry" not in set(pages.body().infer()["role"])


def test_blocks_of_titles_at_each_part_are_no_contents() -> None:
    pages = Pages()
    for part in ("Hose", "Valve", "Gasket"):
        for title in ("Bulletin", "Pump works", "Division", "Model P", part, "Reason"):
            pages.heading(title, 12)
        pages.body().next_page()
    assert "contents_entry" not in set(pages.infer()["role"])


def test_running_heads_in_large_type_with_the_pages_number() -> None:
    pages = Pages()
    for number in range(1, 9):
        pages.add(f"1 Introduction {number}", y0=0.04, font_size=12.0)
        pages.y = 0.1
        pages.body(n=4).next_page()
    assert set(pages.infer().query("y0 < 0.05")["role"]) == {"page_header"}


def test_numbered_faults_at_the_top_of_every_page_stay() -> None:
    pages = Pages()
    for number in range(1, 7):
        pages.heading(f"Fault {number}: stop of the pump", 10.5, y0=0.06)
        pages.y = 0.1
        pages.body(n=4).next_page()
    assert (pages.infer()["role"] == "heading").sum() == 6


def test_codes_in_large_type_are_no_page_numbers() -> None:
    pages = Pages()
    for number in range(1, 6):
        pages.heading(f"E-0{number}", 18, y0=0.06)
        pages.y = 0.12
        pages.body(n=4).next_page()
    assert (pages.infer()["role"] == "heading").sum() == 5


def test_slant_orders_classes_by_what_comes_first() -> None:
    """Italic above upright of the same size, as one office suite has it."""
    pages = Pages()
    for chapter in ("Safety", "Service", "Storage"):
        pages.heading(chapter, 18).body()
        for section in ("first", "second"):
            pages.heading(f"{chapter} {section}", 14, is_italic=True).body()
            pages.heading(f"{chapter} {section} part", 14).body()
    assert [row[0] for row in headings_of(pages.infer())] == [0, 1, 2, 1, 2] * 3


def test_schemes_of_numbering_nest_by_where_they_begin_anew() -> None:
    pages = Pages()
    for roman in ("I.", "II."):
        pages.heading(f"{roman} Great matter").body()
        for letter in ("A.", "B."):
            pages.heading(f"{letter} Lesser matter").body()
            for number in ("1.", "2."):
                pages.heading(f"{number} Least matter").body()
    assert [row[0] for row in headings_of(pages.infer())] == [0, 1, 2, 2, 1, 2, 2] * 2


def test_the_word_chapter_its_number_and_its_title_are_one_heading() -> None:
    pages = Pages().body()
    for number, title in enumerate(("Highlighting", "Mentions", "Markup"), start=1):
        pages.next_page().heading("Chapter", 20).heading(str(number), 20).heading(title, 18).body()
    assert trails(pages.infer()) == [
        "Chapter 1. Highlighting",
        "Chapter 2. Mentions",
        "Chapter 3. Markup",
    ]


def test_steps_without_a_dot_count_on() -> None:
    pages = Pages().heading("Changing the strap").body(n=1)
    pages.add("1 Open the buckle.").add("2 Pull the strap out.").add("", kind="figure")
    pages.add("3 Insert the new one.").body(n=1).add("5 bolts hold the cover.")
    frame = pages.infer()
    steps = frame[frame["role"] == "procedure_step"]
    assert steps["text"].str[0].tolist() == ["1", "2", "3"]
    assert steps["group_id"].nunique() == 1


def test_what_a_chapter_holds_is_listed_right_below_its_title_without_page_numbers() -> None:
    """The list below `1 Safety` continues the numbering as well; its lines come again as titles."""
    pages = Pages()
    for chapter, name in ((1, "Safety"), (2, "Service")):
        titles = [f"{chapter}.{number} {name} of part {number}" for number in range(1, 4)]
        pages.heading(f"{chapter} {name}", 18)
        for title in titles:
            pages.add(title)
        for title in titles:
            pages.heading(title, 14).body()
        pages.next_page()
    frame = pages.infer()
    listed = frame["text"].str.startswith("1.1 ")
    assert frame.loc[listed, "role"].tolist() == ["contents_entry", "heading"]
    assert (frame["role"] == "heading").sum() == 8
