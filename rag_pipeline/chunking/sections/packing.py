"""Units to drafts of chunks: filled in order, each below the budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from rag_pipeline.chunking.assemble import text_with_starts
from rag_pipeline.chunking.cutting.splitting import Fragment, shorten, split_texts
from rag_pipeline.chunking.sections.units import Context, Piece, Unit
from rag_pipeline.chunking.token_counts import TokenCounter
from rag_pipeline.sentence_borders import UNKNOWN

_REPACK_ROUNDS = 8


@dataclass(slots=True)
class Draft:
    """A chunk in the making: its pieces, and an upper estimate of its content's tokens."""

    pieces: list[Piece] = field(default_factory=list)
    keys: set[int] = field(default_factory=set)
    numbers: set[int] = field(default_factory=set)
    parent: int = -1
    tokens: int = 0

    def cost(self, pieces: Iterable[Piece], join: int) -> int:
        """Tokens that the pieces would add, with the context that they would have to repeat."""
        pieces = list(pieces)
        total = 0
        seen = {piece.key for piece in pieces}
        context: Context | None = None
        for piece in pieces:
            total += piece.tokens + join
            if piece.context is not context:
                context = piece.context
                for repeated in context.pieces if context else ():
                    if repeated.key not in seen and repeated.key not in self.keys:
                        seen.add(repeated.key)
                        total += repeated.tokens + join
        return total

    def add(self, pieces: Sequence[Piece], cost: int) -> None:
        """Append pieces whose cost is known."""
        if not self.pieces:
            self.parent = pieces[0].section.parent
        for piece in pieces:
            self.keys.add(piece.key)
            self.numbers |= piece.section.numbers
            if piece.context:
                self.keys.update(repeated.key for repeated in piece.context.pieces)
        self.pieces.extend(pieces)
        self.tokens += cost

    def content(self) -> tuple[str, list[int]]:
        """The text, and where in it each piece begins.

        Pieces in order, repeated context where the piece that needs it begins. The heading of the
        section that the draft begins in goes to the top.
        """
        emitted = {piece.key for piece in self.pieces}
        top: list[str] = []
        parts: list[str] = []
        before: list[int] = []
        context: Context | None = None
        for piece in self.pieces:
            joiner = piece.joiner
            if piece.context is not context:
                context = piece.context
                for repeated in context.pieces if context else ():
                    if repeated.key in emitted:
                        continue
                    emitted.add(repeated.key)
                    if repeated.block.is_heading and repeated.section is self.pieces[0].section:
                        top += [repeated.text, self.pieces[0].joiner or "\n"]
                    else:
                        parts += ["\n\n" if joiner == "\n\n" else "\n", repeated.text]
                        joiner = joiner or "\n"
            before.append(len(parts) + 1)  # the joiner comes first
            if piece.text:
                parts += [joiner if parts else "", piece.text]
        return text_with_starts(top + parts, [len(top) + count for count in before])


