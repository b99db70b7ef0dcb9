"""Ranges of a body to chunks within the budget: the last step of strategies that cut anywhere."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence

from rag_pipeline.chunking.assemble import ChunkDraft, embedded_text, within_budget
from rag_pipeline.chunking.chunk_trails import TRAIL_SHARE, Trails
from rag_pipeline.chunking.cutting.body import Body, Range
from rag_pipeline.chunking.cutting.splitting import Fragment, split_texts
from rag_pipeline.chunking.cutting.windows import Atom, Room
from rag_pipeline.chunking.parents import add_parents
from rag_pipeline.chunking.task import Task, TokenCounter
from rag_pipeline.frames import SECTION

TrailOf = Callable[[Range, str], str | None]
"""From a range and its section's trail to a longer trail, or None."""


class BodyCutter:
    """A document to be cut: its body, its trails, and the room they leave.

    `counter` measures the budget: in tokens, or in characters if the settings say so.
    """

    def __init__(self, task: Task, counter: TokenCounter | None = None) -> None:
        settings = task.settings
        self.task = task
        self.counter = counter or task.counter
        self.budget = settings.target_tokens
        self.overlap = min(settings.overlap_tokens, settings.target_tokens // 2)
        """Tokens a window repeats; with more than half the budget it would hardly advance."""
        self.body = Body(task.structured, settings.major_heading_level)
        self.trails = Trails(
            (section.trail for section in self.body.sections),
            task.title,
            self.budget // TRAIL_SHARE,
            self.counter,
        )
        content = self.budget - self.counter.special - self.counter.newline
        self._rooms = [
            max(1, content - self.trails.tokens(section.trail)) for section in self.body.sections
        ]

    @property
    def room(self) -> Room:
        """Tokens available for the content of a chunk that begins in a section."""
        return self._rooms.__getitem__

    def ideal(self, section: int) -> int:
        """Tokens that the content of a chunk of a section should have, by `ideal_tokens`."""
        taken = self.budget - self._rooms[section]
        return max(1, min(self._rooms[section], self.task.settings.ideal_tokens - taken))

    def count(self, ranges: Iterable[Range]) -> list[int]:
        """Count the text of each range as part of a longer one."""
        return self.counter.parts([self.body.text[r.start : r.end].strip() for r in ranges])

    def counted(self, atoms: list[Atom]) -> list[Atom]:
        """Count all atoms in one call, equal texts once, each with what joins it to the next."""
        texts = [self.body.text[atom.start : atom.end] for atom in atoms]
        unique = list(dict.fromkeys(text.strip() for text in texts))
        counts = dict(zip(unique, self.counter.parts(unique), strict=True))
        for atom, text in zip(atoms, texts, strict=True):
            join = self.counter.newline if text.endswith("\n") else self.counter.space
            atom.tokens = counts[text.strip()] + join
        return atoms

    def fitted(self, atoms: Sequence[Atom], room: Room) -> list[Atom]:
        """Split the atoms above their room: code into lines, the rest into sentences and words."""
        long = [atom for atom in atoms if atom.tokens > room(atom.section)]
        texts = [self.body.text[atom.start : atom.end] for atom in long]
        split = split_texts(
            [Fragment(text, a.tokens, a.is_code) for a, text in zip(long, texts, strict=True)],
            [room(atom.section) for atom in long],
            self.counter,
            self.task.language,
        )
        parts: dict[int, list[Atom]] = {id(atom): [] for atom in long}
        for atom, fragments in zip(long, split, strict=True):
            start = atom.start
            for part in fragments:
                end, opens = start + len(part.text), atom.opens and start == atom.start
                parts[id(atom)].append(
                    Atom(start, end, atom.section, part.tokens, opens, is_code=atom.is_code)
                )
                start = end
        return [part for atom in atoms for part in parts.get(id(atom), [atom])]

    def joined(self, ranges: list[Range]) -> list[Range]:
        """Join ranges below `min_tokens` to a neighbour in their major section, if both fit."""
        small = self.task.settings.min_tokens
        if not small:
            return ranges
        joined: list[tuple[Range, int]] = []
        for current, tokens in zip(ranges, self.count(ranges), strict=True):
            if joined:
                last, before = joined[-1]
                near = self.body.major_at(last.start) == self.body.major_at(current.start)
                fits = before + tokens <= self.room(self.body.section_at(last.start))
                if near and fits and min(before, tokens) < small:
                    joined[-1] = (Range(last.start, current.end), before + tokens)
                    continue
            joined.append((current, tokens))
        return [found for found, _ in joined]

    def chunks(
        self,
        ranges: Sequence[Range],
        *,
        parents: bool = True,
        trail_of: TrailOf | None = None,
    ) -> list[ChunkDraft]:
        """Make the chunks of ranges in order, each within the budget, and their parents.

        A range that counts more than the strategy estimated is halved, repeatedly if necessary.
        `trail_of` may give a chunk a longer trail, used if the budget allows.
        """
        made = within_budget(
            ranges,
            lambda found: self.body.draft(found, self.trails),
            lambda found, draft: self._halve(found) if len(draft.content) > 1 else None,
            self.budget,
            self.counter,
        )
        counted = [(found, draft) for found, draft in made if draft.content.strip()]
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
                Range(ordered[first].start, ordered[last].end), self.trails, SECTION
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
        """Cut at a newline near the middle, or else a space, or else between characters."""
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
