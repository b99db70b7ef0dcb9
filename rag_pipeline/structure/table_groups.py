"""Tables: every table is a group; parts of one over a page break share it."""

from __future__ import annotations

from rag_pipeline.structure.items import Document, Item

SAME_EDGE = 0.025
"""Share of the page's width by which the edges of two parts may differ."""
Rows = list[list[str]]
Spans = list[list[tuple[int, int]]]
_FURNITURE = frozenset({"page_header", "page_footer", "footnote", "absorbed"})


def group_tables(document: Document, group: int) -> int:
    """Number the tables, after `group`; return the last number."""
    last: Item | None = None
    for item in document.items:
        if item.role in _FURNITURE:
            continue
        if item.role == "table":
            if last is not None and continues(last, item):
                item.group = last.group
                item.rule += "; goes on from the page before"
            elif item.group is None:
                group += 1
                item.group = group
            last = item
        elif last is not None and not _is_continued_note(item):
            last = None
    return group


def continues(above: Item, below: Item) -> bool:
    """Is a table the next part of the one before: next page, same columns, same edges?"""
    if below.page != above.page + 1 or above.cells is None or below.cells is None:
        return False
    if len(above.cells[0]) != len(below.cells[0]):
        return False
    return abs(above.x0 - below.x0) < SAME_EDGE and abs(above.x1 - below.x1) < SAME_EDGE


def joined_parts(above: tuple[Rows, Spans], below: tuple[Rows, Spans]) -> tuple[Rows, Spans]:
    """One table of two parts: a header that is repeated is left out.

    A first row without a label, and with no more cells than the row above, goes on with that row.

    >>> one = [(1, 1), (1, 1)]
    >>> joined_parts(
    ...     ([["Code", "Remedy"], ["E-1", "Drain"]], [one, one]),
    ...     ([["Code", "Remedy"], ["", "the oil"], ["E-2", "Wait"]], [one, one, one]),
    ... )[0]
    [['Code', 'Remedy'], ['E-1', 'Drain the oil'], ['E-2', 'Wait']]
    """
    (texts, marks), (more, more_marks) = above, below
    repeated = 0
    while repeated < min(len(more) - 1, len(texts)) and more[repeated] == texts[repeated]:
        repeated += 1
    more, more_marks = more[repeated:], more_marks[repeated:]
    first, last = more[0], texts[-1]
    continued = [there for here, there in zip(first, last, strict=True) if here]
    goes_on = not first[0] and last[0] and all(continued)
    if goes_on and continued:
        last = [f"{there} {here}".strip() for here, there in zip(first, last, strict=True)]
        return [*texts[:-1], last, *more[1:]], [*marks, *more_marks[1:]]
    return [*texts, *more], [*marks, *more_marks]


def _is_continued_note(item: Item) -> bool:
    """`Table 3 (continued)` between two parts."""
    title = item.title.lower()
    marks = ("continued", "cont.", "fortsetzung", "suite", "계속", "続き", "续", "continuación")
    return (
        item.role in ("caption", "paragraph")
        and len(title) < 120
        and any(mark in title for mark in marks)
    )
