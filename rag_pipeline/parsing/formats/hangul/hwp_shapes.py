"""What the stream `DocInfo` of an HWP 5 file says of paragraphs, characters and numberings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from rag_pipeline.parsing.formats.hangul.hangul_content import Head
from rag_pipeline.parsing.formats.hangul.hangul_numbers import FORM_NAMES, LevelForm, Numberings
from rag_pipeline.parsing.formats.hangul.hwp_records import Record, Tag

_HEADS: tuple[Literal["outline", "number", "bullet"] | None, ...] = (
    None,
    "outline",
    "number",
    "bullet",
)
_BREAKS_PAGE = 1 << 19
_BOLD = 1 << 1
_LEVELS = 7


@dataclass
class HwpShapes:
    """Shapes by their place in the stream."""

    heads: list[Head | None] = field(default_factory=list)
    breaks: list[bool] = field(default_factory=list)
    """Does the paragraph shape begin a page?"""
    bold: list[bool] = field(default_factory=list)
    numberings: Numberings = field(default_factory=Numberings)
    tracks_changes: bool = False

    @classmethod
    def of(cls, root: Record) -> HwpShapes:
        """Read the stream's records."""
        shapes = cls()
        for record in root.below():
            if record.tag == Tag.CHAR_SHAPE:
                shapes.bold.append(bool(record.number(46) & _BOLD))
            elif record.tag == Tag.PARA_SHAPE:
                shapes._paragraph_shape(record)
            elif record.tag == Tag.NUMBERING:
                levels = shapes.numberings.levels
                levels[len(levels) + 1] = _levels(record)
            elif record.tag == Tag.TRACK_CHANGE:
                shapes.tracks_changes = True
        return shapes

    def _paragraph_shape(self, record: Record) -> None:
        properties = record.number(0)
        kind = _HEADS[(properties >> 23) & 3]
        level = (properties >> 25) & 7
        self.heads.append(Head(kind, record.number(30, "H"), level) if kind else None)
        self.breaks.append(bool(properties & _BREAKS_PAGE))


def _levels(record: Record) -> list[LevelForm]:
    found = []
    at = 0
    for _ in range(_LEVELS):
        form = (record.number(at) >> 5) & 31
        pattern = record.text(at + 12)
        at += 14 + 2 * record.number(at + 12, "H")
        found.append((pattern, FORM_NAMES[form] if form < len(FORM_NAMES) else "DIGIT"))
    # One start for the list, and from version 5.0.2.5 on one for each level.
    at += 2
    starts = [record.number(at + 4 * level) or 1 for level in range(_LEVELS)]
    return [
        LevelForm(pattern, form, start)
        for (pattern, form), start in zip(found, starts, strict=True)
    ]
