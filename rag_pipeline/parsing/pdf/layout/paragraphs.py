"""Lines of a column → blocks, by style, distance, indentation and markers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

from rag_pipeline.line_marks import (
    has_leader,
    starts_with_bullet,
    starts_with_number,
)
from rag_pipeline.parsing.pdf.layout.geometry import Box, Line, Style, bounding_box
from rag_pipeline.parsing.pdf.layout.joining import goes_on_as_code, join_lines
from rag_pipeline.parsing.pdf.layout.lines import main_style
from rag_pipeline.parsing.pdf.layout.right_to_left import runs_right_to_left

SIZE_CHANGE = 0.06
"""Relative difference of font sizes that starts a block."""
GAP = 1.28
"""Baseline distance, in usual line distances, that starts a block."""
CODE_GAP = 2.6
"""The same within code, where blank lines belong to the text."""
INDENT = 0.8
"""Ems; a line that starts this much further in starts a block."""
PAGE_TAB = 1.5
"""Ems of room before the page number of a contents entry without leader dots, at least."""
_SENTENCE_END = ".:;?!。！？：；…»”\"')]"


@dataclass(slots=True)
class PageBlock:
    """Lines that belong together, or a table or figure."""

    kind: Literal["text", "table", "figure", "code"]
    box: Box
    text: str
    style: Style
    line_count: int = 0
    indent: float = 0.0
    """First line's left edge minus the others', in points."""
    column: tuple[float, float] = (0.0, 0.0)
    bold_lead: str = ""
    """Bold words that a block begins with, where not all of it is bold."""
    cells: list[list[str]] | None = None
    spans: list[list[tuple[int, int]]] | None = None
    lines: list[Line] = field(default_factory=list)
    upright: bool = True


def blocks_of(lines: list[Line]) -> list[PageBlock]:
    """Group the lines of one column, from top to bottom, into blocks."""
    if not runs_right_to_left(line.text for line in lines):
        return [make_block(group) for group in _groups(lines)]
    # Lines from right to left are grouped as their mirror images would be.
    mirrored = [
        replace(line, x0=-line.x1, x1=-line.x0, column=(-line.column[1], -line.column[0]))
        for line in lines
    ]
    real = {id(image): line for image, line in zip(mirrored, lines, strict=True)}
    return [make_block([real[id(image)] for image in group]) for group in _groups(mirrored)]


def _groups(lines: list[Line]) -> list[list[Line]]:
    leading = usual_leading(lines)
    groups: list[list[Line]] = []
    below_leader = False
    for line in lines:
        is_leader = has_leader(line.text) or _ends_at_tab(line)
        if (
            groups
            and not (is_leader or below_leader)
            and not _starts_block(groups[-1], line, leading)
        ):
            groups[-1].append(line)
        else:
            groups.append([line])
        below_leader = is_leader
    return groups


def _ends_at_tab(line: Line) -> bool:
    """Does the line end with a page number at a tab stop, as a contents entry without dots does?"""
    if len(line.words) < 2:
        return False
    before, last = line.words[-2:]
    return last.text.isdigit() and last.x0 - before.x1 > PAGE_TAB * line.style.size


def usual_leading(lines: list[Line]) -> dict[float, float]:
    """Usual baseline distance by font size, in points: the lower quartile of those seen."""
    seen: dict[float, list[float]] = {}
    for line, following in pairwise(lines):
        if line.style.size == following.style.size:
            distance = following.baseline - line.baseline
            if 0.8 * line.style.size < distance < 2.4 * line.style.size:
                seen.setdefault(line.style.size, []).append(distance)
    return {size: sorted(found)[len(found) // 4] for size, found in seen.items()}


def _starts_block(group: list[Line], line: Line, leading: dict[float, float]) -> bool:
    last = group[-1]
    if last.table is not None or line.table is not None or _style_changes(last, line):
        return True
    size = line.style.size
    usual = leading.get(size, 1.25 * size)
    distance = line.baseline - last.baseline
    code = line.style.monospace and last.style.monospace
    if distance < 0.3 * size or distance > (CODE_GAP if code else GAP) * usual:
        return True
    if code:
        return False
    return _marker_starts(group, line) or _indent_starts(group, line) or _break_was_free(last, line)


def _style_changes(last: Line, line: Line) -> bool:
    """Another size, or bold and fixed width changing between the two lines.

    A bold beginning that runs on in plain text, and a bold phrase broken over lines, change within
    a line, not between two.
    """
    if abs(last.style.size - line.style.size) > SIZE_CHANGE * max(last.style.size, line.style.size):
        return True
    before, after = last.words[-1].style, line.words[0].style
    if last.style.bold != line.style.bold and before.bold != after.bold:
        return True
    return last.style.monospace != line.style.monospace and before.monospace != after.monospace


def _marker_starts(group: list[Line], line: Line) -> bool:
    if starts_with_bullet(line.text):
        return True
    if not starts_with_number(line.text):
        return False
    last = group[-1]
    ended = last.text[-1:] in _SENTENCE_END or starts_with_number(group[0].text)
    short = last.x1 - last.x0 < 0.6 * (last.column[1] - last.column[0])
    return ended or short or abs(line.x0 - last.x0) > 0.5 * line.style.size


def _indent_starts(group: list[Line], line: Line) -> bool:
    """First-line indents start a paragraph; hanging indents go on with it."""
    size = line.style.size
    last = group[-1]
    shift = line.x0 - last.x0
    if shift > INDENT * size:
        if len(group) > 1:
            return True
        hanging = starts_with_bullet(last.text) or starts_with_number(last.text)
        return not hanging and last.x1 < last.column[1] - 4 * size
    if shift < -INDENT * size:
        # The second line of a paragraph stands left of its indented first line.
        hanging = starts_with_bullet(last.text) or starts_with_number(last.text)
        return len(group) > 1 or hanging
    return False


def _break_was_free(last: Line, line: Line) -> bool:
    """Would the first word have fitted on the line before? Then the break was meant."""
    first = line.words[0]
    width = min(first.x1 - first.x0, 8 * line.style.size)
    room = last.column[1] - last.x1
    if room < width + 1.5 * line.style.size:
        return False
    if last.text[-1:] in _SENTENCE_END:
        return True
    if goes_on_as_code(last.text, line.text):
        return False
    return room > 0.35 * (last.column[1] - last.column[0]) and not line.text[:1].islower()


def make_block(lines: list[Line]) -> PageBlock:
    """One block of these lines."""
    style = lines[0].style
    # What is the style of most characters of each line is that of most of the block.
    if any(line.style is not style for line in lines):
        style = main_style([word for line in lines for word in line.words])
    code = style.monospace and len(lines) > 1
    texts = _code_lines(lines) if code else [line.text for line in lines]
    others = [line.x0 for line in lines[1:]]
    return PageBlock(
        "code" if code else "text",
        bounding_box([(line.x0, line.y0, line.x1, line.y1) for line in lines]),
        "\n".join(texts) if code else join_lines(texts),
        style,
        len(lines),
        lines[0].x0 - min(others) if others else 0.0,
        lines[0].column,
        _bold_lead(lines),
        lines=lines,
    )


def _bold_lead(lines: list[Line]) -> str:
    words: list[str] = []
    for line in lines:
        for word in line.words:
            if not word.style.bold:
                return " ".join(words)
            words.append(word.text)
    return ""


def _code_lines(lines: list[Line]) -> list[str]:
    """Lines of code with their indentation, also that after the numbers of lines."""
    left = min(line.x0 for line in lines)
    widths = sorted(
        (word.x1 - word.x0) / len(word.text) for line in lines for word in line.words if word.text
    )
    width = max(widths[len(widths) // 2] if widths else 1.0, 1.0)
    return [_code_line(line, left, width) for line in lines]


def _code_line(line: Line, left: float, width: float) -> str:
    """A line of code, with a space for each character's width of a gap."""
    text, end = " " * round((line.x0 - left) / width), line.x0
    following = line.text
    for word in line.words:
        at = following.find(word.text)
        if at < 0:  # put together from others
            return text + following
        if at:
            text += following[:at].ljust(round((word.x0 - end) / width))
        text, following, end = text + word.text, following[at + len(word.text) :], word.x1
    return text + following
