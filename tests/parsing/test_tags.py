"""Headings named by tags: read from real files, used only where their levels make sense."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_pipeline.parsing import parse_file
from rag_pipeline.parsing.pdf.native.bookmarks import Entry
from rag_pipeline.parsing.pdf.native.tags import sensible_headings
from rag_pipeline.settings import ParsingSettings

SAMPLES = Path(__file__).parents[2] / "samples"
GOOD = [
    Entry(1, "1 Safety", 1),
    Entry(2, "1.1 Signal words", 1),
    Entry(3, "1.1.1 Danger", 1),
    Entry(1, "2 Maintenance", 2),
    Entry(2, "2.1 Oil", 2),
]


def hints(*, ignore: bool) -> list[tuple[str, int]]:
    blocks = parse_file(
        SAMPLES / "datasheet.pdf", ParsingSettings(ignore_outline=ignore, ocr="off")
    ).blocks
    named = blocks[blocks["level_hint"].notna()]
    return list(zip(named["text"], named["level_hint"], strict=True))


def test_levels_come_from_tags() -> None:
    found = hints(ignore=False)
    # The title is the root of all others and counts as no level.
    assert found[:3] == [("QVK-4000 Series", 1), ("Features", 1), ("Technical Data", 1)]
    assert [level for _, level in found] == [1, 1, 1, 2, 2, 2, 1, 1, 2, 2, 2]


def test_they_can_be_switched_off() -> None:
    assert hints(ignore=True) == []


def test_levels_that_agree_with_the_numbers_are_kept() -> None:
    assert sensible_headings(GOOD) == GOOD


@pytest.mark.parametrize(
    "entries",
    [
        GOOD[:3],  # too few to judge
        [entry._replace(level=1) for entry in GOOD],  # all alike
        [entry._replace(level=4 - entry.level) for entry in GOOD],  # upside down
        [entry._replace(level=1 + 2 * (entry.level > 1)) for entry in GOOD],  # depths in one
        [Entry(1, "Pumps", 1), Entry(4, "Oil", 1), Entry(1, "Fans", 2), Entry(4, "Belt", 2)],
        [entry._replace(title=entry.title * 30) for entry in GOOD],  # paragraphs
    ],
)
def test_levels_that_make_no_sense_are_dropped(entries: list[Entry]) -> None:
    assert sensible_headings(entries) == []


def test_running_heads_are_left_out() -> None:
    heads = [Entry(1, "Service manual", page) for page in range(1, 5)]
    assert sensible_headings([*heads, *GOOD]) == GOOD
    # Where most of the tags are running heads, the rest is not worth more.
    assert sensible_headings([*heads, *heads, *GOOD]) == []
