"""Structure to chunks: `chunk` turns a structured frame into a chunks frame."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from rag_pipeline.chunking.assemble import (
    ChunkDraft,
    chunks_frame,
    content_hash,
    embedded_text,
)
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
from rag_pipeline.chunking.surrounding_words import indexed_texts
from rag_pipeline.chunking.task import CountTokens, Embed, Task, TokenCounter
from rag_pipeline.settings import ChunkingSettings
from rag_pipeline.text import one_line

Strategy = Callable[[Task], list[ChunkDraft]]
"""Drafts in reading order, counted, followed by the parents that their `parent_index` names."""
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
    """Cut a document into chunks by `settings.strategy`.

    Source code is cut by `code` instead of `contextual`.

    `structured`: a StructuredBlocks frame, rows in reading order. `count_tokens` counts texts in
    the embedding model's vocabulary. `title` replaces the trail of text without a heading above it.
    `embed` turns sentences into vectors, for `semantic` only.

    Returns a Chunks frame. Parents (kind `section`) come last; their children name them by
    `parent_index`. `embedded_text` is what is embedded, counted and hashed. Page range and regions
    are those of the chunk's own text, not of a header row or title it repeats. Raises
    `DocumentError` if the result is malformed, `SettingsError` if `semantic` has no `embed`.
    """
    name = one_line(title) if title else None
    task = Task(structured, settings, TokenCounter(count_tokens), name, embed)
    strategy = STRATEGIES[settings.strategy]
    if settings.strategy == "contextual" and is_source_code(structured):
        strategy = chunk_code
    return chunks_frame(strategy(task))


__all__ = [
    "STRATEGIES",
    "CountTokens",
    "add_contexts",
    "chunk",
    "content_hash",
    "embedded_text",
    "indexed_texts",
]
