"""Comparisons with numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rag_pipeline.relational.questions.forms.constraints import Constraint
from rag_pipeline.relational.questions.forms.logical_form import (
    ColumnAt,
    Compare,
    Comparison,
)
from rag_pipeline.relational.questions.grammar.condition_state import BEHIND, SIGNS, ConditionState
from rag_pipeline.relational.questions.mentions import Place
from rag_pipeline.relational.questions.pieces import unit_form, units_of_measure
from rag_pipeline.relational.questions.question_tokens import Token
from rag_pipeline.relational.schema.lexicon import stem
from rag_pipeline.relational.schema.ways import NotComputableError

_UNITS = frozenset({*units_of_measure(), "money", "counter", "times"})
_MONEY = ("price", "total", "amount", "cost")


class NumberConditions(ConditionState):
    """Comparisons with numbers: more than 5, at least two albums, longer than 5 minutes."""

    _compared_before: Sequence[Place] | None = None
    """What the comparison before was of: `over 10 and under 30`."""

    def _joins(self, token: Token) -> bool:
        """Whether a comparison goes on after `and`; the sign stands on either side."""
        joints = [t for t in (self._beside(token, step) for step in (-2, -1)) if t is not None]
        return any(one.name == "and" for one in joints)

    def _take_numbers(self) -> None:
        for token in [t for t in self.tokens if t.kind == "number" and not t.used]:
            if not token.used:
                self._take_number(token)

    def _take_number(self, token: Token) -> None:
        behind = self._beside(token, 1)
        is_unit = behind is not None and behind.name in _UNITS and not behind.used
        unit = behind if is_unit else None
        if not (self._take_signed(token, unit) or self._take_korean_range(token, unit)):
            self._take_equal(token, unit)

    def _take_signed(self, token: Token, unit: Token | None) -> bool:
        """Take a number with a sign beside it; say whether there was one."""
        before, behind = self._beside(token, -1), self._beside(unit or token, 1)
        for sign in (before, behind):
            if sign is None or sign.kind != "operator" or sign.used:
                continue
            if (sign.is_korean or sign.name in BEHIND) != (sign is behind):
                continue
            if sign.name.endswith((".more", ".less")):
                sign.used = token.used = True
                more: Comparison = ">" if sign.name.endswith(".more") else "<"
                self._compare(self._places_of(sign, token, unit), more, token, unit, None)
                return True
            if sign.name in SIGNS:
                sign.used = token.used = True
                thing = self._compared(token, sign, unit)
                self._compare_thing(thing, SIGNS[sign.name], token, unit)
                return True
            if sign.name == "between":
                self._between(sign, token, self._beside(unit or token, 1), unit)
                return True
        return False

    def _take_equal(self, token: Token, unit: Token | None) -> None:
        """Take a number without a sign: wards with 10 beds, the price 1.99, 시급이 31인."""
        before, behind = self._beside(token, -1), self._beside(token, 1)
        if behind is not None and behind.mention is not None and not behind.used:
            is_next = unit is None and behind.start == token.end
            counts = [
                p
                for p in self._numbers(behind)
                if self.vocabulary.is_number_of(p) or behind.is_korean
            ]
            if counts and is_next:
                behind.used = token.used = True
                self._compare(counts, "=", token, None, behind)
                return
        things = [behind] if unit is None else [before]
        for thing in things:
            if thing is None or thing.mention is None or thing.used:
                continue
            is_said = thing.start == token.end if unit is None else thing.is_korean
            way = self._anchors.get(id(thing))
            if is_said and way and not way[0].forward:
                # Customers with three rentals, 결제가 두 건인 고객
                token.used = True
                self._compare_thing(thing, "=", token, unit)
                return
        if before is not None and before.mention is not None and not before.used:
            places = self._numbers(before) or self.vocabulary.stand_in(before)
            is_equal = (unit or token).particle.startswith(("인", "이"))
            if places and (not before.is_korean or is_equal):
                before.used = token.used = True
                self._compare(places, "=", token, unit, before)

    def _places_of(self, sign: Token, number: Token, unit: Token | None) -> Sequence[Place]:
        """Return what an adjective compares: a column that is named, or one that it is about."""
        named = self._beside(number if sign.is_korean else sign, -1)
        if named is not None and not named.used and (own := self._numbers(named)):
            named.used = True
            return own
        concepts = self.vocabulary.adjective_concepts(sign.name.split(".")[0])
        places = self.vocabulary.by_last_word(concepts)
        is_measured = unit is not None and unit.name in units_of_measure()
        if not places and unit is not None and is_measured and sign.name != "lasting.more":
            return self._in_unit(unit.name)
        return places

    def _in_unit(self, unit: str) -> Sequence[Place]:
        """Return the numbers in a unit that the things named have; a column called by it first."""
        named = {self._base, *(self.vocabulary.table_of(t) for t in self.tokens)}
        called = self.vocabulary.namer.with_words((stem(unit_form(unit)),))
        places = [p for p in self.vocabulary.measured_in(unit) if p[0] in named]
        plain = [p for p in places if p in called]
        return plain if len(plain) == 1 else places

    def _between(self, sign: Token, low: Token, joint: Token | None, unit: Token | None) -> None:
        high = self._beside(joint, 1) if joint is not None else None
        if joint is None or high is None or joint.name != "and" or high.kind != "number":
            raise NotComputableError(f"it is not clear what “{sign.text}” bounds")
        behind = self._beside(high, 1)
        upper = behind if behind is not None and behind.name in _UNITS else None
        sign.used = joint.used = low.used = high.used = True
        thing = self._compared(high, sign, upper)
        self._bounds(thing, low, unit or upper, high, upper or unit)

    def _bounds(
        self, thing: Token | None, low: Token, unit: Token | None, high: Token, upper: Token | None
    ) -> None:
        self._compare_thing(thing, ">=", low, unit)
        if thing is not None:
            thing.used = False
        self._compare_thing(thing, "<=", high, upper)

    def _take_korean_range(self, low: Token, unit: Token | None) -> bool:
        """Take `60에서 80 사이`, `60부터 80까지`; say whether it was one."""
        mark = low.particle if unit is None else unit.particle
        joint = self._beside(unit or low, 1)
        is_said = joint is not None and joint.name in ("and", "from")
        high = self._beside(joint, 1) if joint is not None and is_said else joint
        if high is None or high.kind != "number" or not (is_said or mark == "에서"):
            return False
        behind = self._beside(high, 1)
        upper = behind if behind is not None and behind.name in _UNITS else None
        last = self._beside(upper or high, 1)
        if last is None or not last.is_korean or last.name not in ("between", "to"):
            return False
        thing = self._beside(low, -1)
        low.used = high.used = last.used = True
        if is_said and joint is not None:
            joint.used = True
        self._bounds(thing, low, unit or upper, high, upper or unit)
        return True

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

    def _compare_thing(  # noqa: PLR0911
        self, thing: Token | None, sign: Comparison, token: Token, unit: Token | None
    ) -> None:
        vocabulary = self.vocabulary
        if thing is None and unit is not None and unit.name in units_of_measure():
            places = self._in_unit(unit.name)
            return self._compare(places, sign, token, unit, None)
        if thing is None and unit is not None and unit.name == "money":
            places = [p for p in vocabulary.by_last_word(_MONEY) if p[0] == self._base]
            return self._compare(places[:1] if len(places) == 1 else [], sign, token, unit, None)
        if thing is None and self._compared_before is not None and self._joins(token):
            return self._compare(self._compared_before, sign, token, unit, None)
        if thing is None:
            places = [(one.table, one.expression.name) for one in vocabulary.totals()]  # type: ignore[union-attr]
            if len(mine := [place for place in places if place[0] == self._base]) == 1:
                return self._compare(mine, sign, token, unit, None)
            raise NotComputableError(f"it is not clear what “{token.text}” is compared with")
        if thing.name in ("sum", "sum_amount"):
            places = [(one.table, one.expression.name) for one in vocabulary.totals()]  # type: ignore[union-attr]
            thing.used = True
            return self._compare(places, sign, token, unit, thing)
        if places := self._numbers(thing) or vocabulary.stand_in(thing):
            thing.used = True
            return self._compare(places, sign, token, unit, thing)
        table = vocabulary.table_of(thing)
        if table is None and (tables := {p[0] for p in vocabulary.dates_like(thing)}):
            # Admitted at least twice: rows with such a date.
            table = next(iter(tables)) if len(tables) == 1 else None
        if table is None or table == self._base or token.number != int(token.number):
            raise NotComputableError(f"it is not clear what “{token.text}” is compared with")
        way = self._anchors.get(id(thing)) or self._way(table)
        if len(way) == 2 and vocabulary.schema.tables[way[0].target].is_join_table:
            way = way[:1]
        if len(way) != 1 or way[0].forward:
            raise NotComputableError(f"“{thing.text}” cannot be counted for {self._base}")
        thing.used = True
        if unit is not None:
            unit.used = True
        self._links.add(way[0].link)
        group = -10 - self._at(token)
        self._found.append(Constraint(way, None, False, group, (sign, int(token.number))))
        return None

    def _join_counted(self) -> None:
        """Ask what is said of counted rows of those rows: more than two rentals in 2023."""
        counted = [one for one in self._found if one.count is not None]
        for index, one in enumerate(self._found):
            if one.count is not None or one.group:
                continue
            owners = [c for c in counted if one.way[: len(c.way)] == c.way]
            if len(owners) > 1:
                raise NotComputableError("a condition follows two comparisons of numbers of rows")
            if owners:
                self._found[index] = replace(one, group=owners[0].group)

    def _compare(
        self,
        places: Sequence[Place],
        sign: Comparison,
        token: Token,
        unit: Token | None,
        thing: Token | None,
    ) -> None:
        way, place = self._nearest(places, token)
        self._compared_before = [place]
        number = token.number
        if unit is not None:
            unit.used = True
            if unit.name in units_of_measure():
                factor = self.vocabulary.factor(unit.name, place)
                if factor is None:
                    raise NotComputableError(f"it is not known in “{unit.text}” what {place[1]} is")
                number = number * factor
        if thing is not None and self._is_negated(thing):
            raise NotComputableError("a negated comparison is not clear")
        self._add(way, lambda path: Compare(ColumnAt(path, *place), sign, number))
