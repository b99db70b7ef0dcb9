"""Lines of a reply's page, and the paragraphs they form. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_pipeline.line_marks import starts_with_bullet, starts_with_number
from rag_pipeline.parsing.document_ai.convert.anchors import Span
from rag_pipeline.parsing.document_ai.convert.block_rows import weighted_median
from rag_pipeline.parsing.pdf.layout.geometry import Box, bounding_box

SIZE_CHANGE = 1.4
"""Ratio of neighbouring lines' sizes that separates paragraphs."""
SENTENCE_END = ".:;?!。！？：；…»”\"')]"


@dataclass(frozen=True)
class ReplyLine:
    """One line, or the part of it that is not in a table or a form field."""

    spans: list[Span]
    text: str
    box: Box | None
    size: float
    """Font size in points, as the whole line measures; 0 = unknown."""
    confidence: float
    orientation: int

    @property
    def height(self) -> float:
        """Height of the box, as a share of the page."""
        return self.box[3] - self.box[1] if self.box else 0.0


def paragraphs_of(lines: Sequence[ReplyLine], width: float) -> list[list[ReplyLine]]:
    """Split lines where one begins a list item, has another size, or was broken on purpose.

    `width` is the page's in points.
    """
    groups: list[list[ReplyLine]] = []
    numbered = starts_with_number(lines[0].text)
    around = box_around(lines)
    for line in lines:
        begins = starts_with_bullet(line.text) or (numbered and starts_with_number(line.text))
        if groups and not begins:
            begins = _size_changes(groups[-1][-1], line)
        if groups and around and not begins:
            begins = _break_was_free(groups[-1][-1], line, around, width)
        if groups and not begins:
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def _size_changes(last: ReplyLine, line: ReplyLine) -> bool:
    """Whether sizes differ by clearly more than the error of measuring them."""
    smaller, larger = sorted((last.size, line.size))
    return smaller > 0 and larger / smaller > SIZE_CHANGE


def _break_was_free(last: ReplyLine, line: ReplyLine, around: Box, width: float) -> bool:
    """Whether the first word would have fitted on the line before, so that the break was meant.

    As the local parser does: after a sentence, or if a third of the line is left.
    """
    if last.box is None or line.box is None or line.box[1] < last.box[3] - 0.5 * last.height:
        return False
    first = len(line.text.split(" ", 1)[0]) / max(1, len(line.text))
    word = min(first * (line.box[2] - line.box[0]) * width, 8 * line.size)
    room = (around[2] - last.box[2]) * width
    if not line.size or room < word + 1.5 * line.size:
        return False
    if last.text[-1:] in SENTENCE_END:
        return True
    return room > 0.35 * (around[2] - around[0]) * width and not line.text[:1].islower()


def box_around(lines: Sequence[ReplyLine]) -> Box | None:
    """The box around lines; None if no line has one."""
    boxes = [line.box for line in lines if line.box]
    return bounding_box(boxes) if boxes else None


def usual_size(lines: Sequence[ReplyLine]) -> float:
    """The font size of most characters, in points; 0 if unknown."""
    return weighted_median([(line.size, len(line.text)) for line in lines if line.size])


def mean_confidence(lines: Sequence[ReplyLine]) -> float:
    """Mean by characters; 1 if none is given."""
    known = [(line.confidence, len(line.text)) for line in lines if line.confidence]
    total = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / total if total else 1.0
