"""Lists and procedures: items by their markers, nesting by indentation, groups by neighbourhood."""

from __future__ import annotations

import re

from rag_pipeline.line_marks import label_value, list_marker
from rag_pipeline.structure.items import Document, Item
from rag_pipeline.structure.signals import is_admonition, is_signal_word


def mark_lists(document: Document) -> None:
    """Give list items and steps of procedures their roles.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> explain("~", "• oil", "1. Open the valve.")
    ['list_item: list: bullet', 'procedure_step: procedure: number as marker']
    """
    for item in document.undecided():
        if not item.upright:
            continue
        item.marker = list_marker(item.title)
        item.value = label_value(item.title)
        if item.marker == "bullet":
            item.decide("list_item", "list: bullet")
        elif item.marker:
            item.decide("procedure_step", f"procedure: {item.marker} as marker")


def mark_bare_steps(document: Document) -> None:
    """Make steps of lines numbered without a mark, `1 Open the cover`, where they count on from 1.

    A single such line may be a sentence that begins with a quantity: two at one edge count on.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> for line in explain("~", "1 Open the valve", "2 Drain the oil"):
    ...     print(line)
    procedure_step: procedure: bare numbers that count on
    procedure_step: procedure: bare numbers that count on
    """
    open_at: Item | None = None
    for item in document.items:
        if item.role in _SKIPPED:
            continue
        value = _bare_number(item)
        if value is None:
            open_at = None if item.role in _BORDERS else open_at
            continue
        goes_on = (
            open_at is not None
            and open_at.value == value - 1
            and abs(open_at.x0 - item.x0) < INDENT
            and item.page <= open_at.page + 1
        )
        item.value = value
        if goes_on and open_at is not None:
            for step in (open_at, item):
                step.marker = "number"
                step.decide("procedure_step", "procedure: bare numbers that count on")
        if goes_on or value == 1:
            open_at = item


_BARE_NUMBER = re.compile(r"^(\d{1,2})\s+(?=[^\W\d])")


def _bare_number(item: Item) -> int | None:
    """The number that an undecided block begins with, no mark after it."""
    if item.role or item.kind != "text" or not item.upright:
        return None
    match = _BARE_NUMBER.match(item.title)
    return int(match[1]) if match else None


_SKIPPED = frozenset({"page_header", "page_footer", "footnote", "figure", "absorbed"})
_BORDERS = frozenset({"heading", "title", "contents_entry"})
_ITEMS = frozenset({"list_item", "procedure_step"})
MAX_BETWEEN = 4
"""Blocks between two steps that go on counting."""
INDENT = 0.012
"""Share of the page's width by which nested text stands further in."""


def group_lists(document: Document, group: int) -> int:
    """Number lists and procedures and set the nesting of their items; return the last number.

    A group holds its items, text that is indented below them, admonitions between them (and right
    before the first), and whatever stands between two steps that go on counting.
    """
    current: list[Item] = []
    between: list[Item] = []
    for item in document.items:
        if item.role in _SKIPPED:
            continue
        if item.role in _ITEMS:
            if current and (_starts_anew(item, current) or not _connected(item, current, between)):
                group = _close(current, group)
                between = [one for one in between if one.role == "admonition"]
                current = []
            current = [*current, *between, item] if current else [*_admonitions(between), item]
            between = []
        elif item.role in _BORDERS:
            group, current, between = _close(current, group), [], []
        elif current and _is_inside(item, current):
            current += [*between, item]
            between = []
        else:
            between.append(item)
            if len(between) > MAX_BETWEEN:
                group, current = _close(current, group), []
                between = between[-1:]
    return _close(current, group)


def _admonitions(between: list[Item]) -> list[Item]:
    """Admonitions that stand right before a list."""
    found: list[Item] = []
    for item in reversed(between):
        if item.role != "admonition":
            break
        found.insert(0, item)
    return found


def _is_inside(item: Item, current: list[Item]) -> bool:
    """Text that stands further in than the markers belongs to the item above it."""
    if item.role == "admonition":
        return False
    left = min(one.x0 for one in current if one.role in _ITEMS)
    return item.x0 > left + INDENT and current[-1].page >= item.page - 1


def _connected(item: Item, current: list[Item], between: list[Item]) -> bool:
    """Nothing but admonitions lies between, or the step goes on counting."""
    if all(one.role == "admonition" for one in between):
        return True
    return item.value is not None and any(
        one.value == item.value - 1 and abs(one.x0 - item.x0) < INDENT
        for one in current
        if one.role == "procedure_step"
    )


def _starts_anew(item: Item, current: list[Item]) -> bool:
    """A step 1 at the same indentation as a step before begins another procedure."""
    if item.role != "procedure_step" or item.value != 1:
        return False
    same = [
        one for one in current if one.role == "procedure_step" and abs(one.x0 - item.x0) < INDENT
    ]
    outer = [one for one in current if one.role in _ITEMS and one.x0 < item.x0 - INDENT]
    return bool(same) and not outer


def _close(current: list[Item], group: int) -> int:
    """Write the group and the nesting, one level an indentation; return the group's number.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> for line in explain("~", "1. Open the valve.", "{@0.16} a) the left one"):
    ...     print(line)
    procedure_step: procedure: number as marker
    procedure_step: procedure: letter as marker
    """
    if not current:
        return group
    stack: list[float] = []
    for item in current:
        item.group = group + 1
        if item.role not in _ITEMS:
            continue
        while stack and item.x0 < stack[-1] - INDENT:
            stack.pop()
        if not stack or item.x0 > stack[-1] + INDENT:
            stack.append(item.x0)
        item.list_level = len(stack)
    return group + 1


def mark_admonitions(document: Document) -> None:
    """Give warnings and notes their role; below a signal word alone stands their text.

    >>> from rag_pipeline.inspection.rule_examples import explain
    >>> explain("~", "WARNING", "Hot oil.")
    ['admonition: signal word', 'admonition: text below a signal word']
    """
    open_box: Item | None = None
    for item in document.items:
        if item.role in ("page_header", "page_footer", "absorbed"):
            continue
        if item.role or item.kind != "text" or not item.upright:
            open_box = None
        elif is_admonition(item.text, item.bold_lead):
            item.decide("admonition", "admonition: signal word")
            open_box = item if is_signal_word(item.title) else None
        elif open_box is not None and _is_below(item, open_box) and not list_marker(item.title):
            item.decide("admonition", "admonition: text below a signal word")
            open_box = None
        else:
            open_box = None


def _is_below(item: Item, word: Item) -> bool:
    """Right below or beside a signal word, at the same edge or further in."""
    gap = (item.y0 - word.y1) * item.page_height
    return item.page == word.page and gap < 1.5 * max(item.size, 1.0) and item.x0 > word.x0 - 0.02
