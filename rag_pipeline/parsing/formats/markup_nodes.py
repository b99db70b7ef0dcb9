"""What single elements of HTML say: names, spans, headings, visibility."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from rag_pipeline.text import one_line

SKIPPED = frozenset(
    "script style template head noscript iframe embed canvas audio video rp rt datalist".split()
)
_HEADING = re.compile(r"^h([1-6])$")
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
MAX_SPAN = 1000
"""As the HTML standard limits columns (section 4.9.11)."""
BREAK = "\x1e"
"""Stands for `<br>` until white space is collapsed."""


def tag_of(node: etree._Element) -> str:
    """Name of an element in lower case without namespace; nothing for comments."""
    return node.tag.rpartition("}")[2].lower() if isinstance(node.tag, str) else ""


def heading_level(tag: str, node: etree._Element) -> int | None:
    """Level of a heading; None for other elements."""
    if match := _HEADING.match(tag):
        return int(match[1])
    return integer(node.get("aria-level"), 2) if node.get("role") == "heading" else None


def is_hidden(node: etree._Element) -> bool:
    """Does the page say that it is not shown? What a search within the page finds, is."""
    return node.get("hidden") not in (None, "until-found") or bool(
        _HIDDEN_STYLE.search(node.get("style") or "")
    )


def hidden_texts(root: etree._Element) -> list[str]:
    """Texts that a page holds and does not show."""
    return [" ".join(node.itertext(with_tail=False)) for node in root.iter() if _hides(node)]


def _hides(node: etree._Element) -> bool:
    return isinstance(node.tag, str) and is_hidden(node)


def integer(text: str | None, default: int) -> int:
    """The number that an attribute states, or the default."""
    try:
        return int(text) if text else default
    except ValueError:
        return default


def span(cell: etree._Element, name: str) -> int:
    """Columns or rows that a cell covers."""
    return max(1, min(integer(cell.get(name), 1), MAX_SPAN))


def rows(node: etree._Element) -> Iterator[etree._Element]:
    """Rows of a table itself, not of tables in its cells."""
    for child in node:
        tag = tag_of(child)
        if tag == "tr":
            yield child
        elif tag in ("thead", "tbody", "tfoot"):
            yield from rows(child)


def is_layout(node: etree._Element) -> bool:
    """A table that only places things: said so, one cell, or tables and headings within it."""
    if node.get("role") in ("presentation", "none"):
        return True
    if any(tag_of(one) in ("table", "h1", "h2", "h3", "h4") for one in node.iterdescendants()):
        return True
    cells = [cell for row in rows(node) for cell in row if tag_of(cell) in ("td", "th")]
    return len(cells) <= 1


def visible_text(node: etree._Element) -> Iterator[str]:
    """Text of a heading: without marks that link to it."""
    yield node.text or ""
    for child in node:
        tag = tag_of(child)
        mark = one_line("".join(child.itertext())) if tag == "a" else ""
        if tag == "br":
            yield " "
        elif tag and tag not in SKIPPED and not is_hidden(child) and mark not in ("#", "¶", "§"):
            yield from visible_text(child)
        yield child.tail or ""


def raw_text(node: etree._Element) -> Iterator[str]:
    """Text of a listing as it stands."""
    yield node.text or ""
    for child in node:
        tag = tag_of(child)
        if tag == "br":
            yield BREAK
        elif tag and tag not in SKIPPED:
            yield from raw_text(child)
        yield child.tail or ""
