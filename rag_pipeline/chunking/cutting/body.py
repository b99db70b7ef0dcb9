"""A document's body as one text that knows where every character came from.

What the strategies that may cut anywhere work on: they return ranges of offsets of this text, and
`Body.draft` makes a chunk of a range. A heading stands on the line above what it heads, blocks are
parted by an empty line, steps, items and rows by a newline.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from rag_pipeline.chunking.assemble import ChunkDraft, text_with_starts
from rag_pipeline.chunking.chunk_trails import Trails
from rag_pipeline.chunking.describe import describe_kind, describe_metadata
from rag_pipeline.chunking.sections.body_blocks import Section, body_blocks, gather_sections
from rag_pipeline.chunking.sections.units import Piece, UnitBuilder
from rag_pipeline.chunking.token_counts import TokenCounter
from rag_pipeline.sentence_borders import UNKNOWN

TRAIL_SHARE = 3
"""At most a third of the budget goes to the trail."""


class Range(NamedTuple):
    """Offsets of the body's text, end exclusive."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """Where the text of a piece stands in the body; `section` is an index of `Body.sections`."""

    piece: Piece
    start: int
    end: int
    section: int


class Body:
    """The text of a structured frame's body blocks, the passages it is made of, its sections."""

    def __init__(self, structured: pd.DataFrame, major_heading_level: int) -> None:
        blocks = body_blocks(structured)
        self.sections: list[Section] = gather_sections(blocks, major_heading_level)
        self.language = str(structured["language"].iloc[0]) if len(structured) else UNKNOWN
        self.passages: list[Passage] = []
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
                    self.passages.append(Passage(piece, length, length + len(piece.text), number))
                    length += len(piece.text)
                    if piece.text:
                        under_heading = piece.block.is_heading
        self.text = "".join(parts)
        self._starts = [passage.start for passage in self.passages]
        majors = 0
        self._majors: list[int] = []
        for section in self.sections:
            majors += section.is_major
            self._majors.append(majors)

    def section_at(self, offset: int) -> int:
        """Return the section that the character at `offset` lies in."""
        index = bisect_right(self._starts, offset) - 1
        while index + 1 < len(self.passages) and self.passages[index].end <= offset:
            index += 1  # the white space before a passage counts as its own
        return self.passages[index].section

    def major_at(self, offset: int) -> int:
        """Return the number of the major section that the character at `offset` lies in."""
        return self._majors[self.section_at(offset)]

    def section_ranges(self) -> list[tuple[int, Range]]:
        """Return the sections that have text with their ranges, which join to the whole text."""
        first: dict[int, int] = {}
        for passage in self.passages:
            if passage.end > passage.start:
                first.setdefault(passage.section, passage.start)
        return list(zip(first, cut_at(list(first.values()), len(self.text)), strict=True))

    def within(self, start: int, end: int) -> list[tuple[Piece, str]]:
        """Return the pieces of a range with the part of their text that lies in it.

        A piece without text (a figure) belongs to the range that it begins in.
        """
        last = len(self.text)
        found: list[tuple[Piece, str]] = []
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

    def draft(self, start: int, end: int, trails: Trails, kind: str | None = None) -> ChunkDraft:
        """Make a chunk of a range, not counted yet; `kind` by what it mostly holds if not given."""
        found = self.within(start, end)
        pieces = [piece for piece, _ in found]
        sections = {piece.section.number: piece.section.trail for piece in pieces}
        parts: list[str] = []
        before: list[int] = []
        for piece, text in found:
            before.append(len(parts) + 1)  # the joiner comes first
            if text:
                parts += [piece.joiner or "\n" if parts else "", text]
        content, starts = text_with_starts(parts, before)
        return ChunkDraft(
            kind=kind or describe_kind([(piece, len(text)) for piece, text in found]),
            breadcrumb_trail=trails.common(list(sections.values())),
            content=content,
            boxes=[piece.block.box for piece in pieces],
            starts=starts,
            metadata=describe_metadata(pieces),
        )

    def trails(self, title: str | None, budget: int, counter: TokenCounter) -> Trails:
        """Return the trails as shown, each at most a third of the budget."""
        shown = (section.trail for section in self.sections)
        return Trails(shown, title, budget // TRAIL_SHARE, counter)


def cut_at(starts: Sequence[int], end: int) -> list[Range]:
    """Return the ranges between increasing offsets, the last up to `end`."""
    return [Range(a, b) for a, b in itertools.pairwise([*starts, end])]
