"""Headings and their levels: numbering, style, wrapping, what is none."""

from __future__ import annotations

import pytest

from rag_pipeline.frames import StructuredBlocks, check
from rag_pipeline.structure import headings_of
from tests.structure.frames import Pages, roles, trails


def test_numbering_gives_three_levels_in_one_size() -> None:
    """Fault P1: all headings in the size of the text, not bold."""
    pages = Pages()
    for title in ("1 Engine", "1.1 Cooling", "1.1.1 Pump", "1.1.2 Hose", "1.2 Oil"):
        pages.add(title).body()
    pages.add("2 Gearbox").body().add("2.1 Shaft").body()
    frame = pages.infer()
    assert trails(frame) == [
        "1 Engine",
        "1 Engine > 1.1 Cooling",
        "1 Engine > 1.1 Cooling > 1.1.1 Pump",
        "1 Engine > 1.1 Cooling > 1.1.2 Hose",
        "1 Engine > 1.2 Oil",
        "2 Gearbox",
        "2 Gearbox > 2.1 Shaft",
    ]
    check(frame, StructuredBlocks)


def test_roman_parts_are_above_arabic_chapters() -> None:
    """Fault P2: PART I / 1. / 1.1, all alike."""
    pages = Pages()
    for part, chapter in (("PART I", 1), ("PART II", 2)):
        pages.heading(f"{part} The Machine {chapter}").body()
        pages.heading(f"{chapter}. Assembly").body()
        pages.heading(f"{chapter}.1 Frame").body()
    assert trails(pages.infer()) == [
        "PART I The Machine 1",
        "PART I The Machine 1 > 1. Assembly",
        "PART I The Machine 1 > 1. Assembly > 1.1 Frame",
        "PART II The Machine 2",
        "PART II The Machine 2 > 2. Assembly",
        "PART II The Machine 2 > 2. Assembly > 2.1 Frame",
    ]


def test_sizes_give_levels_where_there_are_no_numbers() -> None:
    pages = Pages()
    for chapter in ("Safety", "Service"):
        pages.heading(chapter, 20).body().heading(f"{chapter} rules", 15).body()
        pages.heading(f"{chapter} notes", 12).body()
    assert [row[0] for row in headings_of(pages.infer())] == [0, 1, 2, 0, 1, 2]


def test_numbering_that_starts_anew_is_deeper_whatever_its_size() -> None:
    pages = Pages()
    for number, title in enumerate(("Purpose", "Use"), start=1):
        pages.heading(f"{number}. {title.upper()}", 12).body()
        pages.heading(f"a) {title} at home", 13).body().heading(f"b) {title} abroad", 13).body()
    assert [row[0] for row in headings_of(pages.infer())] == [0, 1, 1, 0, 1, 1]


def test_east_asian_chapters() -> None:
    for chapter, section in (("제1장 안전", "1.1 경고 표시"), ("第1章 安全", "1.1 警告表示")):
        pages = Pages()
        pages.heading(chapter, 18).body("본문 글자가 이어집니다.").heading(section, 13)
        pages.body("본문 글자가 이어집니다.")
        assert trails(pages.infer()) == [chapter, f"{chapter} > {section}"]


def test_a_number_above_its_title_is_one_heading() -> None:
    pages = Pages().body()
    pages.next_page().heading("Chapter 4", 18).heading("Replacing the Filter", 22).body()
    pages.next_page().heading("Chapter 5", 18).heading("Storage", 22).body()
    frame = pages.infer()
    assert trails(frame) == ["Chapter 4. Replacing the Filter", "Chapter 5. Storage"]
    merged = frame[frame["role"] == "heading"].iloc[0]
    assert merged["y0"] < 0.11 < merged["y1"]


def test_a_wrapped_heading_is_one_heading() -> None:
    """Fault P8."""
    pages = Pages().body()
    pages.heading(
        "3.2 Checking the pressure switch and the safety valve of the separator vessel", 12
    )
    pages.rows[-1]["x1"] = 0.87
    pages.y -= LINE_GAP
    pages.heading("after every overhaul", 12).body()
    frame = pages.infer()
    assert [title for _, title, _ in headings_of(frame)] == [
        "3.2 Checking the pressure switch and the safety valve of the separator vessel after every "
        "overhaul"
    ]
    assert "wrapped" in frame.loc[frame["role"] == "heading", "rule"].iloc[0]


LINE_GAP = 0.0125


def test_captions_warnings_and_bold_terms_are_no_headings() -> None:
    pages = Pages().heading("Maintenance").body()
    pages.heading("Figure 3. The filter", 10).heading("WARNING", 14).add("Hot oil burns the skin.")
    pages.heading("interval", 10).add("Hours between two services.", x0=0.2).body()
    found = roles(pages.infer())
    assert found["Figure 3. The filter"] == "caption"
    assert found["WARNING"] == "admonition"
    assert found["Hot oil burns the skin."] == "admonition"
    assert found["interval"] == "paragraph"
    assert found["Maintenance"] == "heading"


def test_a_very_long_heading_keeps_its_text() -> None:
    """Fault P7."""
    long = "Word " * 400
    frame = Pages().heading(long.strip(), 16).body().infer()
    assert frame["text"].iloc[0] == long.strip()
    assert frame["role"].iloc[0] == "paragraph"


