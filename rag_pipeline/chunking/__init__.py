"""Structure to chunks: `chunk` turns a structured frame into a chunks frame, by a strategy."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from rag_pipeline.chunking.assemble import ChunkDraft, chunks_frame
from rag_pipeline.chunking.contextual import chunk_contextual
from rag_pipeline.chunking.tokens import CountTokens, TokenCounter
from rag_pipeline.settings import ChunkingSettings
from rag_pipeline.text import one_line

CHUNKING_VERSION = "1"
"""Raised with every change that may change chunks: stored documents are then stale."""

Strategy = Callable[[pd.DataFrame, ChunkingSettings, TokenCounter, str | None], list[ChunkDraft]]
"""Structured frame, settings, counter, title → drafts in reading order, counted."""

STRATEGIES: dict[str, Strategy] = {"contextual": chunk_contextual}


def chunk(
    structured: pd.DataFrame,
    settings: ChunkingSettings,
    count_tokens: CountTokens,
    *,
    title: str | None = None,
) -> pd.DataFrame:
    """Cut a document into chunks by `settings.strategy`.

    `structured`: a StructuredBlocks frame, rows in reading order. `count_tokens` counts texts in
    the embedding model's vocabulary; it is called a few times per document, with all texts at once.
    `title` stands in for the trail where no heading lies above. Returns a Chunks frame: what is
    embedded is `breadcrumb_trail`, a newline and `content`; `token_count` and `content_hash` are of
    that text. Page range and regions are of the chunk's own text, not of a header row or title
    that it repeats. Raises `DocumentError` where the result is malformed.
    """
    name = one_line(title) if title else None
    drafts = STRATEGIES[settings.strategy](structured, settings, TokenCounter(count_tokens), name)
    return chunks_frame(drafts)


__all__ = ["CHUNKING_VERSION", "STRATEGIES", "chunk"]
