"""Blocks of a section to units: what stays together, as pieces between which it may be split.

A unit is a procedure with its heading, lead-in and warnings, a list, a table with its caption, a
code listing, or one paragraph. A piece is a step, an item, a table row or a paragraph. A glued
piece stays with the next one. The context of a piece is what a part that begins there must repeat:
the heading and lead-in of a procedure, the lead-in of a list, the caption and header row of a
table.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

from rag_pipeline.chunking.sections import binding
from rag_pipeline.chunking.sections.body_blocks import BodyBlock, BodySection
from rag_pipeline.chunking.sections.table_text import (
    cell_rows,
    lines_beside,
    markdown_header,
    markdown_row,
)
from rag_pipeline.text import one_line


@dataclass(slots=True)
class Context:
    """Pieces repeated by every part of a split unit."""

    pieces: list[UnitPiece] = field(default_factory=list)


@dataclass(slots=True)
class UnitPiece:
    """The smallest part of a unit.

    `kind` is the chunk kind it suggests, "" for headings. `joiner` separates it from what is above.
    Parts of a split piece share its `key`. `tokens` is filled in when all pieces are counted.
    """

    text: str
    block: BodyBlock
    section: BodySection
    kind: str
    joiner: str
    key: int
    glued: bool = False
    context: Context | None = None
    step: int | None = None
    tokens: int = 0


Unit = list[UnitPiece]


class UnitBuilder:
    """Builds the units of a document's sections; `contexts` collects what split units repeat."""

    def __init__(self) -> None:
        self.contexts: list[Context] = []
        self._keys = itertools.count()

    def units(self, section: BodySection) -> list[Unit]:
        """Return the units of a section, in reading order."""
        blocks = section.blocks
        glued = binding.glue(blocks)
        ends = binding.group_ends(blocks)
        units: list[Unit] = []
        title: UnitPiece | None = None
        start = 0
        while start < len(blocks):
            last = position = start
            while position <= last:
                last = max(last, ends[position], position + glued[position])
                position += 1
            unit = self._unit(section, start, last + 1, glued, ends, title)
            title = next((p for p in reversed(unit) if p.block.is_heading), title)
            units.append(unit)
            start = last + 1
        return units

    def _unit(
        self,
        section: BodySection,
        start: int,
        end: int,
        glued: list[bool],
        ends: list[int],
        title: UnitPiece | None,
    ) -> Unit:
        """Build the unit of the blocks from `start` to `end` (exclusive)."""
        blocks = section.blocks[start:end]
        kinds = binding.chunk_kinds(section.blocks, glued, ends, start, end)
        numbers = binding.step_numbers(blocks)
        numbered = binding.lacks_numbers(blocks)
        texts = [
            None if block.role == "table" else self._text(section, block, kind, number, numbered)
            for block, kind, number in zip(blocks, kinds, numbers, strict=True)
        ]
        for offset, piece in enumerate(texts):
            if piece:
                piece.glued = glued[start + offset] and offset + 1 < len(blocks)
        unit: Unit = []
        lead: Context | None = None
        offset = 0
        while offset < len(blocks):
            if lead is None and kinds[offset] in ("procedure", "list"):
                lead = self._lead(unit, title, kinds[offset])
            piece = texts[offset]
            if piece:
                piece.context = lead
                unit.append(piece)
                offset += 1
                continue
            stop = min(ends[start + offset] + 1 - start, len(blocks))
            caption = _caption(texts, offset, stop, glued[start + stop - 1])
            table = self._table(section, blocks[offset:stop], texts[offset:stop], lead, caption)
            table[-1].glued = glued[start + stop - 1] and stop < len(blocks)
            unit.extend(table)
            offset = stop
        return unit

    def _context(self, *pieces: UnitPiece) -> Context:
        context = Context(list(pieces))
        self.contexts.append(context)
        return context

    def _lead(self, above: Unit, title: UnitPiece | None, kind: str) -> Context:
        """Return what the parts of a list or procedure repeat: lead-in, a procedure's heading."""
        heading = next((p for p in reversed(above) if p.block.is_heading), title)
        repeated = [heading] if heading and kind == "procedure" else []
        repeated += [p for p in above if p.block.role == "paragraph" and p.glued]
        return self._context(*repeated)

    def _text(
        self, section: BodySection, block: BodyBlock, kind: str, number: int | None, numbered: bool
    ) -> UnitPiece:
        """Make the piece of a block other than a table; `numbered`: write the step's number."""
        if block.is_heading:
            return UnitPiece(one_line(block.text), block, section, "", "\n\n", next(self._keys))
        text = block.text
        if numbered and number is not None:
            text = f"{number}. {text}"
        if block.role in binding.ITEM_ROLES:
            text = "  " * min(block.list_level - 1, 8) + text
        elif block.role == "code":
            kind = "code"
        joiner = "\n" if kind in ("procedure", "list", "code") else "\n\n"
        return UnitPiece(text, block, section, kind, joiner, next(self._keys), step=number)

    def _table(
        self,
        section: BodySection,
        blocks: list[BodyBlock],
        texts: list[UnitPiece | None],
        lead: Context | None,
        caption: UnitPiece | None,
    ) -> Unit:
        """Make the pieces of one table: header and rows of all its blocks, then what was between.

        A table across a page break is several blocks of one group: a header repeated on the next
        page is dropped; footnotes and captions between its parts follow the rows.
        """
        outer = (lead.pieces if lead else []) + ([caption] if caption else [])
        above = self._context(*outer)
        within = self._context(*outer)
        unit: Unit = []

        def add(text: str, block: BodyBlock, context: Context) -> UnitPiece:
            key = next(self._keys)
            unit.append(UnitPiece(text, block, section, "table", "\n", key, context=context))
            return unit[-1]

        header: tuple[str, ...] | None = None
        for block in blocks:
            if block.role != "table":
                continue
            rows = cell_rows(block.cells)
            beside = lines_beside(block.text, rows)
            if not rows:
                rows = [(one_line(line),) for line in block.text.splitlines() if line.strip()]
                beside = []
            if header is None and rows:
                header = rows.pop(0)
                first = add(markdown_header(header), block, above)
                first.glued = bool(rows)
                within.pieces.append(first)
            elif rows and rows[0] == header:
                rows.pop(0)
            for text in (*map(markdown_row, rows), *map(one_line, beside)):
                add(text, block, within)
            if not unit or unit[-1].block is not block:
                add("", block, within)  # no text of its own, only a region
        between = [piece for piece in texts if piece]
        for piece in between:
            piece.glued = False
            piece.context = lead
        unit[0].joiner = "\n\n"
        return unit + between


def _caption(
    texts: list[UnitPiece | None], start: int, stop: int, glued_below: bool
) -> UnitPiece | None:
    """Return the caption of the table from `start` to `stop`: just above, within or just below."""
    above = texts[start - 1] if start else None
    if above and above.glued and _is_caption(above):
        return above
    for piece in texts[start:stop]:
        if _is_caption(piece):
            return piece
    below = texts[stop] if glued_below and stop < len(texts) else None
    return below if _is_caption(below) else None


def _is_caption(piece: UnitPiece | None) -> bool:
    return piece is not None and piece.block.role == "caption"
