"""Structured frame to Markdown."""

from __future__ import annotations

from rag_pipeline.structure import headings_of, to_markdown
from tests.structure.frames import Pages

CELLS = [["Code", "Meaning|use"], ["E-01", "No oil"]]


def manual() -> Pages:
    pages = Pages()
    for number in range(1, 5):
        pages.add("XJ-900", y0=0.04)
        pages.y = 0.1
        pages.heading(f"{number} Chapter", 16).body(n=1)
        pages.next_page()
    pages.add("XJ-900", y0=0.04)
    pages.y = 0.1
    pages.heading("4.1 Steps", 13).add("1. Close:", x0=0.14).add("a) red", x0=0.18)
    pages.add("• loose", x0=0.14)
    return pages.add("Code Meaning", kind="table", table_cells=CELLS)


def test_headings_lists_and_tables() -> None:
    text = to_markdown(manual().infer())
    assert "# 4 Chapter\n" in text
    assert "## 4.1 Steps\n\n1. Close:\n\n  a) red\n\n- loose\n" in text
    assert "| Code | Meaning\\|use |\n|---|---|\n| E-01 | No oil |\n" in text
    assert "XJ-900" not in text


def test_furniture_can_be_kept() -> None:
    assert to_markdown(manual().infer(), keep_furniture=True).count("XJ-900") == 5


def test_headings_count_levels_from_zero() -> None:
    assert headings_of(manual().infer())[-2:] == [[0, "4 Chapter", 4], [1, "4.1 Steps", 5]]
