"""Drafts of chunks to the chunks frame: what every strategy ends with."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from rag_pipeline.chunking.regions import Box, merge_boxes
from rag_pipeline.frames import Chunks, check, empty


@dataclass(slots=True)
class ChunkDraft:
    """What a strategy says about a chunk; `boxes` are those of the blocks that its text is from.

    `starts`: where the text of each of them begins in `content`.
    `parent_index`: position of its parent among the drafts.
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

    Each on a line of its own; a context is there only where a language model wrote one.
    """
    return f"{trail}\n{context}\n{content}" if context else f"{trail}\n{content}"


def text_with_starts(parts: Sequence[str], before: Sequence[int]) -> tuple[str, list[int]]:
    """Join the parts of a chunk; return the text, bare at its ends, and offsets in it.

    `before`: of each offset, the number of parts that come before it.

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


def content_hash(text: str) -> str:
    """SHA-256 of an embedded text, hexadecimal."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def chunks_frame(drafts: list[ChunkDraft]) -> pd.DataFrame:
    """Return the checked chunks frame of drafts in reading order, parents behind them."""
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
