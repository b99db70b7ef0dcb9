"""A document's body as one text that knows where every character came from.

Strategies that may cut anywhere choose ranges of offsets in this text; `Body.draft` makes a chunk
of a range. A heading is on the line above its text; an empty line separates blocks, a newline
separates steps, items and rows.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from rag_pipeline.chunking.assemble import ChunkDraft, draft_of, text_with_starts
from rag_pipeline.chunking.chunk_trails import Trails
from rag_pipeline.chunking.sections.body_blocks import BodySection, body_blocks, gather_sections
from rag_pipeline.chunking.sections.units import UnitBuilder, UnitPiece


class Range(NamedTuple):
    """Offsets of the body's text, end exclusive."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class BodyPassage:
    """Where a piece's text is in the body; `section` is an index of `Body.sections`."""

    piece: UnitPiece
    start: int
    end: int
    section: int


class Body:
    """The text of a structured frame's body blocks, the passages it is made of, its sections."""

    def __init__(self, structured: pd.DataFrame, major_heading_level: int) -> None:
        blocks = body_blocks(structured)
        self.sections: list[BodySection] = gather_sections(blocks, major_heading_level)
        self.passages: list[BodyPassage] = []
        builder = UnitBuilder()
        parts: list[str] = []
        length = 0
        under_heading = False
        for number, section in enumerate(self.sections):
            for unit in builder.units(section):
                for piece in unit:
                    if piece.text and length:
                        joiner = "\n" if under_heading else piece.joiner or "\n"
                        parts.append(joiner)
                        length += len(joiner)
                    parts.append(piece.text)
                    self.passages.append(
                        BodyPassage(piece, length, length + len(piece.text), number)
                    )
                    length += len(piece.text)
                    if piece.text:
                        under_heading = piece.block.is_heading
        self.text = "".join(parts)
        self._starts = [passage.start for passage in self.passages]

    def section_at(self, offset: int) -> int:
        """Return the index of the section that contains the character at `offset`."""
        index = bisect_right(self._starts, offset) - 1
        while index + 1 < len(self.passages) and self.passages[index].end <= offset:
            index += 1  # the white space before a passage counts as its own
        return self.passages[index].section

    def major_at(self, offset: int) -> int:
        """Return the number of the major section that contains the character at `offset`."""
        return self.sections[self.section_at(offset)].major

    def section_ranges(self) -> list[tuple[int, Range]]:
        """Return each section that has text with its range; the ranges join to the whole text."""
        first: dict[int, int] = {}
        for passage in self.passages:
            if passage.end > passage.start:
                first.setdefault(passage.section, passage.start)
        return list(zip(first, cut_at(list(first.values()), len(self.text)), strict=True))

    def _within(self, start: int, end: int) -> list[tuple[UnitPiece, str]]:
        """Return the pieces of a range, each with the part of its text inside the range.

        A piece without text (a figure) belongs to the range it begins in.
        """
        last = len(self.text)
        found: list[tuple[UnitPiece, str]] = []
        index = max(0, bisect_left(self._starts, start) - 1)
        while index < len(self.passages) and self.passages[index].start <= end:
            passage = self.passages[index]
            index += 1
            text = self.text[max(start, passage.start) : max(start, min(end, passage.end))]
            is_empty = passage.start == passage.end
            inside = start <= passage.start < end or start < end == passage.start == last
            if text.strip() or (is_empty and inside):
                found.append((passage.piece, text))
        return found

    def draft(self, found: Range, trails: Trails, kind: str | None = None) -> ChunkDraft:
        """Make a chunk of a range, not counted yet; `kind` defaults to what it mostly holds."""
        pieces = self._within(*found)
        parts: list[str] = []
        before: list[int] = []
        for piece, text in pieces:
            before.append(len(parts) + 1)  # the joiner comes first
            if text:
                parts += [piece.joiner or "\n" if parts else "", text]
        weighed = [(piece, len(text)) for piece, text in pieces]
        return draft_of(weighed, text_with_starts(parts, before), trails, kind)


def cut_at(starts: Sequence[int], end: int) -> list[Range]:
    """Return the ranges between increasing offsets, the last up to `end`."""
    return [Range(a, b) for a, b in itertools.pairwise([*starts, end])]