def test_a_cover_is_nobodys_parent() -> None:
    pages = Pages().heading("Pump XJ-900", 30, y0=0.4).heading("Service Manual", 18)
    pages.add("Edition 7", font_size=14.0)
    for number in range(1, 9):
        pages.next_page().heading(f"{number} Chapter about something", 18).body(n=3)
    frame = pages.infer()
    assert frame["role"].iloc[0] == "title"
    assert set(frame["role"].iloc[1:3]) == {"paragraph"}
    assert all(" > " not in trail for trail in trails(frame))


def test_levels_of_the_file_win() -> None:
    pages = Pages()
    for text, hint in (("Alpha", 1), ("Beta", 2), ("Gamma", 2), ("Delta", 1)):
        pages.add(text, level_hint=hint).body()
    pages.heading("Not in the outline", 20).body()
    frame = pages.infer()
    assert trails(frame) == [
        "Alpha",
        "Alpha > Beta",
        "Alpha > Gamma",
        "Delta",
        "Delta > Not in the outline",
    ]


def test_every_block_says_why() -> None:
    frame = Pages().heading("1 Safety").body().add("• item", x0=0.14).infer()
    assert all(frame["rule"])
    assert frame["rule"].iloc[0] == (
        "heading: 14 pt over 10 pt text; level 1: decimal numbering of depth 1"
    )


def test_no_blocks_give_no_rows() -> None:
    assert Pages().blocks().empty
    assert Pages().infer().empty


@pytest.mark.parametrize(
    "style", [{"color": 0x2040C0}, {"is_italic": True}, {"font_name": "Sans"}, {}]
)
def test_lines_in_a_style_of_their_own(style: dict[str, object]) -> None:
    """Neither large nor bold: colour, slant, font or capitals make the heading."""
    pages = Pages()
    for title in ("Oil system", "Air system", "Cooling", "Drive belt"):
        pages.y += 0.02
        pages.add(title if style else title.upper(), **style).body(n=1)
    assert (pages.infer()["role"] == "heading").sum() == 4


def test_coloured_words_within_text_are_no_headings() -> None:
    pages = Pages().body()
    for word in ("Link one", "Link two", "Link three", "Link four"):
        pages.y -= 0.01  # lines of one paragraph
        pages.add(word, color=0x2040C0).add("more of the sentence that it stands in")
    assert (pages.infer()["role"] == "heading").sum() == 0


def test_centred_titles_in_capitals() -> None:
    """The text below reaches out on both sides; one title may follow right below another."""
    pages = Pages()
    for number, title in enumerate(("OIL SYSTEM", "AIR SYSTEM", "COOLING WATER", "DRIVE BELT")):
        pages.y += 0.02
        pages.add(title, x0=0.42).body(n=1)
        if number == 1:
            pages.y += 0.02
            pages.add("RUBBER HOSES", x0=0.41)
    frame = pages.infer()
    assert (frame["role"] == "heading").sum() == 5


def test_running_heads_in_a_style_of_their_own_are_no_headings() -> None:
    pages = Pages()
    for name in ("SAFETY RULES", "TRANSPORT", "STORAGE ROOMS", "FIRST START", "DAILY WORK"):
        pages.add(name, y0=0.15).body(n=6).next_page()
    assert (pages.infer()["role"] == "heading").sum() == 0


def test_fonts_with_a_hyphen_within_the_name_are_told_apart() -> None:
    pages = Pages()
    for title in ("Oil system", "Air system", "Cooling", "Drive belt"):
        pages.y += 0.02
        pages.add(title, font_name="Free-Sans").body(n=1)
    for row in pages.rows:
        row["font_name"] = row["font_name"].replace("Serif", "Free-Serif")
    assert (pages.infer()["role"] == "heading").sum() == 4


def test_a_first_page_full_of_short_lines_is_no_cover() -> None:
    """Headings beside the first one stay: a page of lists is text."""
    pages = Pages().heading("Supported machines", 20)
    for number in range(16):
        pages.add(f"Machine of the type number {number} with its pump and its valve", x0=0.16)
    pages.heading("Strategy", 14).add("Each type is tested once.")
    for number in range(1, 9):
        pages.next_page().heading(f"Chapter about item {number}", 20).body(n=3)
    assert roles(pages.infer())["Strategy"] == "heading"


def test_bold_lines_behind_an_ornament_are_headings_unless_in_a_list() -> None:
    """As Korean manuals have them; bold items one below the other stay a list."""
    pages = Pages()
    for title in ("■ 제품 개요", "■ 설치 방법", "■ 고장 진단"):
        pages.heading(title, 10).body("본문 글자가 이어집니다.")
    for item in ("● 밸브", "● 필터", "● 호스"):
        pages.heading(item, 10)
    found = roles(pages.body("본문 글자가 이어집니다.").infer())
    assert [found[title] for title in ("■ 제품 개요", "■ 설치 방법", "■ 고장 진단")] == [
        "heading"
    ] * 3
    assert found["● 밸브"] == found["● 필터"] == "list_item"
