"""Values of the data in a question: where they stand, and whose they are."""

from __future__ import annotations

from functools import partial

from rag_pipeline.relational.questions.forms.constraints import Constraint
from rag_pipeline.relational.questions.forms.logical_form import (
    ColumnAt,
    Filter,
    FullName,
    OneOf,
    Path,
)
from rag_pipeline.relational.questions.grammar.condition_state import ConditionState, joined
from rag_pipeline.relational.questions.named_values import FoundValue, ValueColumn
from rag_pipeline.relational.questions.question_tokens import Token
from rag_pipeline.relational.schema.ways import NotComputableError, Way, forward


class ValueConditions(ConditionState):
    """Values of the data: where they stand, and whose they are."""

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
            shares = (
                last is not None
                and last.kind == "value"
                and bool({f.column for f in token.values} & {f.column for f in last.values})
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
        self._check_flag(first)
        columns = [f for f in first.values if all(_has(t, f) for t in group)]
        columns = self._restricted(first, last, columns)
        options: list[tuple[float, Way, FoundValue]] = []
        is_beside = self._is_named(first)
        for anchor, bonus in self._value_anchors(first, last):
            at = anchor[-1].target if anchor else self._base
            for found in columns:
                for way in self._value_ways(at, found.column.table, bool(anchor), first):
                    # Whose they are goes before what they have.
                    cost = max(0, len(way) - bonus) + (0.5 if forward(way) is None else 0)
                    if not way and not bonus and not is_beside and self._is_name(found):
                        # `albums of Iron Maiden` are hardly those of that title.
                        cost += 2.5
                    options.append((cost, joined(anchor, way), found))
        if not options:
            raise NotComputableError(f"“{first.text}” is not related to {self._base}")
        best = min(cost for cost, _, _ in options)
        nearest = [(way, f.column) for c, way, f in options if c == best]
        if best >= 1 and all(forward(way) is not None for way, _ in nearest):
            # Of a row two steps away or of one three steps away: nothing in the question tells.
            nearest += [
                (way, f.column)
                for c, way, f in options
                if best < c <= best + 1 and forward(way) is not None
            ]
        chosen = list(dict.fromkeys(nearest))
        way, column = self.choices.pick(chosen)
        self._check_verb(first, way)
        values = tuple(v for t in group for f in t.values if f.column == column for v in f.values)
        negated = any(self._is_negated(t) for t in group)
        target = next((t for t in group if self._is_negated(t)), first)
        for token in group:
            token.used = True
        one_to_many = forward(way) is None
        if len(group) > 1 and one_to_many and negated and self._joint(group) != "or":
            raise NotComputableError("it is not clear what is negated")

        is_other = negated and not one_to_many
        or_missing = is_other and self._with_none(way, column.table, column.columns)

        def make(path: Path) -> Filter:
            parts = tuple(ColumnAt(path, column.table, name) for name in column.columns)
            whole = parts[0] if len(parts) == 1 else FullName(parts)
            return OneOf(whole, values, is_other, or_missing)

        is_both = one_to_many and len(group) > 1 and not negated and self._joint(group) != "or"
        said = self._said_both(first, last, is_both)
        # Bought Rock and Jazz: both of them, or one of them.
        if is_both and (said or self.choices.pick([True, False])):
            for number, value in enumerate(values):
                single = partial(is_one_of, column, (value,))
                self._links |= {step.link for step in way}
                self._found.append(Constraint(way, single, False, -2 - number))
            return
        self._add(way, make, target)

    def _check_flag(self, value: Token) -> None:
        """Refuse `nurses work at night`, where `night` is a shift, and some are `nightWorker`."""
        beside = self._beside(value, 1)
        table = self.vocabulary.table_of(beside) if beside is not None else None
        if any(found.column.table == table for found in value.values):
            return
        for place, words in self.vocabulary.namer.words.items():
            if value.noun in words and place[0] == self._base and self.vocabulary.is_flag(place):
                raise NotComputableError(
                    f"“{value.text}” may be a value, or mean {'.'.join(place)}"
                )

    def _check_verb(self, value: Token, way: Way) -> None:
        """Refuse `rent in France`, where France is of those who rent, or of where they do."""
        verb = self._beside(value, -1)
        acts = self._anchors.get(id(verb)) if verb is not None and verb.is_verb else None
        if verb is not None and acts and way[: len(acts)] != acts:
            words = f"“{verb.text}” and “{value.text}”"
            raise NotComputableError(f"it is not clear whether {words} belong together")

    def _said_both(self, first: Token, last: Token, can_be: bool) -> bool:
        """Take a `both` before values, or 모두 behind them, where rows can have both."""
        before, behind = self._beside(first, -1), self._beside(last, 1)
        if behind is not None and behind.mention is not None and last.is_korean != behind.is_korean:
            behind = self._beside(behind, 1)
        both = next(
            (
                one
                for one in (before, behind)
                if one is not None and one.name in ("both", "altogether")
            ),
            None,
        )
        if both is None:
            return False
        both.used = can_be
        return can_be or both.name == "both"

    def _joint(self, group: list[Token]) -> str:
        before = self._beside(group[-1], -1)
        return before.name if before is not None else ""

    def _restricted(self, first: Token, last: Token, columns: list[FoundValue]) -> list[FoundValue]:
        """Keep the columns that a word beside names: `the playlist Grunge`, `city of Paris`."""
        previous = self._beside(first, -1)
        if previous is not None and previous.kind == "value" and previous.end == first.start:
            # ALFKI (Alfreds Futterkiste): another name of the same row
            tables = {f.column.table for f in previous.values if self._is_name(f)}
            same_row = [f for f in columns if f.column.table in tables and self._is_name(f)]
            columns = same_row or columns
        for one in (self._beside(first, -1), self._beside(last, 1)):
            if one is None or (one.kind == "operator" and one.name != "named"):
                continue
            if one.name == "named" and one.kind == "operator":
                one.used = True
                named = [f for f in columns if self._is_name(f)]
                thing = self._beside(one, -1)
                owner = self.vocabulary.table_of(thing) if thing is not None else None
                if owner is not None and all(f.column.table != owner for f in named):
                    raise NotComputableError(f"no row of {owner} is called “{first.text}”")
                return named
            if one.mention is None:
                continue
            elsewhere = all(f.column.table != one.mention.table for f in columns)
            is_korean = one is self._beside(first, -1) and one.is_korean
            if is_korean and not one.mention.columns and elsewhere:
                continue
            is_before = one is self._beside(first, -1)
            if not is_before and one.start != last.end:
                continue
            table = one.mention.table
            same = [f for f in columns if f.column.table == table]
            labelled = [f for f in same if self._is_name(f)]
            # `the playlist Grunge`, but not `playlists in Grunge`.
            is_apposition = is_before and (
                one.end == first.start
                or (one.particle in ("가", "이") and last.particle.startswith(("인", "이")))
            )
            if table and labelled and (is_apposition or len(columns) == len(same)):
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

    def _is_named(self, first: Token) -> bool:
        """Whether the value is said to be a name: `customers named King`, `the album Jagged …`."""
        before = self._beside(first, -1)
        table = self.vocabulary.table_of(before) if before is not None else None
        return before is not None and (
            before.name == "named"
            or (
                before.mention is not None
                and table in (None, self._base)
                and before.end == first.start
            )
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

    def _value_ways(self, start: str, end: str, is_anchor: bool, value: Token) -> list[Way]:
        roles = [] if is_anchor and start != self._base else self.roles()
        if start == self._base and (said := self.direction(value)):
            ways = self.vocabulary.ways.between(start, end, said)
            return [way for way in ways if any(step.link in said for step in way)] or ways
        mine = [link for link in roles if link.target == end]
        ways = self.vocabulary.ways.between(start, end, mine)
        if start == end and mine:
            ahead = [way for way in ways if forward(way) is not None and way]
            return ahead or ways
        return ways


def _has(token: Token, found: FoundValue) -> bool:
    return any(one.column == found.column for one in token.values)


def is_one_of(column: ValueColumn, values: tuple[str, ...], path: Path) -> Filter:
    """Return the filter for some values of a column, or of a person's two names."""
    parts = tuple(ColumnAt(path, column.table, name) for name in column.columns)
    return OneOf(parts[0] if len(parts) == 1 else FullName(parts), values)
