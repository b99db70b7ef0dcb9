"""One page → its blocks in reading order."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from rag_pipeline.parsing.pdf.layout.columns import reading_order
from rag_pipeline.parsing.pdf.layout.geometry import (
    Box,
    Line,
    PageContent,
    PageWord,
    Style,
    bounding_box,
)
from rag_pipeline.parsing.pdf.layout.line_numbers import part_line_numbers
from rag_pipeline.parsing.pdf.layout.lines import column_lines, main_style, segments_of
from rag_pipeline.parsing.pdf.layout.paragraphs import PageBlock, blocks_of
from rag_pipeline.parsing.pdf.tables.aligned import Drawn, aligned_tables
from rag_pipeline.parsing.pdf.tables.grids import joined_rules
from rag_pipeline.parsing.pdf.tables.page_tables import Table, drawn_tables

FIGURE_SIDE = 40.0
"""Points; smaller images are icons and ornaments."""
PAGE_SHARE = 0.9
"""An image over this share of the page is its background or a scan."""
_NO_STYLE = Style(0.0, False, False, False, 0, "")


def page_blocks(content: PageContent) -> list[PageBlock]:
    """Lay out one page: text in reading order, figures where they stand, turned text last.

    Takes the numbers of lines out of its words.
    """
    content.words, content.line_numbers = part_line_numbers(content.words)
    tables = drawn_tables(content)
    columns = _columns(content, tables)
    if aligned := _aligned_tables(content, columns):
        tables += aligned
        columns = _columns(content, tables)
    blocks = [
        _table_block(block, tables)
        for column in columns
        for block in blocks_of(column_lines(column))
    ]
    blocks = _with_figures(blocks, content)
    in_tables = {id(word) for table in tables for word in table.words}
    return blocks + _turned_blocks([w for w in content.turned_words if id(w) not in in_tables])


def _columns(content: PageContent, tables: list[Table]) -> list[list[Line]]:
    """Columns of text in reading order; a table is one line of its column."""
    words = content.words
    if in_tables := {id(word) for table in tables for word in table.words}:
        words = [word for word in words if id(word) not in in_tables]
    segments = segments_of(words)
    segments += [_stand_in(table, number) for number, table in enumerate(tables)]
    return reading_order(segments)


def _aligned_tables(content: PageContent, columns: list[list[Line]]) -> list[Table]:
    """Tables that no grid is drawn for, within each column of text."""
    drawn: Drawn | None = None
    found: list[Table] = []
    for column in columns:
        rows = Counter(round(line.baseline / 2) for line in column if line.table is None)
        parted = sum(count > 1 for count in rows.values())
        if parted < 2:
            parted += sum(". . ." in line.text or "..." in line.text for line in column)
        if parted > 1:
            drawn = drawn or Drawn(joined_rules(content.rulings), content.fills)
            words = [word for line in column if line.table is None for word in line.words]
            found += aligned_tables(words, drawn)
    return found


def _stand_in(table: Table, number: int) -> Line:
    """A line in the place of a table, for the reading order."""
    words = sorted(table.words, key=lambda word: word.position)
    x0, y0, x1, y1 = table.box
    return Line(x0, y0, x1, y1, y0 + 1, "", main_style(words), words, table=number)


def _table_block(block: PageBlock, tables: list[Table]) -> PageBlock:
    """The table that a block stands for, or the block itself."""
    number = block.lines[0].table if block.lines else None
    block.lines = []
    if number is None:
        return block
    table = tables[number]
    text = "\n".join(" ".join(cell for cell in row if cell) for row in table.cells)
    return replace(block, kind="table", text=text, cells=table.cells, spans=table.spans)


def _with_figures(blocks: list[PageBlock], content: PageContent) -> list[PageBlock]:
    """Put each image before the first block that stands below its top in the same column."""
    area = content.width * content.height
    for box in content.images:
        width, height = box[2] - box[0], box[3] - box[1]
        if min(width, height) < FIGURE_SIDE or width * height > PAGE_SHARE * area:
            continue
        figure = PageBlock("figure", box, "", _NO_STYLE, column=(box[0], box[2]))
        blocks.insert(_place_of(box, blocks), figure)
    return blocks


def _place_of(box: Box, blocks: list[PageBlock]) -> int:
    for at, block in enumerate(blocks):
        beside = min(box[2], block.box[2]) > max(box[0], block.box[0])
        if beside and block.box[1] >= box[1]:
            return at
    return len(blocks)


def _turned_blocks(words: list[PageWord]) -> list[PageBlock]:
    """Text in another direction: neighbours in the stream make a block each."""
    groups: list[list[PageWord]] = []
    for word in words:
        if groups and _is_near(groups[-1][-1], word):
            groups[-1].append(word)
        else:
            groups.append([word])
    return [_turned_block(group) for group in groups]


def _is_near(a: PageWord, b: PageWord) -> bool:
    reach = 1.5 * max(a.style.size, b.style.size)
    across = max(a.x0, b.x0) - min(a.x1, b.x1)
    down = max(a.y0, b.y0) - min(a.y1, b.y1)
    return across < reach and down < reach


def _turned_block(words: list[PageWord]) -> PageBlock:
    box = bounding_box([(word.x0, word.y0, word.x1, word.y1) for word in words])
    return PageBlock(
        "text",
        box,
        " ".join(word.text for word in words),
        main_style(words),
        line_count=1,
        column=(box[0], box[2]),
        upright=False,
    )
