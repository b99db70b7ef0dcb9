"""Blocks frame → structured frame: the rules, in their order."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy as np
import pandas as pd

from rag_pipeline.frames import StructuredBlocks, check, empty
from rag_pipeline.line_marks import list_marker
from rag_pipeline.settings import StructureSettings
from rag_pipeline.structure.breadcrumbs import trails_of
from rag_pipeline.structure.footnotes import mark_footnotes
from rag_pipeline.structure.furniture import mark_furniture
from rag_pipeline.structure.headings.candidates import (
    mark_headings,
    mark_styled_lines,
)
from rag_pipeline.structure.headings.contents_entries import confirm_headings, drop_unnamed
from rag_pipeline.structure.headings.contents_pages import mark_contents, mark_repeated_titles
from rag_pipeline.structure.headings.cover import mark_cover
from rag_pipeline.structure.headings.heading_surroundings import drop_misleading
from rag_pipeline.structure.headings.levels import set_levels
from rag_pipeline.structure.headings.merging import merge_headings
from rag_pipeline.structure.headings.sequences import mark_sequences
from rag_pipeline.structure.items import Document, read_items
from rag_pipeline.structure.lists import group_lists, mark_admonitions, mark_bare_steps, mark_lists
from rag_pipeline.structure.signals import is_caption
from rag_pipeline.structure.table_groups import group_tables


def infer_structure(blocks: pd.DataFrame, settings: StructureSettings) -> pd.DataFrame:
    """Give every block a role, a level and a breadcrumb trail.

    `blocks` is a blocks frame in reading order; the result is the structured frame with the same
    rows, and a column `rule` that says why a block has its role and level.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> for line in explain("{14b} Oil pump", "~", "1. Open the valve.", "2. Drain the oil."):
    ...     print(line)
    heading: 14 pt over 10 pt text; level 1: style 14 pt bold
    procedure_step: procedure: number as marker
    procedure_step: procedure: number as marker
    """
    if blocks.empty:
        return empty(StructuredBlocks)
    document = read_items(blocks)
    mark_kinds(document)
    mark_furniture(document, settings)
    confirm_headings(document, mark_contents(document))
    mark_headings(document, settings)
    mark_styled_lines(document, settings)
    mark_repeated_titles(document)
    mark_sequences(document, settings)
    merge_headings(document)
    drop_misleading(document, settings)
    mark_cover(document, settings)
    drop_unnamed(document)
    mark_footnotes(document, settings)
    mark_code(document)
    mark_captions(document)
    mark_admonitions(document)
    mark_lists(document)
    mark_bare_steps(document)
    for item in document.undecided():
        item.decide("paragraph", "paragraph: no other rule applies")
    set_levels(document)
    last = group_lists(document, 0)
    group_tables(document, last)
    return check(_frame(blocks, document), StructuredBlocks)


def mark_kinds(document: Document) -> None:
    """Tables and figures are what the parser took them for.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> explain("~", "{t} 1 2")
    ['table: kind: table']
    """
    for item in document.items:
        if item.kind == "table":
            item.decide("table", "kind: table")
        elif item.kind == "figure":
            item.decide("figure", "kind: figure")


def mark_code(document: Document) -> None:
    """Fixed-width lines that are no headings are code.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> explain("~", "{m} x = 1")
    ['code: kind: fixed-width lines']
    """
    for item in document.undecided():
        if item.kind == "code" and not (list_marker(item.title) == "bullet" and item.lines < 4):
            item.decide("code", "kind: fixed-width lines")


def mark_captions(document: Document) -> None:
    """Give captions their role.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> explain("~", "Figure 1: The oil pump")
    ['caption: begins like one']
    """
    for item in document.undecided():
        if item.kind == "text" and item.lines <= 6 and is_caption(item.title):
            item.decide("caption", "caption: begins like one")


def _frame(blocks: pd.DataFrame, document: Document) -> pd.DataFrame:
    """The structured frame; blocks that were absorbed into a heading are left out."""
    document.items = [item for item in document.items if item.role != "absorbed"]
    items = document.items
    sections, trails = trails_of(document)
    places = np.array([item.index for item in items], dtype=np.intp)
    # One frame of whole columns: setting them one by one takes longer than inferring them.
    columns: dict[str, Any] = {str(name): blocks[name].array[places] for name in blocks.columns}
    for name in ("x0", "y0", "x1", "y1", "text"):
        columns[name] = list(map(attrgetter(name), items))
    columns["role"] = [item.role for item in items]
    columns["heading_level"] = pd.array([item.level for item in items], dtype="Int64")
    columns["list_level"] = pd.array([item.list_level for item in items], dtype="Int64")
    columns["group_id"] = pd.array([item.group for item in items], dtype="Int64")
    columns["section_id"] = sections
    columns["breadcrumb_trail"] = trails
    columns["rule"] = [item.rule for item in items]
    return pd.DataFrame(columns)
