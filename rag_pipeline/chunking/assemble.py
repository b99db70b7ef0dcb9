"""Drafts of chunks to the chunks frame: what every strategy ends with."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from rag_pipeline.chunking.regions import Box, merge_boxes
from rag_pipeline.frames import Chunks, check, empty


@dataclass(slots=True)
class ChunkDraft:
    """What a strategy says about a chunk; `boxes` are those of the blocks that its text is from."""

    kind: str
    breadcrumb_trail: str
    content: str
    boxes: list[Box]
    metadata: dict[str, Any] = field(default_factory=dict)
    token_count: int = 0
    parent_index: int | None = None

    @property
    def embedded_text(self) -> str:
        """The text that is embedded and counted: trail, newline, content."""
        return f"{self.breadcrumb_trail}\n{self.content}"


def chunks_frame(drafts: list[ChunkDraft]) -> pd.DataFrame:
    """Return the checked chunks frame of drafts in reading order."""
    if not drafts:
        return empty(Chunks)
    frame = pd.DataFrame(
        {
            "chunk_index": range(len(drafts)),
            "parent_index": pd.array([d.parent_index for d in drafts], dtype="Int64"),
            "kind": [d.kind for d in drafts],
            "breadcrumb_trail": [d.breadcrumb_trail for d in drafts],
            "content": [d.content for d in drafts],
            "context": pd.array([None] * len(drafts), dtype=object),
            "token_count": [d.token_count for d in drafts],
            "page_start": [min(box[0] for box in d.boxes) for d in drafts],
            "page_end": [max(box[0] for box in d.boxes) for d in drafts],
            "regions": [merge_boxes(d.boxes) for d in drafts],
            "content_hash": [
                hashlib.sha256(d.embedded_text.encode("utf-8")).hexdigest() for d in drafts
            ],
            "metadata": [d.metadata for d in drafts],
        }
    )
    return check(frame, Chunks)
