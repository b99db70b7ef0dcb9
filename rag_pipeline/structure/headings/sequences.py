"""Headings that only their numbering gives away: 1 / 1.1 / 1.1.1 in the size of the text."""

from __future__ import annotations

from rag_pipeline.settings import StructureSettings
from rag_pipeline.structure.items import Document, Item

_SENTENCE_END = ".,;:、，。；："


def mark_sequences(document: Document, settings: StructureSettings) -> None:
    """Make headings of short numbered lines that continue the numbering of those before.

    A line `2.3` counts after `2.2`, after `2`, or first below a known `2`. A single number (`3`)
    counts only if a deeper line (`3.1`) follows before the next single one.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> explain("1 Oil", "~", "1.1 Filter", "~", "1.2 Pump", "~")[1]
    'heading: continues the numbering; level 2: decimal numbering of depth 2'
    """
    last: dict[str, int] = {}
    _mark_previews(document, settings)
    lines = [
        (item, _parts(item))
        for item in document.items
        if item.role == "heading" or _may_be(item, settings)
    ]
    for at, (item, parts) in enumerate(lines):
        if not parts:
            continue
        prefix, number = ".".join(parts[:-1]), int(parts[-1])
        if item.role != "heading":
            if len(parts) == 1:
                accepted = number == last.get("", 0) + 1 and _is_continued(lines, at, parts)
            else:
                accepted = _follows(prefix, number, last)
            if not accepted:
                continue
            item.decide("heading", "heading: continues the numbering")
        last[prefix] = number
        for known in [key for key in last if key.startswith(".".join(parts) + ".")]:
            del last[known]
        last.pop(".".join(parts), None)


def _mark_previews(document: Document, settings: StructureSettings) -> None:
    """Numbered lines that come again as a heading are a list of what the chapter holds.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> explain("{14b} 1 Oil", "1.1 Filter", "~", "{12b} 1.1 Filter", "~")[1]
    'contents_entry: contents: comes again as a heading'
    """
    latest = {
        (item.numbering, item.title): item.index
        for item in document.items
        if item.role == "heading" and item.numbering is not None
    }
    for item in document.items:
        if item.numbering is None or not _may_be(item, settings):
            continue
        if latest.get((item.numbering, item.title), -1) > item.index:
            item.decide("contents_entry", "contents: comes again as a heading")


def _may_be(item: Item, settings: StructureSettings) -> bool:
    if item.role or item.kind != "text" or item.lines > 2 or not item.upright:
        return False
    title = item.title
    if not title or title[-1] in _SENTENCE_END or item.numbering is None:
        return False
    return len(title) <= settings.heading_bold_characters and item.numbering.kind == "decimal"


def _parts(item: Item) -> list[str]:
    """`2.3` → ["2", "3"]; nothing for other kinds of numbering."""
    numbering = item.numbering
    if numbering is None or not numbering.label.isdigit():
        return []
    return [*(numbering.prefix.split(".") if numbering.prefix else []), numbering.label]


def _follows(prefix: str, number: int, last: dict[str, int]) -> bool:
    """Is it the next of its siblings, or the first below a known parent?"""
    if prefix in last:
        return number == last[prefix] + 1
    parent, _, label = prefix.rpartition(".")
    return number == 1 and label.isdigit() and last.get(parent) == int(label)


def _is_continued(lines: list[tuple[Item, list[str]]], at: int, parts: list[str]) -> bool:
    for _, following in lines[at + 1 :]:
        if len(following) == 1:
            return False
        if len(following) == 2:
            return following == [parts[0], "1"]
    return False
