"""Parents for parent-child retrieval: small chunks are found, the section around them is read."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from rag_pipeline.chunking.assemble import ChunkDraft
from rag_pipeline.chunking.token_counts import TokenCounter

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

    `groups` names the major section of each child; a parent holds consecutive children of one
    group, at least two, and at most `budget` tokens: a longer section gives several parents of
    about the same size, parted between children. `merge` makes the parent of the children from the
    first to the last, not counted yet. `budget` 0: no parents.
    """
    spans: list[Span] = []
    start = 0
    for _, run in itertools.groupby(groups):
        end = start + len(list(run))
        spans += _parted([child.token_count for child in children[start:end]], start, budget)
        start = end
    parents: list[tuple[Span, ChunkDraft]] = []
    while spans:
        made = [merge(*span) for span in spans]
        counts = counter.whole([parent.embedded_text for parent in made])
        longer: list[Span] = []
        for (first, last), parent, count in zip(spans, made, counts, strict=True):
            parent.token_count = count
            if count <= budget:
                parents.append(((first, last), parent))
            else:
                middle = (first + last) // 2
                longer += [s for s in ((first, middle), (middle + 1, last)) if s[0] < s[1]]
        spans = longer
    parents.sort(key=lambda item: item[0])
    for number, ((first, last), _) in enumerate(parents, start=len(children)):
        for child in children[first : last + 1]:
            child.parent_index = number
    return children + [parent for _, parent in parents]


def _parted(tokens: Sequence[int], start: int, budget: int) -> list[Span]:
    """Part consecutive children into spans of two or more, of about the same size."""
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
