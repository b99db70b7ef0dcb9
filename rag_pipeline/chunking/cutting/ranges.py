"""Ranges of a body to chunks within the budget: how strategies that cut anywhere end."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from rag_pipeline.chunking.assemble import ChunkDraft, embedded_text
from rag_pipeline.chunking.chunk_trails import Trails
from rag_pipeline.chunking.cutting.body import Body, Range
from rag_pipeline.chunking.cutting.windows import Room
from rag_pipeline.chunking.parents import add_parents
from rag_pipeline.chunking.strategy import Task
from rag_pipeline.chunking.token_counts import TokenCounter
from rag_pipeline.frames import SECTION

TrailOf = Callable[[Range, str], str | None]
"""From a range and its section's trail to a longer trail, or None."""


class Cutter:
    """A document that is to be cut: its body, its trails, and the room that they leave.

    `counter` measures the budget: tokens, or characters where the settings say so.
    """

    def __init__(self, task: Task, counter: TokenCounter | None = None) -> None:
        settings = task.settings
        self.task = task
        self.counter = counter or task.counter
        self.budget = settings.target_tokens
        self.body = Body(task.structured, settings.major_heading_level)
        self.trails: Trails = self.body.trails(task.title, self.budget, self.counter)
        content = self.budget - self.counter.special - self.counter.newline
        self._rooms = [
            max(1, content - self.trails.tokens(section.trail)) for section in self.body.sections
        ]

    @property
    def room(self) -> Room:
        """Tokens for the content of a chunk that begins in a section."""
        return self._rooms.__getitem__

    def ideal(self, section: int) -> int:
        """Tokens that the content of a chunk of a section should have, by `ideal_tokens`."""
        taken = self.budget - self._rooms[section]
        return max(1, min(self._rooms[section], self.task.settings.ideal_tokens - taken))

    def count(self, ranges: Sequence[Range]) -> list[int]:
        """Count the text of each range as a part of a longer one."""
        return self.counter.parts([self.body.text[r.start : r.end].strip() for r in ranges])

    def chunks(
        self,
        ranges: Sequence[Range],
        *,
        parents: bool = True,
        trail_of: TrailOf | None = None,
    ) -> list[ChunkDraft]:
        """Make the chunks of ranges in order, each within the budget, and their parents.

        A range that counts more than the strategy thought is halved, as often as it takes.
        `trail_of` may give a chunk a longer trail, which it gets where the budget allows.
        """
        counted: list[tuple[Range, ChunkDraft]] = []
        pending = list(ranges)
        while pending:
            drafts = [self.body.draft(*found, self.trails) for found in pending]
            counts = self.counter.whole([draft.embedded_text for draft in drafts])
            halves: list[Range] = []
            for found, draft, count in zip(pending, drafts, counts, strict=True):
                draft.token_count = count
                if count > self.budget and len(draft.content) > 1:
                    halves += self._halve(found)
                elif draft.content.strip():
                    counted.append((found, draft))
            pending = halves
        counted.sort(key=lambda item: item[0])
        ordered = [found for found, _ in counted]
        children = [draft for _, draft in counted]
        if trail_of:
            self._lengthen_trails(counted, trail_of)
        if self.counter is not self.task.counter:
            counts = self.task.counter.whole([draft.embedded_text for draft in children])
            for draft, count in zip(children, counts, strict=True):
                draft.token_count = count
        if not parents:
            return children
        return add_parents(
            children,
            [self.body.major_at(found.start) for found in ordered],
            lambda first, last: self.body.draft(
                ordered[first].start, ordered[last].end, self.trails, SECTION
            ),
            self.task.settings.parent_tokens,
            self.task.counter,
        )

    def _lengthen_trails(
        self, counted: Sequence[tuple[Range, ChunkDraft]], trail_of: TrailOf
    ) -> None:
        longer = [
            (draft, trail)
            for found, draft in counted
            if (trail := trail_of(found, draft.breadcrumb_trail))
        ]
        texts = [embedded_text(trail, None, draft.content) for draft, trail in longer]
        for (draft, trail), count in zip(longer, self.counter.whole(texts), strict=True):
            if count <= self.budget:
                draft.breadcrumb_trail, draft.token_count = trail, count

    def _halve(self, found: Range) -> list[Range]:
        """Cut at a newline near the middle, else at a space, else between characters."""
        text = self.body.text[found.start : found.end]
        start = len(text) - len(text.lstrip())
        middle = (start + len(text.rstrip())) // 2
        cut = max(start + 1, middle)
        for separator in ("\n", " "):
            after = [text.rfind(separator, start, middle) + 1, text.find(separator, middle) + 1]
            quarter = (middle - start) // 2
            near = [i for i in after if abs(i - middle) <= quarter and text[i:].strip()]
            if near:
                cut = min(near, key=lambda i: abs(i - middle))
                break
        else:
            while cut < len(text) - 1 and unicodedata.combining(text[cut]):
                cut += 1
        return [Range(found.start, found.start + cut), Range(found.start + cut, found.end)]