class Packer:
    """Packs the units of one document into drafts.

    `budget`: tokens of a chunk, trail included. `small`: sections below it merge with neighbours.
    `trail_tokens`: tokens of each section's trail, by the section's number. `language`: whose rules
    part sentences.
    """

    def __init__(
        self,
        budget: int,
        small: int,
        trail_tokens: dict[int, int],
        counter: TokenCounter,
        language: str = UNKNOWN,
    ) -> None:
        self._budget = budget - counter.special - counter.newline
        self._small = small
        self._trail_tokens = trail_tokens
        self._counter = counter
        self._language = language
        self._join = counter.newline
        self._drafts: list[Draft] = []
        self._draft = Draft()

    def pack(self, sections: Sequence[Sequence[Unit]]) -> list[Draft]:
        """Return the drafts of all sections, each given by its units."""
        units = self._split_long(sections)
        for section in units:
            self._add_section(section)
        return self._finish()

    def repack(self, draft: Draft, excess: int) -> list[Draft]:
        """Split a draft whose exact count is `excess` tokens above the budget.

        The estimate adds up the counts of the pieces; a vocabulary may count the whole higher. What
        is missing is spread over the pieces by their length; more of it where that is not enough.
        """
        missing = max(excess, excess + self._room(draft.pieces[0]) - draft.tokens)
        length = sum(len(piece.text) for piece in draft.pieces) or 1
        parts = [draft]
        for _ in range(_REPACK_ROUNDS):
            if len(parts) > 1:
                break
            unit = [
                replace(piece, tokens=piece.tokens - (-missing * len(piece.text) // length))
                for piece in draft.pieces
            ]
            for pieces in self._split_long([[unit]])[0]:
                self._add_unit(pieces)
            parts = self._finish()
            missing *= 2
        return parts

    def _finish(self) -> list[Draft]:
        self._flush()
        drafts, self._drafts = self._drafts, []
        return drafts

    def _flush(self) -> None:
        if self._draft.pieces:
            self._drafts.append(self._draft)
        self._draft = Draft()

    def _room(self, piece: Piece) -> int:
        """Tokens for content below the trail of the piece's section."""
        return max(1, self._budget - self._trail_tokens[piece.section.number])

    def _fits(self, cost: int, pieces: Sequence[Piece]) -> bool:
        room = self._room(pieces[0])
        if self._draft.pieces:
            room = min(room, self._room(self._draft.pieces[0]))
        return self._draft.tokens + cost <= room

    def _add_section(self, units: Sequence[Unit]) -> None:
        pieces = [piece for unit in units for piece in unit]
        if not pieces:
            return
        if not self._joins(pieces):
            self._flush()
        for unit in units:
            self._add_unit(unit)

    def _joins(self, pieces: Sequence[Piece]) -> bool:
        """Whether a section goes on in the draft: same parent or below it, one of the two small."""
        draft, section = self._draft, pieces[0].section
        if not draft.pieces or section.is_major:
            return False
        if section.parent != draft.parent and section.parent not in draft.numbers:
            return False
        cost = draft.cost(pieces, self._join)
        if self._fits(cost, pieces):
            return draft.tokens < self._small or cost < self._small
        # A section that must be split anyway may begin below a small one.
        return draft.tokens < self._small and cost > self._room(pieces[0])

    def _add_unit(self, unit: Unit) -> None:
        cost = self._draft.cost(unit, self._join)
        if self._fits(cost, unit):
            self._draft.add(unit, cost)
            return
        room = self._room(unit[0])
        alone = Draft().cost(unit, self._join)
        if alone <= room:
            self._flush()
            self._draft.add(unit, alone)
            return
        if self._draft.tokens * 2 > room:
            self._flush()
        # Parts of about the same size: a last part of one row or step would say little.
        own = sum(piece.tokens + self._join for piece in unit)
        repeated = self._repeated(unit[-1])
        total = self._draft.tokens + own
        enough = repeated + total // -(-total // max(1, room - repeated))
        for run in _glued_runs(unit):
            if self._draft.tokens >= enough:
                self._flush()
            self._add_run(run)

    def _add_run(self, run: Sequence[Piece]) -> None:
        """Add pieces that stay together; where even alone they do not fit, one after the other."""
        cost = self._draft.cost(run, self._join)
        if not self._fits(cost, run):
            alone = Draft().cost(run, self._join)
            if alone > self._room(run[0]) and len(run) > 1:
                for piece in run:
                    self._add_run([piece])
                return
            self._flush()
            cost = alone
        self._draft.add(run, cost)

    def _split_long(self, sections: Sequence[Sequence[Unit]]) -> list[list[Unit]]:
        """Split the pieces that are too long for a chunk, all at once; their parts replace them."""
        long: list[Piece] = []
        limits: list[int] = []
        for section in sections:
            for unit in section:
                for piece in unit:
                    limit = self._limit(piece)
                    if piece.tokens + self._join > limit:
                        long.append(piece)
                        limits.append(max(1, limit - self._join))
        parts: dict[int, list[Piece]] = {}
        for by_line in (False, True):
            chosen = [i for i, piece in enumerate(long) if (piece.kind == "code") == by_line]
            whole = [Fragment(long[i].text, long[i].tokens) for i in chosen]
            split = split_texts(
                whole,
                [limits[i] for i in chosen],
                self._counter,
                by_line=by_line,
                language=self._language,
            )
            for i, found in zip(chosen, split, strict=True):
                piece = long[i]
                parts[id(piece)] = [
                    replace(
                        piece,
                        text=fragment.text,
                        tokens=fragment.tokens,
                        joiner=piece.joiner if number == 0 else "",
                        glued=piece.glued and number == len(found) - 1,
                    )
                    for number, fragment in enumerate(found)
                ]
        return [
            [[part for piece in unit for part in parts.get(id(piece), [piece])] for unit in section]
            for section in sections
        ]

    def _limit(self, piece: Piece) -> int:
        """Tokens of the longest piece that fits below its trail and what it repeats."""
        return self._room(piece) - self._repeated(piece)

    def _repeated(self, piece: Piece) -> int:
        pieces = piece.context.pieces if piece.context else ()
        return sum(repeated.tokens + self._join for repeated in pieces)


def _glued_runs(unit: Unit) -> list[list[Piece]]:
    """Cut a unit where a piece does not have to stay with the next."""
    runs: list[list[Piece]] = [[]]
    for piece in unit:
        runs[-1].append(piece)
        if not piece.glued:
            runs.append([])
    return [run for run in runs if run]


def fit_contexts(contexts: Sequence[Context], limit: int, counter: TokenCounter) -> None:
    """Shorten what is repeated to at most about `limit` tokens for a context, all in one count."""
    shortened: list[Piece] = []
    for context in contexts:
        if sum(piece.tokens for piece in context.pieces) <= limit:
            continue
        share = max(1, limit // len(context.pieces))
        for i, piece in enumerate(context.pieces):
            if piece.tokens > share:
                text = shorten(piece.text, piece.tokens, share)
                context.pieces[i] = replace(piece, text=text)
                shortened.append(context.pieces[i])
    for piece, tokens in zip(shortened, counter.parts([p.text for p in shortened]), strict=True):
        piece.tokens = tokens
