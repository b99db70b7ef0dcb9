"""The code strategy: functions and classes whole, by tree-sitter."""

from __future__ import annotations

from rag_pipeline.chunking.assemble import ChunkDraft
from rag_pipeline.chunking.recursive import chunk_recursive
from rag_pipeline.chunking.strategy import Task


def chunk_code(task: Task) -> list[ChunkDraft]:
    """Placeholder."""
    return chunk_recursive(task)
