"""Lists and procedures: items by their markers, nesting by indentation, groups by neighbourhood."""

from __future__ import annotations

import re

from rag_pipeline.structure.items import Document, Item
from rag_pipeline.structure.signals import is_admonition

_BULLET = re.compile(r"^(?:[•◦▪▫●○■□◆◇▶►▸➢➔→✓✔❖‣⁃∙·※★☆ㆍ]\s*|[-–—*+o]\s+)(?=\S)")
_STEP = re.compile(
    r"^(?:(?P<word>(?:step|schritt|étape|paso|단계|步骤|手順)\s*\d+)|\(?(?P<label>\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)]"
    r"|(?P<circled>[①-⑳❶-❿㉮-㉻])|(?P<hangul>[가-하])[.)])(?=\s|$)",
    re.IGNORECASE,
)


def list_marker(text: str) -> str:
    """Kind of the marker that a text begins with: `bullet`, `number`, `letter` or nothing.

    >>> list_marker("• oil"), list_marker("3. Turn"), list_marker("a) first"), list_marker("Text")
    ('bullet', 'number', 'letter', '')
    """
    if _BULLET.match(text):
        return "bullet"
    match = _STEP.match(text)
    if not match:
        return ""
    label = match["label"] or ""
    return "letter" if label.isalpha() or match["hangul"] else "number"


def mark_lists(document: Document) -> None:
    """Give list items and steps of procedures their roles."""
    for item in document.undecided():
        if item.kind != "text" or not item.upright:
            continue
        item.marker = list_marker(item.title)
        if item.marker == "bullet":
            item.decide("list_item", "list: bullet")
        elif item.marker:
            item.decide("procedure_step", f"procedure: {item.marker} as marker")


def group_lists(document: Document, first_group: int) -> int:
    """Number lists and procedures, and set the nesting of their items; return the next number.

    Text that is indented below an item, and admonitions between two steps, belong to the group.
    """
    group = first_group
    current: list[Item] = []
    pending: list[Item] = []
    for item in document.items:
        if item.role in ("page_header", "page_footer", "footnote", "figure"):
            continue
        if item.role in ("list_item", "procedure_step"):
            if not current:
                group += 1
                current = _leading_admonitions(pending)
            current.extend(
                pending if current and pending and current[-1] is not pending[-1] else []
            )
            pending = []
            current.append(item)
        elif item.role in {"heading", "title", "contents_entry"}:
            _close(current, group)
            current, pending = [], []
        elif _belongs(item, current):
            pending.append(item)
        else:
            _close(current, group)
            current, pending = [], [item] if item.role == "admonition" else []
    _close(current, group)
    return group


def _leading_admonitions(pending: list[Item]) -> list[Item]:
    return [item for item in pending if item.role == "admonition"]


def _belongs(item: Item, current: list[Item]) -> bool:
    if not current:
        return False
    if item.role == "admonition":
        return True
    first = next(one for one in current if one.role in ("list_item", "procedure_step"))
    return item.x0 > first.x0 + 0.01


def _close(current: list[Item], group: int) -> None:
    """Write the group and the nesting: one level an indentation."""
    stack: list[float] = []
    for item in current:
        item.group = group
        if item.role not in ("list_item", "procedure_step"):
            continue
        while stack and item.x0 < stack[-1] - 0.012:
            stack.pop()
        if not stack or item.x0 > stack[-1] + 0.012:
            stack.append(item.x0)
        item.list_level = len(stack)


def mark_admonitions(document: Document) -> None:
    """Give warnings and notes their role."""
    for item in document.undecided():
        if item.kind == "text" and item.upright and is_admonition(item.text, item.bold_lead):
            item.decide("admonition", "admonition: signal word")
