"""Pages whose text stands in their picture: which they are, and how read words get onto them."""

from __future__ import annotations

import re
from itertools import chain
from statistics import fmean

from rag_pipeline.parsing.pdf.layout.geometry import Box, PageContent, PageWord, Ruling, contains

STAMP_CHARACTERS = 100
"""A scan with no more text than this carries a stamp or a page number, not its text."""
SCAN_SHARE = 0.5
"""Share of the page that its images cover where the page is a scan."""
UNREADABLE_SHARE = 0.2
"""Share of a page's characters without a meaning from which its picture is read."""
_MEANINGLESS = re.compile("[\\ufffd\\ue000-\\uf8ff]")


def is_picture(content: PageContent) -> bool:
    """Has the page no text, or no more than a stamp upon a scan?"""
    characters = 0
    for word in chain(content.words, content.turned_words):
        characters += len(word.text)
        if characters > STAMP_CHARACTERS:
            return False
    if not characters:
        return True
    if content.turned_words or content.quarter_turns:
        return False
    area = content.width * content.height
    covered = sum((x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in content.images)
    return covered > SCAN_SHARE * area


def is_unreadable(content: PageContent) -> bool:
    """Has a font with no meaning for its letters drawn much of the page?"""
    total = sum(len(word.text) for word in content.words)
    return content.unreadable_characters > UNREADABLE_SHARE * (
        total + content.unreadable_characters
    )


def drop_unreadable(content: PageContent) -> None:
    """Make room for what is read from the picture in place of letters without a meaning."""
    content.words = [
        word
        for word in content.words
        if any(map(str.isalnum, word.text)) and not _MEANINGLESS.search(word.text)
    ]
    content.unreadable_characters = 0


def turn_as_seen(content: PageContent) -> None:
    """Make layout space the page as seen, in which the words were found."""

    def turned(box: Box) -> Box:
        x0, y0, x1, y1 = content.seen_box(box)
        return x0 * width, y0 * height, x1 * width, y1 * height

    width, height = content.width, content.height
    if content.quarter_turns % 2:
        width, height = height, width
    content.images = [turned(box) for box in content.images]
    content.fills = [turned(box) for box in content.fills]
    content.rulings = [
        Ruling(*turned((ruling.x0, ruling.y0, ruling.x1, ruling.y1))) for ruling in content.rulings
    ]
    for word in content.words:
        word.x0, word.y0, word.x1, word.y1 = turned((word.x0, word.y0, word.x1, word.y1))
    content.width, content.height, content.quarter_turns = width, height, 0


def add_words(content: PageContent, words: list[PageWord]) -> None:
    """Add the words where the page has no text of its own."""
    own = [(word.x0, word.y0, word.x1, word.y1) for word in content.words]
    after = len(words)
    for word in content.words:
        word.position += after
    content.words = [
        word
        for word in words
        if not any(
            contains(box, (word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2, slack=1) for box in own
        )
    ] + content.words
    content.is_recognized = True


def confidence_in(content: PageContent, box: Box) -> float:
    """Mean confidence (0..1) of the words in a box; 1 where none was recognized."""
    if not content.is_recognized:
        return 1.0
    inside = [
        word.confidence
        for word in content.words
        if contains(box, (word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2)
    ]
    return round(fmean(inside), 3) if inside else 1.0
