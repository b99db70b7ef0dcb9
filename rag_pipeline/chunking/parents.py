"""Parents for parent-child retrieval: search small chunks, read the section around them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from rag_pipeline.chunking.assemble import ChunkDraft, within_budget
from rag_pipeline.chunking.task import TokenCounter

Span = tuple[int, int]
"""First and last child of a parent."""


def add_parents(
    children: list[ChunkDraft],
    groups: Sequence[int],
    merge: Callable[[int, int], ChunkDraft],
    budget: int,
    counter: TokenCounter,
) -> list[ChunkDraft]:
    """Return the children followed by their parents, with `parent_index` set.

    `groups` names the major section of each child. A parent holds at least two consecutive children
    of one group and at most `budget` tokens (0: no parents); a longer section gets several parents
    of about the same size. `merge` makes the parent of the children from the first to the last, not
    counted yet.
    """
    spans: list[Span] = []
    start = 0
    for _, run in itertools.groupby(groups):
        end = start + len(list(run))
        spans += _parted([child.token_count for child in children[start:end]], start, budget)
        start = end

    def halves(span: Span, _: ChunkDraft) -> list[Span]:
        middle = sum(span) // 2
        return [(a, b) for a, b in ((span[0], middle), (middle + 1, span[1])) if a < b]

    parents = within_budget(spans, lambda span: merge(*span), halves, budget, counter)
    for number, ((first, last), _) in enumerate(parents, start=len(children)):
        for child in children[first : last + 1]:
            child.parent_index = number
    return children + [parent for _, parent in parents]


def _parted(tokens: Sequence[int], start: int, budget: int) -> list[Span]:
    """Divide consecutive children into spans of two or more, of about the same size."""
    if not budget or len(tokens) < 2:
        return []
    total = sum(tokens)
    enough = total / -(-total // budget)
    spans: list[Span] = []
    first, held = 0, 0
    for i, count in enumerate(tokens):
        if held and (held >= enough or held + count > budget):
            spans.append((start + first, start + i - 1))
            first, held = i, 0
        held += count
    spans.append((start + first, start + len(tokens) - 1))
    return [span for span in spans if span[0] < span[1]]
