"""What limits the rows: values, periods, comparisons, flags, and rows of other tables."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import partial

from rag_pipeline.relational.questions.forms.constraints import fold
from rag_pipeline.relational.questions.forms.logical_form import (
    AnyOf,
    ColumnAt,
    Compare,
    Filter,
    Missing,
    Path,
)
from rag_pipeline.relational.questions.grammar.duration_conditions import DurationConditions
from rag_pipeline.relational.questions.grammar.negated_things import NegatedThings
from rag_pipeline.relational.questions.grammar.number_conditions import NumberConditions
from rag_pipeline.relational.questions.grammar.period_conditions import PeriodConditions
from rag_pipeline.relational.questions.grammar.relative_conditions import RelativeConditions
from rag_pipeline.relational.questions.mentions import Place
from rag_pipeline.relational.questions.question_tokens import Token
from rag_pipeline.relational.schema.ways import NotComputableError, Way, forward

_PARTICIPLES = frozenset(
    {"paid", "done", "sent", "sold", "built", "begun", "left", "made"}
    | {"given", "taken", "written", "driven", "born", "drawn", "known", "lent", "chosen"}
)
"""Those that do not end in -ed."""


class Conditions(
    DurationConditions, NegatedThings, NumberConditions, PeriodConditions, RelativeConditions
):
    """Turns the tokens that the measure left into filters."""

    def filters(self, base: str, group: Path = ()) -> tuple[Filter, ...]:
        """Return the filters on rows of a base table, from every token not yet used."""
        self._base, self._group = base, group
        self._links |= set(group)
        self._find_negations()
        self._anchor_mentions()
        self._take_durations()
        self._take_numbers()
        self._take_date_orders()
        self._take_values()
        self._take_periods()
        self._take_columns()
        self._take_trades()
        self._take_mentions()
        self._take_roles()
        self._take_done()
        self._join_counted()
        return self._with_relative(fold(self._found))

    def _anchor_mentions(self) -> None:
        for token in self.tokens:
            table = self.vocabulary.table_of(token)
            if table is not None and id(token) not in self._anchors:
                same = [
                    way
                    for other in self.tokens
                    if self.vocabulary.table_of(other) == table
                    and (way := self._anchors.get(id(other))) is not None
                ]
                along = self._along_group(table)
                self._anchors[id(token)] = (
                    same[0] if same else along if along is not None else self._way(table)
                )

    def _along_group(self, table: str) -> Way | None:
        from rag_pipeline.relational.schema.ways import Step

        for index, link in enumerate(self._group):
            if link.target == table:
                return tuple(Step(one, True) for one in self._group[: index + 1])
        return None

    def nearest_columns(
        self, base: str, token: Token, tables: Sequence[str]
    ) -> list[tuple[Path, Place]]:
        """Return columns that a token names with the way to them, many to one, the nearest."""
        found: list[tuple[int, Path, Place]] = []
        for place in self.vocabulary.columns(token):
            for way in self.vocabulary.ways.between(base, place[0], self.roles()):
                path = forward(way)
                if path is not None:
                    cost = len(path) if place[0] not in tables else 0
                    found.append((cost, path, place))
        best = min((cost for cost, _, _ in found), default=0)
        return [(path, place) for cost, path, place in found if cost == best]

    def _take_columns(self) -> None:
        for token in self.tokens:
            if token.used or token.mention is None or self.vocabulary.table_of(token):
                continue
            places = self.vocabulary.columns(token)
            flags = [p for p in places if self.vocabulary.is_flag(p)]
            beside = self._beside(token, 1 if token.is_korean else -1)
            presence = [beside] if beside is not None and beside.name == "presence" else []
            negated = self._is_negated(token)
            if flags or negated:
                self.conditional.add(id(token))
            if flags:
                way, place = self._nearest(flags, token)
                token.used = True
                yes: bool | int = not negated
                value = yes if self.vocabulary.is_boolean(place) else int(yes)
                self._add(way, partial(_equals, place, value))
            elif negated and (dates := self._dates_of(token)):
                way, place = self._nearest(dates, token)
                token.used = True
                self._use("yet")
                self._add_missing(way, place, token)
            elif negated and places:
                way, place = self._nearest(places, token)
                token.used = True
                self._add_missing(way, place, token)
            elif presence and places:
                way, place = self._nearest(places, token)
                token.used = presence[0].used = True
                if self.vocabulary.is_number(place):
                    self._add(way, partial(_positive, place))
                else:
                    self._add(way, partial(_missing, place, True))
            elif (negated or presence) and (own := self._own_role(token)) is not None:
                token.used = True
                self._use_target(token)
                for one in presence:
                    one.used = True
                self._add((), partial(_missing, own, not negated))

    def _add_missing(self, way: Way, place: Place, token: Token) -> None:
        """Add that there is no value: in the row itself, or in any of those that belong to it."""
        if forward(way) is None:
            # Patients who were not admitted: no such date at all, or a row without one?
            is_never = id(token) in self._never
            if is_never or self.choices.pick([True, False]):
                self._add(way, partial(_missing, place, True), token)
            else:
                self._add(way, partial(_missing, place, False))
        elif self.vocabulary.is_number(place) and self.choices.pick([False, True]):
            # No stock: none is known, or it is 0?
            self._add(way, partial(_none_or_zero, place))
        else:
            self._add(way, partial(_missing, place, False))

    def _own_role(self, token: Token) -> Place | None:
        """Return the key of the base table that a role is named by: `without a boss`."""
        beside = self._beside(token, 1)
        roles = [link for link in self.vocabulary.roles(token) if link.table == self._base]
        if len(roles) != 1 or (beside is not None and beside.kind == "value"):
            return None
        return self._base, roles[0].columns[0]

    def _use_target(self, role: Token) -> None:
        """Take the table's name behind a role as part of it: `no transfer ward`."""
        targets = {link.target for link in self.vocabulary.roles(role)}
        one = self._beside(role, 1)
        if one is not None and one.start == role.end and self.vocabulary.table_of(one) in targets:
            one.used = True

    def _dates_of(self, token: Token) -> list[Place]:
        others = [p for p in self.vocabulary.columns(token) if not self.vocabulary.is_date(p)]
        return [] if others else self.vocabulary.dates_like(token)

    def traded(self, token: Token, table: str) -> str | None:
        """Return the table of lines on which things of a table are sold."""
        for name in self.vocabulary.lines:
            for link in self.vocabulary.schema.tables[name].foreign_keys:
                if link.target == table and not self.vocabulary.dates(table):
                    token.used = True
                    return name
        return None

    def _take_trades(self) -> None:
        for token in self._ops("trade", "spend"):
            way = self._trade_way()
            if way is None:
                raise NotComputableError(f"it is not clear which rows “{token.text}” is about")
            token.used = True
            self._add(way, None, token)

    def _take_mentions(self) -> None:
        for token in self.tokens:
            table = self.vocabulary.table_of(token)
            if token.used or table is None:
                continue
            way = self._anchors[id(token)]
            token.used = True
            negated = self._is_negated(token)
            if negated:
                self.conditional.add(id(token))
            if negated and any(
                other is not token
                and not self._is_negated(other)
                and (near := self._anchors.get(id(other), ()))
                and forward(near) is None
                and len(near) < len(way)
                and way[: len(near)] == near
                for other in self.tokens
            ):
                raise NotComputableError(
                    f"it is not clear whether no “{token.text}” at all is meant, or one row without"
                )
            if negated and (not way or forward(way) is not None):
                if not way:
                    raise NotComputableError(f"it is not clear what is negated: “{token.text}”")
                link = way[-1].link
                self._add(way[:-1], partial(_missing, (link.table, link.columns[0]), False))
                self._links.add(link)
            elif way:
                passed = any(c.way[: len(way)] == way for c in self._found)
                if negated or not passed:
                    self._exist(way, token)
                self._links |= {step.link for step in way}
        self._use("presence")

    def _exist(self, way: Way, token: Token) -> None:
        before = self._beside(token, -1)
        if before is not None and before.name in ("all", "each"):
            # Rented all tools: none is left out, which no condition here says.
            raise NotComputableError(f"“{before.text} {token.text}” is not compared with each row")
        if forward(way) is not None:
            link = way[-1].link
            if tuple(s.link for s in way) != self._group[: len(way)]:
                self._add(way[:-1], partial(_missing, (link.table, link.columns[0]), True))
        else:
            self._add(way, None, token)

    def _take_done(self) -> None:
        """Take `returned` without a period for what has a date of it."""
        for token in self.tokens:
            text = token.text.lower()
            is_participle = text.endswith("ed") or text in _PARTICIPLES
            is_participle = is_participle or (token.is_korean and token.particle in ("된", "한"))
            if token.used or token.mention is None or not is_participle:
                continue
            if dates := self._dates_of(token):
                way, place = self._nearest(dates, token)
                token.used = True
                self._add(way, partial(_missing, place, True))

    def _take_roles(self) -> None:
        for token in self.tokens:
            if not token.used and any(r in self._links for r in self.vocabulary.roles(token)):
                token.used = True


def _equals(place: Place, value: bool | int, path: Path) -> Filter:
    return Compare(ColumnAt(path, *place), "=", value)


def _positive(place: Place, path: Path) -> Filter:
    return Compare(ColumnAt(path, *place), ">", Decimal(0))


def _none_or_zero(place: Place, path: Path) -> Filter:
    column = ColumnAt(path, *place)
    return AnyOf((Missing(column), Compare(column, "=", Decimal(0))))


def _missing(place: Place, negated: bool, path: Path) -> Filter:
    return Missing(ColumnAt(path, *place), negated)
