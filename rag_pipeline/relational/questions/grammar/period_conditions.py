"""Periods, and dates that are compared."""

from __future__ import annotations

import datetime
from functools import partial

from rag_pipeline.relational.questions.forms.logical_form import (
    ColumnAt,
    Compare,
    Comparison,
    During,
    Filter,
    Path,
)
from rag_pipeline.relational.questions.grammar.condition_state import ConditionState, joined
from rag_pipeline.relational.questions.mentions import Place
from rag_pipeline.relational.questions.question_tokens import Token
from rag_pipeline.relational.schema.ways import NotComputableError, Way, forward


class PeriodConditions(ConditionState):
    """Periods and dates that are compared."""

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

    def _range_end(self, token: Token, before: Token | None, behind: Token | None) -> Token | None:
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
                wanted = (
                    [p for p in places if p[0] == table]
                    if places
                    else (self.vocabulary.own_dates(table))
                )
                for way in self.vocabulary.ways.between(at, table) if wanted else ():
                    if forward(way) is not None:
                        options += [(len(way), joined(anchor, way), p) for p in wanted]
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
        # Not hired in 2021: the verb of the date is negated.
        is_said = self._is_negated(token) or (
            negated_with is not None and negated_with in hints[:1]
        )
        negated = is_said and forward(way) is not None
        or_missing = negated and self._with_none(way, place[0], (place[1],))

        def make(path: Path) -> Filter:
            return During(ColumnAt(path, *place), start, stop, negated, or_missing)

        self._add(way, make, owner)


def _two_dates(table: str, one: str, other: str, sign: Comparison, path: Path) -> Filter:
    return Compare(ColumnAt(path, table, one), sign, ColumnAt(path, table, other))
