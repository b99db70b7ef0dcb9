"""Token counts in batches, corrected so that the counts of parts add up to that of the whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence

CountTokens = Callable[[Sequence[str]], list[int]]
"""Counts the tokens of each text in the vocabulary of the embedding model."""


class TokenCounter:
    """Wraps `count_tokens` and measures once what it adds to a text and to a join of two texts.

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
        """Count each text as a part of a longer one: without special tokens."""
        return [max(0, count - self.special) for count in self.whole(texts)]
