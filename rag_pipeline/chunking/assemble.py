"""From pieces to counted drafts of chunks, and from drafts to the chunks frame."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pandas as pd

from rag_pipeline.chunking.chunk_trails import Trails
from rag_pipeline.chunking.regions import Box, merge_boxes
from rag_pipeline.chunking.sections.units import UnitPiece
from rag_pipeline.chunking.task import TokenCounter
from rag_pipeline.frames import Chunks, check, empty

Part = TypeVar("Part")


@dataclass(slots=True)
class ChunkDraft:
    """A chunk as a strategy makes it.

    `boxes`: those of the blocks its text comes from. `starts`: where the text of each box begins in
    `content`. `parent_index`: position of its parent among the drafts.
    """

    kind: str
    breadcrumb_trail: str
    content: str
    boxes: list[Box]
    starts: list[int]
    metadata: dict[str, Any] = field(default_factory=dict)
    token_count: int = 0
    parent_index: int | None = None

    @property
    def embedded_text(self) -> str:
        """The text that is embedded and counted."""
        return embedded_text(self.breadcrumb_trail, None, self.content)


def embedded_text(trail: str, context: str | None, content: str) -> str:
    """Return what is embedded, counted, hashed and indexed for words: trail, context, content.

    Each starts on a new line; only chunks with a context by a language model have one.
    """
    return f"{trail}\n{context}\n{content}" if context else f"{trail}\n{content}"


def text_with_starts(parts: Sequence[str], before: Sequence[int]) -> tuple[str, list[int]]:
    """Join the parts of a chunk; return the stripped text and offsets in it.

    `before`: for each offset, the number of parts before it.

    >>> text_with_starts(["\\n", "pump", " ", "oil", "\\n"], [1, 3])
    ('pump oil', [0, 5])
    """
    joined = "".join(parts)
    bare = joined.lstrip("\n")
    text = bare.rstrip()
    lengths = [0, *itertools.accumulate(map(len, parts))]
    shift = len(joined) - len(bare)
    ends = len(lengths) - 1
    return text, [min(len(text), max(0, lengths[min(n, ends)] - shift)) for n in before]


def draft_of(
    weighed: Sequence[tuple[UnitPiece, int]],
    content: tuple[str, list[int]],
    trails: Trails,
    kind: str | None = None,
) -> ChunkDraft:
    """Make a chunk of pieces, not counted yet.

    `weighed`: each piece and its weight in choosing the kind, unless `kind` is given. `content`:
    the text, and where in it each piece begins. The metadata are the heading of the first section,
    the roles in order of appearance, and the first and last step number.
    """
    pieces = [piece for piece, _ in weighed]
    # A heading handed down from above does not widen the trail to what lies above the text.
    sections = {piece.section.number: piece.section for piece in pieces}
    metadata: dict[str, Any] = {"roles": list(dict.fromkeys(p.block.role for p in pieces))}
    if pieces and (heading := pieces[0].section.heading):
        metadata["heading"] = heading
    if steps := [piece.step for piece in pieces if piece.step is not None]:
        metadata["step_range"] = [steps[0], steps[-1]]
    return ChunkDraft(
        kind=kind or _main_kind(weighed),
        breadcrumb_trail=trails.common([section.trail for section in sections.values()]),
        content=content[0],
        boxes=[piece.block.box for piece in pieces],
        starts=content[1],
        metadata=metadata,
    )


def _main_kind(weighed: Sequence[tuple[UnitPiece, int]]) -> str:
    """Return the kind with the most weight; `text` if there are only headings."""
    weights: Counter[str] = Counter()
    for piece, weight in weighed:
        if piece.kind:
            weights[piece.kind] += weight
    return max(weights, key=lambda kind: weights[kind]) if weights else "text"


def within_budget(
    parts: Sequence[Part],
    make: Callable[[Part], ChunkDraft],
    split: Callable[[Part, ChunkDraft], Sequence[Part] | None],
    budget: int,
    counter: TokenCounter,
) -> list[tuple[Part, ChunkDraft]]:
    """Make and count a chunk of each part, in order; split those above the budget until all fit.

    `split` returns what replaces a part, or None if it cannot be split: it then stays as it is.
    Chunks are counted in batches, one for each round of splitting.
    """
    pending: list[tuple[tuple[int, ...], Part]] = [((i,), part) for i, part in enumerate(parts)]
    done: list[tuple[tuple[int, ...], Part, ChunkDraft]] = []
    while pending:
        drafts = [make(part) for _, part in pending]
        counts = counter.whole([draft.embedded_text for draft in drafts])
        longer: list[tuple[tuple[int, ...], Part]] = []
        for (place, part), draft, count in zip(pending, drafts, counts, strict=True):
            draft.token_count = count
            smaller = split(part, draft) if count > budget else None
            if smaller is None:
                done.append((place, part, draft))
            else:
                longer += [((*place, i), found) for i, found in enumerate(smaller)]
        pending = longer
    done.sort(key=lambda item: item[0])
    return [(part, draft) for _, part, draft in done]


def content_hash(text: str) -> str:
    """SHA-256 of an embedded text, hexadecimal."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def chunks_frame(drafts: list[ChunkDraft]) -> pd.DataFrame:
    """Return the checked chunks frame of drafts: children in reading order, then parents."""
    if not drafts:
        return empty(Chunks)
    frame = pd.DataFrame(
        {
            "chunk_index": range(len(drafts)),
            "parent_index": pd.array([d.parent_index for d in drafts], dtype="Int64"),
            "kind": [d.kind for d in drafts],
            "breadcrumb_trail": [d.breadcrumb_trail for d in drafts],
            "content": [d.content for d in drafts],
            "context": pd.Series([None] * len(drafts), dtype=object),
            "token_count": [d.token_count for d in drafts],
            "page_start": [min(box[0] for box in d.boxes) for d in drafts],
            "page_end": [max(box[0] for box in d.boxes) for d in drafts],
            "regions": [merge_boxes(d.boxes, d.starts) for d in drafts],
            "content_hash": [content_hash(d.embedded_text) for d in drafts],
            "metadata": [d.metadata for d in drafts],
        }
    )
    return check(frame, Chunks)
