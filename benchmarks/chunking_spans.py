"""Scores of retrieved character spans, and where a chunk stands in its text.

Token-level recall, precision and intersection over union as Chroma defines them over character
ranges: Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval" (2024).
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

Span = tuple[str, int, int]
"""Text, first character, one past the last."""


@dataclass(frozen=True)
class Question:
    """A question with the spans that answer it, all in one text."""

    text: str
    gold: tuple[Span, ...]


class Locator:
    """Finds chunks in their text, whatever white space a splitter has changed."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._offsets = [i for i, character in enumerate(text) if not character.isspace()]
        self._bare = "".join(text[i] for i in self._offsets)

    def spans(self, chunks: Iterable[str]) -> Iterator[Span]:
        """Yield the span of each chunk, in the text's order; overlaps are allowed."""
        start = end = 0
        for chunk in chunks:
            bare = "".join(chunk.split())
            # Without an overlap a chunk begins where the last one ends.
            follows = self._bare.startswith(bare, end)
            found = end if follows else self._bare.find(bare, start)
            if found < 0:
                raise ValueError(f"{self._name} has no such text: {chunk[:80]!r}")
            yield self._name, self._offsets[found], self._offsets[found + len(bare) - 1] + 1
            start, end = found + 1, found + len(bare)


def score(
    questions: Sequence[Question], spans: Sequence[Span], found: Sequence[Sequence[int]]
) -> dict[str, float]:
    """Return mean recall, precision and IoU in percent; `found`: indices of spans per question."""
    recalls, precisions, unions = [], [], []
    for question, indices in zip(questions, found, strict=True):
        retrieved = [spans[i] for i in indices]
        held = _length(
            (text, max(start, low), min(end, high))
            for text, start, end in retrieved
            for name, low, high in question.gold
            if name == text
        )
        gold, total = _length(question.gold), sum(end - start for _, start, end in retrieved)
        recalls.append(held / gold)
        precisions.append(held / total if total else 0.0)
        unions.append(held / (total + gold - held))
    return {
        "recall": 100 * statistics.mean(recalls),
        "precision": 100 * statistics.mean(precisions),
        "iou": 100 * statistics.mean(unions),
    }


def _length(spans: Iterable[Span]) -> int:
    """Return the characters that lie in at least one of the spans."""
    total = 0
    for _, group in itertools.groupby(sorted(spans), key=lambda span: span[0]):
        reached = 0
        for _, start, end in group:
            total += max(0, end - max(start, reached))
            reached = max(reached, end)
    return total
