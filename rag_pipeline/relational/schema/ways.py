"""Ways from one table to another along foreign keys, in either direction."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rag_pipeline.relational.schema.table_schema import ForeignKey, Schema

MAX_STEPS = 6
MAX_WAYS = 12


class NotComputableError(Exception):
    """A question is not understood with certainty; the text says which word, or which readings."""


class Step(NamedTuple):
    """A foreign key that is followed; not forward: from the named row to those that name it."""

    link: ForeignKey
    forward: bool

    @property
    def target(self) -> str:
        """The table it leads to."""
        return self.link.target if self.forward else self.link.table

    @property
    def origin(self) -> str:
        """The table it comes from."""
        return self.link.table if self.forward else self.link.target


Way = tuple[Step, ...]


@dataclass
class Ways:
    """Finds ways in one schema, and remembers them."""

    schema: Schema
    _known: dict[tuple[str, str, frozenset[ForeignKey]], list[Way]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._with_role: set[ForeignKey] = set()
        self._steps: dict[str, list[Step]] = {name: [] for name in self.schema.tables}
        for table in self.schema.tables.values():
            for link in table.foreign_keys:
                if self.schema.role_words(link):
                    self._with_role.add(link)
                self._steps[table.name].append(Step(link, True))
                self._steps[link.target].append(Step(link, False))

    def between(self, start: str, end: str, roles: Collection[ForeignKey] = ()) -> list[Way]:
        """Return the shortest ways; those that take a key of `roles` go before shorter ones.

        No table is passed twice. From a table to itself only a key that names its own table leads.
        """
        asked = (start, end, frozenset(roles))
        if asked not in self._known:
            self._known[asked] = self._search(start, end, asked[2])
        return self._known[asked]

    def _search(self, start: str, end: str, roles: frozenset[ForeignKey]) -> list[Way]:
        if start == end and not roles:
            return [()]
        border: list[Way] = [()]
        plain: list[Way] = []
        for _ in range(MAX_STEPS):
            longer = [(*way, step) for way in border for step in self._next(start, way, end)]
            reached = [way for way in longer if way[-1].target == end]
            if any(not self._unnamed(way, roles) for way in reached):
                # Where one key is named by nothing but its table, a role must be said to be meant.
                reached = [way for way in reached if not self._unnamed(way, roles)]
            with_role = [way for way in reached if any(s.link in roles for s in way)]
            if with_role:
                return with_role[:MAX_WAYS]
            plain = plain or ([] if start == end else reached)
            if plain and not roles:
                break
            border = [way for way in longer if way[-1].target != end][:2000]
        if start == end and not plain:
            return [()]
        return plain[:MAX_WAYS]

    def _unnamed(self, way: Way, roles: Collection[ForeignKey]) -> int:
        """Return how many of a way's keys have a role of their own that is not in `roles`."""
        return sum(s.link in self._with_role and s.link not in roles for s in way)

    def _next(self, start: str, way: Way, end: str) -> Sequence[Step]:
        here = way[-1].target if way else start
        passed = {start, *(step.target for step in way)}
        return [
            step
            for step in self._steps[here]
            if step.target not in passed or (step.target == end == start and step.origin == end)
        ]


def forward(way: Way) -> tuple[ForeignKey, ...] | None:
    """Return a way's keys where it only leads many to one, else None."""
    return tuple(step.link for step in way) if all(step.forward for step in way) else None
