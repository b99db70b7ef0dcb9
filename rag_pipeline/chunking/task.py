"""What a strategy is given: a document, the settings, and a counter of the model's tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rag_pipeline.sentence_borders import UNKNOWN
from rag_pipeline.settings import ChunkingSettings

CountTokens = Callable[[Sequence[str]], list[int]]
"""Counts the tokens of each text in the vocabulary of the embedding model."""
Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts to vectors of unit norm: float32, texts x dimensions."""


class TokenCounter:
    """Wraps `count_tokens` and corrects it so that the counts of parts add up to the whole.

    `special`: tokens added to every text (begin and end marks). `newline` and `space`: tokens that
    a newline or a space between two texts costs (none in SentencePiece vocabularies, one newline in
    byte-pair ones).
    """

    def __init__(self, count_tokens: CountTokens) -> None:
        self._count = count_tokens
        one, other, spaced, lined = count_tokens(["a", "b", "a b", "a\nb"])
        self.special = max(0, one + other - spaced)
        self.space = max(0, spaced + self.special - one - other)
        self.newline = max(self.space, lined + self.special - one - other)

    def whole(self, texts: Sequence[str]) -> list[int]:
        """Count each text as the model sees it, special tokens included."""
        return [int(count) for count in self._count(texts)] if texts else []

    def parts(self, texts: Sequence[str]) -> list[int]:
        """Count each text as part of a longer one: without special tokens."""
        return [max(0, count - self.special) for count in self.whole(texts)]


@dataclass(frozen=True)
class Task:
    """One document to chunk: a StructuredBlocks frame and what the strategies need.

    `counter` counts in the embedding model's vocabulary. `title` replaces an empty trail. `embed`
    is only needed by `semantic`.
    """

    structured: pd.DataFrame
    settings: ChunkingSettings
    counter: TokenCounter
    title: str | None = None
    embed: Embed | None = None

    @property
    def language(self) -> str:
        """The document's language: ISO 639-1, or `und`."""
        return str(self.structured["language"].iloc[0]) if len(self.structured) else UNKNOWN
