"""Bookmarks as hints: used where they agree with the text, ignored where they do not."""

from __future__ import annotations

from pathlib import Path

from rag_pipeline.frames import blocks_frame
from rag_pipeline.parsing import parse_file
from rag_pipeline.parsing.pdf.native.bookmarks import Entry, add_level_hints
from rag_pipeline.settings import ParsingSettings
from tests.parsing.pages import blocks_of, draw_pdf, lines

TITLES = [("Safety", 0), ("Signal words", 1), ("Maintenance", 0)]


def bookmarked(path: Path, titles: list[tuple[str, int]]) -> Path:
    def page(canvas: object) -> None:
        for number, (title, _) in enumerate(TITLES):
            lines(canvas, [title], top=100 + 80 * number, size=12)
            lines(canvas, ["Running text below the title."], top=120 + 80 * number)
        for number, (title, level) in enumerate(titles):
            canvas.bookmarkPage(str(number))
            canvas.addOutlineEntry(title, str(number), level)

    return draw_pdf(path, page)


def test_levels_come_from_bookmarks(tmp_path: Path) -> None:
    frame = blocks_of(bookmarked(tmp_path / "a.pdf", TITLES))
    hinted = frame[frame["level_hint"].notna()]
    assert list(zip(hinted["text"], hinted["level_hint"], strict=True)) == [
        ("Safety", 1),
        ("Signal words", 2),
        ("Maintenance", 1),
    ]


def test_they_can_be_switched_off(tmp_path: Path) -> None:
    frame = blocks_of(bookmarked(tmp_path / "a.pdf", TITLES), ignore_outline=True)
    assert frame["level_hint"].isna().all()


def test_an_outline_that_does_not_fit_the_text_is_ignored(tmp_path: Path) -> None:
    wrong = [("Page 1", 0), ("Page 2", 0), ("Untitled", 1)]
    parsed = parse_file(bookmarked(tmp_path / "a.pdf", wrong), ParsingSettings())
    assert parsed.blocks["level_hint"].isna().all()
    assert any("bookmarks ignored" in warning for warning in parsed.warnings)


def test_titles_in_pieces_numbers_and_a_root() -> None:
    rows = [
        {"page_number": 1, "text": "Chapter 2"},
        {"page_number": 1, "text": "Oil\nfilter"},
        {"page_number": 2, "text": "2.1 Replacing the"},
        {"page_number": 2, "text": "oil filter element"},
    ]
    entries = [
        Entry(1, "Service manual", 1),
        Entry(2, "Chapter 2 Oil filter", 1),
        Entry(3, "Replacing the oil filter element", 2),
    ]
    frame, share = add_level_hints(blocks_frame(rows), entries, 0.3)
    # The root (the document's title) counts as no level.
    assert frame["level_hint"].fillna(0).tolist() == [0, 1, 0, 0]
    assert round(share, 2) == 0.33
    numbered = [*entries[:2], Entry(3, "2.1 Replacing the oil filter element", 2)]
    frame, share = add_level_hints(blocks_frame(rows), numbered, 0.3)
    assert frame["level_hint"].fillna(0).tolist() == [0, 1, 2, 0]


def test_a_running_head_does_not_take_the_chapter_s_hint() -> None:
    rows = [
        {"page_number": 2, "text": "4 Operation", "font_size": 9.0},
        {"page_number": 2, "text": "4 Operation", "font_size": 20.0},
    ]
    frame, share = add_level_hints(blocks_frame(rows), [Entry(1, "4 Operation", 2)], 0.3)
    assert share == 1.0
    assert frame["level_hint"].fillna(0).tolist() == [0, 1]
