"""What limits the rows: values, periods, comparisons, flags, and rows of other tables."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from decimal import Decimal
from functools import partial

from rag_pipeline.relational.questions.choices import Choices
from rag_pipeline.relational.questions.constraints import Constraint, Make, fold
from rag_pipeline.relational.questions.logical_form import (
    ColumnAt,
    Compare,
    Comparison,
    During,
    Filter,
    FullName,
    Missing,
    OneOf,
    Path,
)
from rag_pipeline.relational.questions.mentions import Place
from rag_pipeline.relational.questions.named_values import FoundValue, ValueColumn
from rag_pipeline.relational.questions.question_tokens import Token
from rag_pipeline.relational.questions.vocabulary import Vocabulary
from rag_pipeline.relational.schema.table_schema import ForeignKey
from rag_pipeline.relational.schema.ways import NotComputableError, Way, forward

_SIGNS: dict[str, Comparison] = {
    "more": ">", "less": "<", "at_least": ">=", "at_most": "<=", "only": "=",
}
_MONEY = ("price", "total", "amount", "cost")
_SECONDS = {"seconds": 1, "minutes": 60, "hours": 3600}


class Conditions:
    """Turns the tokens that the measure left into filters."""

    def __init__(self, vocabulary: Vocabulary, tokens: Sequence[Token], choices: Choices) -> None:
        self.vocabulary = vocabulary
        self.tokens = tokens
        self.choices = choices
        self._base = ""
        self._group: Path = ()
        self._found: list[Constraint] = []
        self._negated: dict[int, int] = {}
        self._links: set[ForeignKey] = set()
        self._anchors: dict[int, Way] = {}

    def filters(self, base: str, group: Path = ()) -> tuple[Filter, ...]:
        """Return the filters on rows of a base table, from every token not yet used."""
        self._base, self._group = base, group
        self._links |= set(group)
        self._find_negations()
        self._anchor_mentions()
        self._take_numbers()
        self._take_date_orders()
        self._take_values()
        self._take_periods()
        self._take_columns()
        self._take_trades()
        self._take_mentions()
        self._take_roles()
        return fold(self._found)

    # -- looking around

    def _ops(self, *names: str) -> list[Token]:
        return [t for t in self.tokens if t.kind == "operator" and t.name in names and not t.used]

    def _at(self, token: Token) -> int:
        return next(i for i, one in enumerate(self.tokens) if one is token)

    def _beside(self, token: Token, step: int) -> Token | None:
        at = self._at(token) + step
        return self.tokens[at] if 0 <= at < len(self.tokens) else None

    def roles(self) -> list[ForeignKey]:
        """Return the foreign keys that words of the question name."""
        return [link for token in self.tokens for link in self.vocabulary.roles(token)]

    def use_roles(self, path: Path) -> None:
        """Note keys that a group follows."""
        self._links |= set(path)

    def _way(self, table: str) -> Way:
        """Return a way from the base table; of several, each is a reading."""
        if table == self._base and not self._group:
            return ()
        ways = self.vocabulary.ways.between(self._base, table, self.roles())
        if table == self._base:
            return ()
        way = self.choices.pick(ways) if ways else None
        if way is None:
            raise NotComputableError(f"nothing relates {self._base} to {table}")
        return way

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

    def date_column(self, base: str) -> ColumnAt:
        """Return the date that periods of a base table are told by."""
        hints = [p for t in self.tokens for p in self.vocabulary.dates_like(t)]
        options: list[tuple[int, ColumnAt]] = []
        for table in self.vocabulary.schema.tables:
            dates = [p for p in hints if p[0] == table] or self.vocabulary.own_dates(table)
            for way in self.vocabulary.ways.between(base, table) if dates else ():
                path = forward(way)
                if path is not None:
                    options += [(len(path), ColumnAt(path, *place)) for place in dates]
        best = min((cost for cost, _ in options), default=0)
        if not options:
            raise NotComputableError(f"rows of {base} have no date")
        return self.choices.pick([column for cost, column in options if cost == best])

    # -- negation

    def _find_negations(self) -> None:
        for number, token in enumerate(self._ops("not"), start=1):
            at = self._at(token)
            ahead = self.tokens[:at][::-1] if token.is_korean else self.tokens[at + 1 :]
            target = next(
                (
                    t
                    for t in ahead
                    if not t.used
                    and (
                        t.kind in ("value", "mention", "period")
                        or t.name in ("trade", *_SIGNS)
                    )
                ),
                None,
            )
            if target is None or id(target) in self._negated or target.name in _SIGNS:
                raise NotComputableError(f"it is not clear what “{token.text}” negates")
            self._negated[id(target)] = number
            token.used = True
            for but in self._ops("but"):
                but.used = self._at(but) < at
        if self._negated:
            for token in self._ops("once"):
                token.used = True

    def _clause(self, token: Token) -> int:
        """Return which side of `but` a token is on."""
        return sum(one.name == "but" for one in self.tokens[: self._at(token)])

    def _is_negated(self, token: Token) -> bool:
        return id(token) in self._negated

    # -- adding constraints

    def _add(
        self, way: Way, make: Make | None, token: Token | None = None, **more: object
    ) -> None:
        is_forward = forward(way) is not None
        group = self._negated.get(id(token), 0) if token is not None else 0
        if token is not None and not group and not is_forward:
            group = self._negation_around(token, way)
        self._links |= {step.link for step in way}
        negated = bool(group) and not is_forward
        count = more.get("count")
        self._found.append(Constraint(way, make, negated, group, count))  # type: ignore[arg-type]

    def _negation_around(self, token: Token, way: Way) -> int:
        """Return the negation that a condition is part of: `never bought Jazz`."""
        for one in self.tokens:
            if not self._is_negated(one) or one.kind == "value":
                continue
            if self._clause(one) != self._clause(token):
                continue
            table = self.vocabulary.table_of(one)
            other = self._anchors[id(one)] if table else self._trade_way() if (
                one.name == "trade") else None
            is_inside = self._at(one) < self._at(token) or one.is_korean
            if other and is_inside and way[: len(other)] == other:
                return self._negated[id(one)]
        return 0

    # -- numbers

    def _take_numbers(self) -> None:
        for token in [t for t in self.tokens if t.kind == "number" and not t.used]:
            if not token.used:
                self._take_number(token)

    def _take_number(self, token: Token) -> None:
        before, behind = self._beside(token, -1), self._beside(token, 1)
        unit: Token | None = None
        units = (*_SECONDS, "money", "counter")
        if behind is not None and behind.name in units and not behind.used:
            unit = behind
            behind = self._beside(unit, 1)
        for sign in (before, behind):
            if sign is None or sign.kind != "operator" or sign.used:
                continue
            if sign.is_korean != (sign is behind):
                continue
            if "." in sign.name and sign.name.endswith((".more", ".less")):
                name, degree = sign.name.split(".")
                places = self.vocabulary.by_last_word(self.vocabulary.adjective_concepts(name))
                sign.used = token.used = True
                return self._compare(
                    places, ">" if degree == "more" else "<", token, unit, None
                )
            if sign.name in _SIGNS:
                sign.used = token.used = True
                thing = self._compared(token, sign, unit)
                return self._compare_thing(thing, _SIGNS[sign.name], token, unit)
            if sign.name == "between":
                return self._between(sign, token)
        if before is not None and before.mention is not None and not before.used:
            places = self._numbers(before) or self.vocabulary.stand_in(before)
            if places and not before.is_korean:
                before.used = token.used = True
                return self._compare(places, "=", token, unit, before)
        return None

    def _between(self, sign: Token, low: Token) -> None:
        joint, high = self._beside(low, 1), self._beside(low, 2)
        if joint is None or high is None or joint.name != "and" or high.kind != "number":
            raise NotComputableError(f"it is not clear what “{sign.text}” bounds")
        sign.used = joint.used = low.used = high.used = True
        thing = self._compared(low, sign, None)
        self._compare_thing(thing, ">=", low, None)
        if thing is not None:
            thing.used = False
        self._compare_thing(thing, "<=", high, None)

    def _numbers(self, token: Token) -> list[Place]:
        return [p for p in self.vocabulary.columns(token) if self.vocabulary.is_number(p)]

    def _compared(self, token: Token, sign: Token, unit: Token | None) -> Token | None:
        """Return what is compared: a table or column behind the number, or before the sign."""
        behind = self._beside(unit or token, 1)
        before = self._beside(sign if not sign.is_korean else token, -1)
        for one in (behind, before) if not sign.is_korean else (before,):
            if one is None or one.used:
                continue
            is_total = one.name in ("sum", "sum_amount") and bool(self.vocabulary.totals())
            if one.mention is not None or is_total:
                return one
        return None

    def _compare_thing(
        self, thing: Token | None, sign: Comparison, token: Token, unit: Token | None
    ) -> None:
        vocabulary = self.vocabulary
        if thing is None and unit is not None and unit.name in _SECONDS:
            places = vocabulary.by_last_word(vocabulary.adjective_concepts("long"))
            return self._compare(places, sign, token, unit, None)
        if thing is None and unit is not None and unit.name == "money":
            places = [p for p in vocabulary.by_last_word(_MONEY) if p[0] == self._base]
            return self._compare(places[:1] if len(places) == 1 else [], sign, token, unit, None)
        if thing is None:
            raise NotComputableError(f"it is not clear what “{token.text}” is compared with")
        if thing.name in ("sum", "sum_amount"):
            places = [(one.table, one.expression.name) for one in vocabulary.totals()]  # type: ignore[union-attr]
            thing.used = True
            return self._compare(places, sign, token, unit, thing)
        if places := self._numbers(thing) or vocabulary.stand_in(thing):
            thing.used = True
            return self._compare(places, sign, token, unit, thing)
        table = vocabulary.table_of(thing)
        if table is None or table == self._base or token.number != int(token.number):
            raise NotComputableError(f"it is not clear what “{token.text}” is compared with")
        way = self._anchors[id(thing)]
        if len(way) != 1 or way[0].forward:
            raise NotComputableError(f"“{thing.text}” cannot be counted for {self._base}")
        thing.used = True
        if unit is not None:
            unit.used = True
        self._links.add(way[0].link)
        self._found.append(Constraint(way, None, False, -1, (sign, int(token.number))))
        return None

    def _compare(
        self,
        places: Sequence[Place],
        sign: Comparison,
        token: Token,
        unit: Token | None,
        thing: Token | None,
    ) -> None:
        way, place = self._nearest(places, token)
        number = token.number
        if unit is not None:
            unit.used = True
            if unit.name in _SECONDS:
                factor = self.vocabulary.seconds_factor(place)
                if factor is None:
                    raise NotComputableError(f"it is not known in which unit {place[1]} is")
                number = number * _SECONDS[unit.name] * factor
        if thing is not None and self._is_negated(thing):
            raise NotComputableError("a negated comparison is not clear")
        self._add(way, lambda path: Compare(ColumnAt(path, *place), sign, number))

    def _nearest(self, places: Sequence[Place], token: Token) -> tuple[Way, Place]:
        """Choose the column nearest to any thing that the question names; equals are readings."""
        options: list[tuple[int, Way, Place]] = []
        for place in places:
            for anchor in [(), *self._anchors.values()]:
                at = anchor[-1].target if anchor else self._base
                for way in self.vocabulary.ways.between(at, place[0]):
                    options.append((len(way), _joined(anchor, way), place))
        if not options:
            raise NotComputableError(f"it is not clear what “{token.text}” is compared with")
        best = min(cost for cost, _, _ in options)
        chosen = dict.fromkeys((way, place) for cost, way, place in options if cost == best)
        return self.choices.pick(list(chosen))

    # -- dates

    def _take_date_orders(self) -> None:
        """Take `shipped after the required date`: two dates of one row."""
        for token in self._ops("after", "before"):
            sides = [self._date_beside(token, -1), self._date_beside(token, 1)]
            if sides[0] is None or sides[1] is None:
                continue
            first, second = sides if not token.is_korean else sides[::-1]
            assert first is not None
            assert second is not None
            pairs = [
                (a, b)
                for a in self.vocabulary.dates_like(first)
                for b in self.vocabulary.dates_like(second)
                if a[0] == b[0] and a != b
            ]
            if len(pairs) != 1:
                raise NotComputableError(f"it is not clear which dates “{token.text}” compares")
            token.used = first.used = second.used = True
            (table, one), (_, other) = pairs[0]
            sign: Comparison = ">" if token.name == "after" else "<"
            way = self._way(table)
            self._add(way, partial(_two_dates, table, one, other, sign))

    def _date_beside(self, token: Token, step: int) -> Token | None:
        one = self._beside(token, step)
        if one is None or one.mention is None or not self.vocabulary.dates_like(one):
            return None
        return one

    def _take_periods(self) -> None:
        periods = [t for t in self.tokens if t.kind == "period" and not t.used]
        ranges: list[tuple[Token, datetime.date | None, datetime.date | None]] = []
        for token in periods:
            if token.used:
                continue
            assert token.period is not None
            first, end = token.period
            before, behind = self._beside(token, -1), self._beside(token, 1)
            token.used = True
            other = self._range_end(token, before, behind)
            if other is not None:
                assert other.period is not None
                other.used = True
                ranges.append((token, first, other.period[1]))
                continue
            sign = behind if token.is_korean else before
            name = sign.name if sign is not None and sign.kind == "operator" else ""
            if sign is not None and name in ("before", "after", "from", "to") and not sign.used:
                sign.used = True
                is_plain = name in ("from", "to") or sign.text.lower() in ("since", "이후")
                if name in ("after", "from"):
                    ranges.append((token, first if is_plain else end, None))
                else:
                    ranges.append((token, None, end if is_plain else first))
            else:
                ranges.append((token, first, end))
        clauses = [self._clause(r[0]) for r in ranges if not self._is_negated(r[0])]
        if len(set(clauses)) < len(clauses):
            raise NotComputableError("it names two periods: ask for one, or for a range")
        for token, start, stop in ranges:
            self._during(token, start, stop)

    def _range_end(
        self, token: Token, before: Token | None, behind: Token | None
    ) -> Token | None:
        if behind is None or before is None:
            pass
        following = self._beside(token, 2)
        if (
            before is not None
            and behind is not None
            and following is not None
            and following.kind == "period"
            and (before.name, behind.name) in (("between", "and"), ("from", "to"))
        ):
            before.used = behind.used = True
            return following
        # 2023년부터 2024년까지
        if (
            behind is not None
            and behind.name == "from"
            and behind.is_korean
            and following is not None
            and following.kind == "period"
        ):
            last = self._beside(following, 1)
            if last is not None and last.name == "to":
                behind.used = last.used = True
                return following
        return None

    def _during(
        self, token: Token, start: datetime.date | None, stop: datetime.date | None
    ) -> None:
        hints = [
            t
            for t in self.tokens
            if not t.used
            and self.vocabulary.table_of(t) is None
            and self.vocabulary.dates_like(t)
            and not self._numbers(t)
        ]
        places = [p for t in hints[:1] for p in self.vocabulary.dates_like(t)]
        negated_with = self._companion(token)
        anchors: list[Way] = [(), *self._anchors.values()]
        anchors += [c.way for c in self._found if c.make is None and c.way]
        trade = next(iter(self._ops("trade", "spend")), None)
        if trade is not None and (way := self._trade_way()) is not None:
            anchors.append(way)
        options: list[tuple[int, Way, Place]] = []
        for anchor in anchors:
            at = anchor[-1].target if anchor else self._base
            for table in self.vocabulary.schema.tables:
                wanted = [p for p in places if p[0] == table] if places else (
                    self.vocabulary.own_dates(table)
                )
                for way in self.vocabulary.ways.between(at, table) if wanted else ():
                    if forward(way) is not None:
                        options += [(len(way), _joined(anchor, way), p) for p in wanted]
        if not options:
            dates = [name for _, name in self.vocabulary.dates(self._base)]
            known = f": say {' or '.join(dates)}" if dates else ""
            raise NotComputableError(f"it is not clear which date “{token.text}” is of{known}")
        best = min(cost for cost, _, _ in options)
        chosen = dict.fromkeys((way, p) for cost, way, p in options if cost == best)
        if trade is not None and any(way for way, _ in chosen):
            trade_way = self._trade_way() or ()
            mine = [one for one in chosen if one[0][: len(trade_way)] == trade_way]
            chosen = dict.fromkeys(mine) if mine else chosen
        way, place = self.choices.pick(list(chosen))
        for hint in hints[:1]:
            hint.used = True
        owner = negated_with or token
        negated = self._is_negated(token) and forward(way) is not None

        def make(path: Path) -> Filter:
            return During(ColumnAt(path, *place), start, stop, negated)

        self._add(way, make, owner)

    def _companion(self, token: Token) -> Token | None:
        """Return the negated thing that a period belongs to: `did not order in 1997`."""
        for one in self.tokens:
            same = self._clause(one) == self._clause(token)
            if self._is_negated(one) and one is not token and one.kind != "value" and same:
                return one
        return None

    # -- values

    def _take_values(self) -> None:
        for group in self._coordinated():
            self._take_value(group)

    def _coordinated(self) -> list[list[Token]]:
        """Return the values; those joined by `or`, `and` of the same columns together."""
        groups: list[list[Token]] = []
        for token in [t for t in self.tokens if t.kind == "value" and not t.used]:
            before = self._beside(token, -1)
            joint = before if before is not None and before.name in ("or", "and") else None
            last = self._beside(joint, -1) if joint is not None else before
            shares = last is not None and last.kind == "value" and bool(
                {f.column for f in token.values} & {f.column for f in last.values}
            )
            if groups and shares and groups[-1][-1] is last:
                if joint is not None:
                    joint.used = True
                groups[-1].append(token)
            else:
                groups.append([token])
        return groups

    def _take_value(self, group: list[Token]) -> None:
        first, last = group[0], group[-1]
        columns = [f for f in first.values if all(_has(t, f) for t in group)]
        columns = self._restricted(first, last, columns)
        options: list[tuple[float, Way, FoundValue]] = []
        is_beside = self._is_named(first, last)
        for anchor, bonus in self._value_anchors(first, last):
            at = anchor[-1].target if anchor else self._base
            for found in columns:
                for way in self._value_ways(at, found.column.table, bool(anchor)):
                    # Whose they are goes before what they have.
                    cost = max(0, len(way) - bonus) + (0.5 if forward(way) is None else 0)
                    if not way and not bonus and not is_beside and self._is_name(found):
                        # `albums of Iron Maiden` are hardly those of that title.
                        cost += 2.5
                    options.append((cost, _joined(anchor, way), found))
        if not options:
            raise NotComputableError(f"“{first.text}” is not related to {self._base}")
        best = min(cost for cost, _, _ in options)
        chosen = list(dict.fromkeys((way, f.column) for c, way, f in options if c == best))
        way, column = self.choices.pick(chosen)
        values = tuple(
            v for t in group for f in t.values if f.column == column for v in f.values
        )
        negated = any(self._is_negated(t) for t in group)
        target = next((t for t in group if self._is_negated(t)), first)
        for token in group:
            token.used = True
        one_to_many = forward(way) is None
        if len(group) > 1 and one_to_many and negated:
            raise NotComputableError("it is not clear what is negated")

        def make(path: Path) -> Filter:
            parts = tuple(ColumnAt(path, column.table, name) for name in column.columns)
            whole = parts[0] if len(parts) == 1 else FullName(parts)
            return OneOf(whole, values, negated and not one_to_many)

        if one_to_many and len(group) > 1 and not negated and self._joint(group) != "or":
            # Bought Rock and Jazz: both of them, or one of them.
            if self.choices.pick([True, False]):
                for number, value in enumerate(values):
                    single = partial(_is_one_of, column, (value,))
                    self._links |= {step.link for step in way}
                    self._found.append(Constraint(way, single, False, -2 - number))
                return
        self._add(way, make, target)

    def _joint(self, group: list[Token]) -> str:
        before = self._beside(group[-1], -1)
        return before.name if before is not None else ""

    def _restricted(
        self, first: Token, last: Token, columns: list[FoundValue]
    ) -> list[FoundValue]:
        """Keep the columns that a word beside names: `the playlist Grunge`, `city of Paris`."""
        for one in (self._beside(first, -1), self._beside(last, 1)):
            if one is None or one.kind == "operator" and one.name != "named":
                continue
            if one.name == "named" and one.kind == "operator":
                one.used = True
                labels = [f for f in columns if self._is_name(f)]
                return labels
            if one.mention is None:
                continue
            if one is self._beside(first, -1) and one.is_korean and not one.mention.columns:
                if all(f.column.table != one.mention.table for f in columns):
                    continue
            is_before = one is self._beside(first, -1)
            if not is_before and one.start != last.end:
                continue
            table = one.mention.table
            same = [f for f in columns if f.column.table == table]
            labelled = [f for f in same if self._is_name(f)]
            if table and labelled and (is_before or len(columns) == len(same)):
                return labelled
            named = [
                f
                for f in columns
                if any((f.column.table, n) in one.mention.columns for n in f.column.columns)
            ]
            if named and table is None:
                one.used = True
                return named
        return columns

    def _is_named(self, first: Token, last: Token) -> bool:
        """Whether the value is said to be a name: `customers named King`, `the album Jagged …`."""
        before = self._beside(first, -1)
        table = self.vocabulary.table_of(before) if before is not None else None
        return before is not None and (
            before.name == "named"
            or (before.mention is not None and table in (None, self._base))
        )

    def _is_name(self, found: FoundValue) -> bool:
        info = self.vocabulary.schema.tables[found.column.table]
        names = set(found.column.columns)
        return names <= set(info.label) or names <= set(info.key)

    def _value_anchors(self, first: Token, last: Token) -> list[tuple[Way, float]]:
        """Return the things that a value may belong to, with what each costs."""
        behind = self._beside(last, 1)
        if behind is not None and behind.start == last.end and id(behind) in self._anchors:
            # `Iron Maiden albums`: of that name, or of somebody of that name
            table = self.vocabulary.table_of(behind)
            is_own = any(f.column.table == table and self._is_name(f) for f in first.values)
            return [(self._anchors[id(behind)], 1 if is_own else 0)]
        if behind is not None and first.is_korean and id(behind) in self._anchors:
            return [(self._anchors[id(behind)], 0)]
        before = self._beside(first, -1)
        if before is not None and id(before) in self._anchors and not first.is_korean:
            table = self.vocabulary.table_of(before)
            if any(f.column.table == table and self._is_name(f) for f in first.values):
                return [(self._anchors[id(before)], 0)]
        return [(way, 0) for way in dict.fromkeys([(), *self._anchors.values()])]

    def _value_ways(self, start: str, end: str, is_anchor: bool) -> list[Way]:
        roles = [] if is_anchor and start != self._base else self.roles()
        mine = [link for link in roles if link.target == end]
        ways = self.vocabulary.ways.between(start, end, mine)
        if start == end and mine:
            ahead = [way for way in ways if forward(way) is not None and way]
            return ahead or ways
        return ways

    # -- columns and flags

    def _take_columns(self) -> None:
        for token in self.tokens:
            if token.used or token.mention is None or self.vocabulary.table_of(token):
                continue
            places = self.vocabulary.columns(token)
            flags = [p for p in places if self.vocabulary.is_flag(p)]
            beside = self._beside(token, 1 if token.is_korean else -1)
            presence = [beside] if beside is not None and beside.name == "presence" else []
            negated = self._is_negated(token)
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
                self._add(way, partial(_missing, place, False))
            elif negated and places:
                way, place = self._nearest(places, token)
                token.used = True
                self._add(way, partial(_missing, place, False))
            elif presence and places:
                way, place = self._nearest(places, token)
                token.used = presence[0].used = True
                if self.vocabulary.is_number(place):
                    self._add(way, partial(_positive, place))
                else:
                    self._add(way, partial(_missing, place, True))

    def _dates_of(self, token: Token) -> list[Place]:
        return [] if self.vocabulary.columns(token) else self.vocabulary.dates_like(token)

    def _use(self, *names: str) -> None:
        for token in self._ops(*names):
            token.used = True

    # -- rows of other tables

    def traded(self, token: Token, table: str) -> tuple[str, Path] | None:
        """Return the lines on which things of a table are sold, with the way to those."""
        for name in self.vocabulary.lines:
            for link in self.vocabulary.schema.tables[name].foreign_keys:
                if link.target == table and not self.vocabulary.dates(table):
                    token.used = True
                    return name, (link,)
        return None

    def _trade_way(self) -> Way | None:
        tables = set(self.vocabulary.lines) | {one.table for one in self.vocabulary.totals()}
        ways = [
            way
            for table in sorted(tables)
            for way in self.vocabulary.ways.between(self._base, table)
        ]
        if not ways:
            return None
        shortest = min(map(len, ways))
        best = [way for way in ways if len(way) == shortest]
        return best[0] if len(best) == 1 else None

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
        if forward(way) is not None:
            link = way[-1].link
            if tuple(s.link for s in way) != self._group[: len(way)]:
                self._add(way[:-1], partial(_missing, (link.table, link.columns[0]), True))
        else:
            self._add(way, None, token)

    def _take_roles(self) -> None:
        for token in self.tokens:
            if not token.used and any(r in self._links for r in self.vocabulary.roles(token)):
                token.used = True


def _joined(anchor: Way, way: Way) -> Way:
    return (*anchor, *way)


def _has(token: Token, found: FoundValue) -> bool:
    return any(one.column == found.column for one in token.values)


def _is_one_of(column: ValueColumn, values: tuple[str, ...], path: Path) -> Filter:
    parts = tuple(ColumnAt(path, column.table, name) for name in column.columns)
    return OneOf(parts[0] if len(parts) == 1 else FullName(parts), values)


def _equals(place: Place, value: bool | int, path: Path) -> Filter:
    return Compare(ColumnAt(path, *place), "=", value)


def _positive(place: Place, path: Path) -> Filter:
    return Compare(ColumnAt(path, *place), ">", Decimal(0))


def _missing(place: Place, negated: bool, path: Path) -> Filter:
    return Missing(ColumnAt(path, *place), negated)


def _two_dates(table: str, one: str, other: str, sign: Comparison, path: Path) -> Filter:
    return Compare(ColumnAt(path, table, one), sign, ColumnAt(path, table, other))
