"""The structured frame as body blocks and sections."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from rag_pipeline.chunking.regions import Box
from rag_pipeline.frames import FURNITURE_ROLES
from rag_pipeline.text import TRAIL_SEPARATOR, one_line

HEADING_ROLES = frozenset({"heading", "title"})


@dataclass(slots=True)
class BodyBlock:
    """A row of the structured frame that is not furniture."""

    box: Box
    text: str
    role: str
    level: int | None
    list_level: int
    group: int | None
    section: int
    trail: str
    cells: Any
    code_language: str = ""

    @property
    def is_heading(self) -> bool:
        """Whether the block opens a section."""
        return self.role in HEADING_ROLES


@dataclass(slots=True)
class BodySection:
    """A heading and the blocks below it up to the next heading.

    `level` is 0 for the title and for text before any heading. `parent` is the number of the
    nearest section above with a lower level, -1 if there is none. `numbers` holds its own number
    and those of the empty sections handed down to it. `major` counts the major sections so far.
    """

    number: int
    level: int
    parent: int
    trail: tuple[str, ...]
    is_major: bool
    has_body: bool = False
    blocks: list[BodyBlock] = field(default_factory=list)
    numbers: set[int] = field(default_factory=set)
    major: int = 0

    @property
    def heading(self) -> str | None:
        """Text of the section's own heading."""
        own = [one_line(block.text) for block in self.blocks if block.is_heading]
        return own[-1] if own else None


def body_blocks(structured: pd.DataFrame) -> list[BodyBlock]:
    """Return the rows that may reach a chunk: not furniture, with text, cells or a figure."""
    columns = (
        "page_number x0 y0 x1 y1 text role heading_level list_level group_id section_id "
        "breadcrumb_trail table_cells code_language"
    ).split()
    if "code_language" not in structured:
        structured = structured.assign(code_language="")
    # `tolist` gives plain Python values, many times faster than iterating over pandas rows.
    values = zip(*(structured[name].tolist() for name in columns), strict=True)
    return [
        BodyBlock(
            box=(page, x0, y0, x1, y1),
            text=text.strip("\n").rstrip(),
            role=role,
            level=None if pd.isna(level) else int(level),
            list_level=1 if pd.isna(list_level) else int(list_level),
            group=None if pd.isna(group) else int(group),
            section=section,
            trail=trail,
            cells=cells,
            code_language=language if isinstance(language, str) else "",
        )
        for page, x0, y0, x1, y1, text, role, level, list_level, group, *others in values
        for section, trail, cells, language in [others]
        if role not in FURNITURE_ROLES and (text.strip() or role in ("table", "figure"))
    ]


def gather_sections(blocks: list[BodyBlock], major_heading_level: int) -> list[BodySection]:
    """Gather blocks into sections: each heading opens one, and so does a change of `section_id`.

    A heading's own row may carry the trail with or without the heading, so the first block below it
    decides. A heading without text below it is handed down to the next section: alone in a chunk,
    it would be found for its words and say nothing.
    """
    sections: list[BodySection] = []
    section_id = -1
    for block in blocks:
        last = sections[-1] if sections else None
        if block.is_heading or last is None or (last.has_body and block.section != section_id):
            last = _open_section(block, sections, major_heading_level)
            sections.append(last)
        if not block.is_heading and not last.has_body:
            # A figure without text does not count as body.
            last.has_body = bool(block.text) or block.role == "table"
            last.trail = split_trail(block.trail)
        section_id = block.section
        last.blocks.append(block)
    return _hand_down(sections)


def split_trail(trail: str) -> tuple[str, ...]:
    """Return the headings of a trail."""
    return tuple(one_line(part) for part in trail.split(TRAIL_SEPARATOR)) if trail.strip() else ()


def _open_section(
    block: BodyBlock, sections: list[BodySection], major_heading_level: int
) -> BodySection:
    trail = split_trail(block.trail)
    if block.role == "title":
        level = 0
    elif block.role == "heading":
        level = block.level or max(1, len(trail))
    else:
        level = len(trail)
    parent = len(sections) - 1
    while parent >= 0 and sections[parent].level >= level:
        parent = sections[parent].parent
    number = len(sections)
    return BodySection(
        number=number,
        level=level,
        parent=parent,
        trail=trail,
        is_major=not block.is_heading or level <= major_heading_level,
        numbers={number},
    )


def _hand_down(sections: list[BodySection]) -> list[BodySection]:
    kept: list[BodySection] = []
    majors = 0
    for section, following in itertools.zip_longest(sections, sections[1:]):
        if section.has_body or following is None:
            majors += section.is_major
            section.major = majors
            kept.append(section)
            continue
        following.blocks = section.blocks + following.blocks
        following.is_major |= section.is_major
        if following.level > section.level:
            following.numbers |= section.numbers
            following.parent = section.parent
    return kept
