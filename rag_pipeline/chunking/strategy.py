"""What a strategy is: a function from a task to drafts of chunks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rag_pipeline.chunking.assemble import ChunkDraft
from rag_pipeline.chunking.token_counts import TokenCounter
from rag_pipeline.settings import ChunkingSettings

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts to vectors of unit norm: float32, texts x dimensions."""


@dataclass(frozen=True)
class Task:
    """One document to be chunked: a StructuredBlocks frame and what the strategies need.

    `counter` counts in the embedding model's vocabulary; `title` stands in for a trail; `embed` is
    there where the strategy asks for it.
    """

    structured: pd.DataFrame
    settings: ChunkingSettings
    counter: TokenCounter
    title: str | None = None
    embed: Embed | None = None


Strategy = Callable[[Task], list[ChunkDraft]]
"""Drafts in reading order, counted; behind them the parents that their `parent_index` names."""
