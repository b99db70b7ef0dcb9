"""Structure to chunks: `chunk` turns a structured frame into a chunks frame, by a strategy."""

from __future__ import annotations

import pandas as pd

from rag_pipeline.chunking.assemble import chunks_frame, content_hash, embedded_text
from rag_pipeline.chunking.chunk_contexts import add_contexts
from rag_pipeline.chunking.strategies.contextual import chunk_contextual
from rag_pipeline.chunking.strategies.recursive import chunk_by_headers, chunk_recursive
from rag_pipeline.chunking.strategies.semantic import chunk_semantic
from rag_pipeline.chunking.strategies.source_code import chunk_code, is_source_code
from rag_pipeline.chunking.strategies.windowed import (
    chunk_fixed_size,
    chunk_paragraph,
    chunk_sentence,
)
from rag_pipeline.chunking.strategy import Embed, Strategy, Task
from rag_pipeline.chunking.surrounding_words import indexed_texts
from rag_pipeline.chunking.token_counts import CountTokens, TokenCounter
from rag_pipeline.settings import ChunkingSettings
from rag_pipeline.text import one_line

CHUNKING_VERSION = "3"
"""Raised with every change that may change chunks: stored documents are then stale."""

STRATEGIES: dict[str, Strategy] = {
    "contextual": chunk_contextual,
    "fixed_size": chunk_fixed_size,
    "sentence": chunk_sentence,
    "paragraph": chunk_paragraph,
    "recursive": chunk_recursive,
    "by_headers": chunk_by_headers,
    "semantic": chunk_semantic,
    "code": chunk_code,
}


def chunk(
    structured: pd.DataFrame,
    settings: ChunkingSettings,
    count_tokens: CountTokens,
    *,
    title: str | None = None,
    embed: Embed | None = None,
) -> pd.DataFrame:
    """Cut a document into chunks by `settings.strategy`; source code by `code` instead of
    `contextual`.

    `structured`: a StructuredBlocks frame, rows in reading order. `count_tokens` counts texts in
    the embedding model's vocabulary. `title` stands in for the trail where no heading lies above.
    `embed` turns sentences into vectors, for `semantic` only.

    Returns a Chunks frame. Parents (kind `section`) come last; their children name them by
    `parent_index`. What is embedded, counted and hashed is `embedded_text`. Page range and regions
    are of the chunk's own text, not of a header row or title that it repeats. Raises
    `DocumentError` where the result is malformed, `SettingsError` where `semantic` has no `embed`.
    """
    name = one_line(title) if title else None
    task = Task(structured, settings, TokenCounter(count_tokens), name, embed)
    strategy = STRATEGIES[settings.strategy]
    if settings.strategy == "contextual" and is_source_code(structured):
        strategy = chunk_code
    return chunks_frame(strategy(task))


__all__ = [
    "CHUNKING_VERSION",
    "STRATEGIES",
    "add_contexts",
    "chunk",
    "content_hash",
    "embedded_text",
    "indexed_texts",
]
