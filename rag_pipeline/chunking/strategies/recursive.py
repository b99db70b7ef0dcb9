"""The strategies that follow the document's hierarchy: recursive and by_headers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from semantic_text_splitter import TextSplitter

from rag_pipeline.chunking.assemble import ChunkDraft
from rag_pipeline.chunking.cutting.body import Range, cut_at
from rag_pipeline.chunking.cutting.ranges import BodyCutter
from rag_pipeline.chunking.task import Task, TokenCounter

MARKDOWN_LEVELS = 6


def chunk_recursive(task: Task) -> list[ChunkDraft]:
    """Keep the largest part that fits: chapter, section, paragraph, line, sentence, words.

    Anything larger is cut at the next finer border: at headings of the next level, then inside a
    section by `semantic-text-splitter`, or by the settings' `separators` if there are any.
    """
    in_characters = task.settings.unit == "characters"
    cutter = BodyCutter(task, TokenCounter(_characters) if in_characters else None)
    spans = cutter.body.section_ranges()
    tokens = cutter.count([found for _, found in spans])
    levels = [cutter.body.sections[number].level for number, _ in spans]
    ranges: list[Range] = []
    pending = [(0, len(spans))]
    while pending:
        first, last = pending.pop()
        if first == last:
            continue
        room = cutter.room(spans[first][0])
        if last - first == 1:
            ranges += _cut_section(spans[first][1], room, cutter)
        elif sum(tokens[first:last]) + (last - first) * cutter.counter.newline <= room and not any(
            cutter.body.sections[number].is_major for number, _ in spans[first + 1 : last]
        ):
            ranges.append(Range(spans[first][1].start, spans[last - 1][1].end))
        else:
            top = min(levels[first + 1 : last])
            borders = [i for i in range(first + 1, last) if levels[i] == top]
            pending += reversed(list(zip([first, *borders], [*borders, last], strict=True)))
    return cutter.chunks(cutter.joined(ranges))


def chunk_by_headers(task: Task) -> list[ChunkDraft]:
    """Cut at every heading of levels 1 to 6, and sections above the budget as `recursive` does."""
    cutter = BodyCutter(task)
    ranges: list[Range] = []
    for number, found in cutter.body.section_ranges():
        section = cutter.body.sections[number]
        if ranges and section.level > MARKDOWN_LEVELS:
            ranges[-1] = Range(ranges[-1].start, found.end)
        else:
            ranges.append(found)
    rooms = [cutter.room(cutter.body.section_at(found.start)) for found in ranges]
    cut = [_cut_section(*pair, cutter) for pair in zip(ranges, rooms, strict=True)]
    return cutter.chunks([part for parts in cut for part in parts])


def _cut_section(found: Range, room: int, cutter: BodyCutter) -> list[Range]:
    """Cut a range at the coarsest borders that keep parts within `room` tokens."""
    text = cutter.body.text[found.start : found.end]
    separators = cutter.task.settings.separators
    if separators and cutter.task.settings.strategy == "recursive":
        parts = separated(text, separators, room, cutter.counter)
        starts = list(itertools.accumulate(map(len, parts[:-1])))
    else:
        splitter = TextSplitter.from_callback(lambda part: cutter.counter.parts([part])[0], room)
        starts = [start for start, _ in splitter.chunk_indices(text)][1:]
    return cut_at([found.start, *(found.start + start for start in starts)], found.end)


def separated(text: str, separators: Sequence[str], room: int, counter: TokenCounter) -> list[str]:
    """Split at the first separator, parts above the room at the next; merge small parts again.

    Each part keeps the separator that ends it, so that the parts join to the text. A part that no
    separator makes small enough stays as it is. An empty separator splits between all characters.
    """
    separator, *finer = separators
    pattern = f"(?<={re.escape(separator)})" if separator else "(?<=.)(?=.)"
    pieces = [piece for piece in re.split(pattern, text, flags=re.DOTALL) if piece]
    parts: list[str] = []
    held: list[str] = []
    total = 0
    for piece, tokens in zip(pieces, counter.parts(pieces), strict=True):
        if held and total + tokens + counter.space > room:
            parts.append("".join(held))
            held, total = [], 0
        if tokens > room and finer:
            parts += separated(piece, finer, room, counter)
        else:
            held.append(piece)
            total += tokens + counter.space
    return [*parts, "".join(held)] if held else parts


def _characters(texts: Sequence[str]) -> list[int]:
    return [len(text) for text in texts]
