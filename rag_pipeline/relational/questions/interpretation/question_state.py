"""One question while it is read: its pieces, and what each was taken for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rag_pipeline.relational.questions.computation import Condition, Measure
from rag_pipeline.relational.questions.mentions import Mention, Namer, Place
from rag_pipeline.relational.questions.named_values import FoundValue
from rag_pipeline.relational.questions.pieces import Piece
from rag_pipeline.relational.schema.table_schema import Schema, is_date, is_flag, is_number

SILENT = frozenset({"filler", "particle"})
PASSED_BACKWARDS = frozenset({"which", "each", "different", "never"})
"""Operators that may stand between a noun and one behind it that takes it."""
SUPERLATIVES = {
    "max": True,
    "min": False,
    "most": True,
    "fewest": False,
    "expensive": True,
    "cheap": False,
}
"""Operators that ask for an extreme; whether for the largest."""


@dataclass
class Question:
    """A question's pieces, what they may name, and what has been understood so far."""

    schema: Schema
    namer: Namer
    pieces: Sequence[Piece]
    values: Mapping[tuple[int, int], list[FoundValue]]
    """Values of the data, by their first unit and the one behind."""
    flags: frozenset[Place]
    """Number columns that hold 0 and 1 only."""
    mentions: list[Mention] = field(init=False)
    operators: dict[int, str] = field(init=False)
    """By piece."""
    used: set[int] = field(default_factory=set)
    """Pieces that have their part."""
    group: Mention | None = None
    counted: Mention | None = None
    measure: Measure | None = None
    conditions: list[Condition] = field(default_factory=list)
    tables: set[str] = field(default_factory=set)
    absent: str | None = None
    """A table in whose rows those that are counted do not occur."""

    def __post_init__(self) -> None:
        self.mentions = self.namer.mentions(self.pieces)
        self.operators = {i: p.value for i, p in enumerate(self.pieces) if p.kind == "operator"}

    def indices(self, *names: str) -> list[int]:
        """Return where operators stand."""
        return [i for i, name in self.operators.items() if name in names]

    def has(self, *names: str) -> bool:
        """Whether any of these operators stands in the question."""
        return bool(self.indices(*names))

    def use(self, *mentions: Mention) -> None:
        """Note that mentions have their part."""
        for mention in mentions:
            self.used |= set(range(mention.start, mention.end))

    def use_pieces(self, indices: Iterable[int]) -> None:
        """Note that pieces have their part."""
        self.used |= set(indices)

    def is_used(self, mention: Mention) -> bool:
        """Whether a mention has its part."""
        return mention.start in self.used

    def is_role(self, mention: Mention) -> bool:
        """Whether it is what is counted, or what the number is given for."""
        return mention in (self.group, self.counted)

    def mention_after(self, index: int, through: Sequence[str] = ()) -> Mention | None:
        """Return the mention that follows; only fillers (and operators in `through`) between."""
        for place in range(index + 1, len(self.pieces)):
            piece = self.pieces[place]
            if piece.kind == "noun":
                return next(m for m in self.mentions if m.start <= place < m.end)
            if piece.kind not in SILENT and piece.value not in through:
                return None
        return None

    def mention_before(self, index: int) -> Mention | None:
        """Return the mention that goes before, over fillers."""
        for place in range(index - 1, -1, -1):
            piece = self.pieces[place]
            if piece.kind == "noun":
                return next(m for m in self.mentions if m.start <= place < m.end)
            if piece.kind not in SILENT and piece.value not in PASSED_BACKWARDS:
                return None
        return None

    def last_of_run(self, mention: Mention) -> Mention:
        """`product category`: the last noun of a run is the thing, those before say which."""
        following = {m.start: m for m in self.mentions}
        while mention.end in following and following[mention.end].table is not None:
            # `customers ordered`: a plural and a verb are no compound.
            last = self.pieces[mention.end - 1].text.lower()
            behind = self.pieces[following[mention.end].end - 1].text.lower()
            if last.endswith("s") or behind.endswith(("ed", "ing")):
                break
            mention = following[mention.end]
        return mention

    def is_near(self, index: int, mention: Mention) -> bool:
        """Whether a mention stands before or behind a piece."""
        return mention in (self.mention_after(index), self.mention_before(index))

    def numbers(self, places: Iterable[Place]) -> list[Place]:
        """Return those columns that hold numbers of their own: no keys."""
        return [
            (table, name)
            for table, name in places
            if is_number(self.schema.tables[table].column(name))
            and name not in self.schema.tables[table].reference_columns
            and name not in self.schema.tables[table].key
        ]

    def dates(self, table: str) -> list[Place]:
        """Return the columns of a table that hold dates."""
        columns = self.schema.tables[table].table.columns
        return [(table, column.name) for column in columns if is_date(column)]

    def is_quantity(self, place: Place) -> bool:
        """Whether it can be added up."""
        return bool(self.numbers([place])) and place not in self.flags

    def is_flag(self, place: Place) -> bool:
        """Whether it says yes or no, declared so or by its values."""
        return self.is_declared_flag(place) or place in self.flags

    def is_declared_flag(self, place: Place) -> bool:
        """Whether it is declared as yes or no."""
        return is_flag(self.schema.tables[place[0]].column(place[1]))
