"""Packs units into drafts of chunks, in order, each within the budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from rag_pipeline.chunking.assemble import text_with_starts
from rag_pipeline.chunking.cutting.splitting import Fragment, shorten, split_texts
from rag_pipeline.chunking.sections.units import Context, Unit, UnitPiece
from rag_pipeline.chunking.task import TokenCounter
from rag_pipeline.sentence_borders import UNKNOWN

_REPACK_ROUNDS = 8


@dataclass(slots=True)
class Draft:
    """A chunk being filled: its pieces, and an upper estimate of its content's tokens."""

    pieces: list[UnitPiece] = field(default_factory=list)
    keys: set[int] = field(default_factory=set)
    numbers: set[int] = field(default_factory=set)
    parent: int = -1
    tokens: int = 0

    def cost(self, pieces: Sequence[UnitPiece], join: int) -> int:
        """Tokens that the pieces would add, with the context they would have to repeat."""
        known = self.keys.union(piece.key for piece in pieces)
        return sum(piece.tokens + join for piece, _ in _with_contexts(pieces, known))

    def add(self, pieces: Sequence[UnitPiece], cost: int) -> None:
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

        Repeated context precedes the piece that needs it; the heading of the draft's first section
        goes to the top.
        """
        top: list[str] = []
        parts: list[str] = []
        before: list[int] = []
        default = ""  # joins a piece without a joiner of its own, the second part of a split one
        for piece, owner in _with_contexts(self.pieces, {piece.key for piece in self.pieces}):
            if piece is owner:
                before.append(len(parts) + 1)  # the joiner comes first
                if piece.text:
                    parts += [(piece.joiner or default) if parts else "", piece.text]
                default = ""
            elif piece.block.is_heading and piece.section is self.pieces[0].section:
                top += [piece.text, self.pieces[0].joiner or "\n"]
            else:
                parts += ["\n\n" if (owner.joiner or default) == "\n\n" else "\n", piece.text]
                default = "\n"
        return text_with_starts(top + parts, [len(top) + count for count in before])


def _with_contexts(
    pieces: Iterable[UnitPiece], known: Iterable[int]
) -> Iterator[tuple[UnitPiece, UnitPiece]]:
    """Yield each piece, before it the context it must repeat, each with the piece it is for.

    `known`: keys of pieces that need no repeating.
    """
    emitted = set(known)
    context: Context | None = None
    for piece in pieces:
        if piece.context is not context:
            context = piece.context
            for repeated in context.pieces if context else ():
                if repeated.key not in emitted:
                    emitted.add(repeated.key)
                    yield repeated, piece
        yield piece, piece


class Packer:
    """Packs the units of one document into drafts.

    `budget`: tokens of a chunk, trail included. `small`: sections below it merge with neighbours.
    `trail_tokens`: tokens of each section's trail, by the section's number. `language`: for
    splitting sentences.
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

        The estimate adds up the counts of the pieces, but a vocabulary may count the whole higher.
        The difference is spread over the pieces by length, and doubled until the draft splits.
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

    def _room(self, piece: UnitPiece) -> int:
        """Tokens left for content under the trail of the piece's section."""
        return max(1, self._budget - self._trail_tokens[piece.section.number])

    def _fits(self, cost: int, pieces: Sequence[UnitPiece]) -> bool:
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

    def _joins(self, pieces: Sequence[UnitPiece]) -> bool:
        """Whether a section continues the draft: same parent or below it, and one of them small."""
        draft, section = self._draft, pieces[0].section
        if not draft.pieces or section.is_major:
            return False
        if section.parent != draft.parent and section.parent not in draft.numbers:
            return False
        cost = draft.cost(pieces, self._join)
        if self._fits(cost, pieces):
            return draft.tokens < self._small or cost < self._small
        # A section that must be split anyway may begin in the chunk of a small one.
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
        # Parts of about the same size: a last part with one row or step would say little.
        own = sum(piece.tokens + self._join for piece in unit)
        repeated = self._repeated(unit[-1])
        total = self._draft.tokens + own
        enough = repeated + total // -(-total // max(1, room - repeated))
        for run in _glued_runs(unit):
            if self._draft.tokens >= enough:
                self._flush()
            self._add_run(run)

    def _add_run(self, run: Sequence[UnitPiece]) -> None:
        """Add pieces that stay together, or one by one if they do not fit even alone."""
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
        """Replace the pieces that are too long for a chunk by their parts, all in one go."""
        long: list[UnitPiece] = []
        limits: list[int] = []
        for piece in (piece for section in sections for unit in section for piece in unit):
            # What fits below its trail and what it repeats.
            limit = self._room(piece) - self._repeated(piece) - self._join
            if piece.tokens > limit:
                long.append(piece)
                limits.append(max(1, limit))
        split = split_texts(
            [Fragment(piece.text, piece.tokens, by_line=piece.kind == "code") for piece in long],
            limits,
            self._counter,
            self._language,
        )
        parts = {
            id(piece): [
                replace(
                    piece,
                    text=fragment.text,
                    tokens=fragment.tokens,
                    joiner=piece.joiner if number == 0 else "",
                    glued=piece.glued and number == len(found) - 1,
                )
                for number, fragment in enumerate(found)
            ]
            for piece, found in zip(long, split, strict=True)
        }
        return [
            [[part for piece in unit for part in parts.get(id(piece), [piece])] for unit in section]
            for section in sections
        ]

    def _repeated(self, piece: UnitPiece) -> int:
        pieces = piece.context.pieces if piece.context else ()
        return sum(repeated.tokens + self._join for repeated in pieces)


def _glued_runs(unit: Unit) -> list[list[UnitPiece]]:
    """Cut a unit after each piece that need not stay with the next."""
    runs: list[list[UnitPiece]] = [[]]
    for piece in unit:
        runs[-1].append(piece)
        if not piece.glued:
            runs.append([])
    return [run for run in runs if run]


def fit_contexts(contexts: Sequence[Context], limit: int, counter: TokenCounter) -> None:
    """Shorten each context to about `limit` tokens, counting all of them in one call."""
    shortened: list[UnitPiece] = []
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
