"""Periods, and dates that are compared."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from rag_pipeline.relational.questions.forms.constraints import Constraint
from rag_pipeline.relational.questions.forms.logical_form import (
    AnyOf,
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

Span = tuple[datetime.date | None, datetime.date | None]
"""The first day, and the first day after it; None leaves a side open."""


@dataclass
class _Periods:
    """Periods joined by `and` or `or`, and the word for their date."""

    token: Token
    last: Token
    spans: list[Span]
    hint: Token | None
    is_and: bool = False


class PeriodConditions(ConditionState):
    """Periods and dates that are compared."""

    _hints: Sequence[Token] = ()
    """Words for dates that periods may belong to."""

    def date_column(self, base: str) -> ColumnAt:
        """Return the date that periods of a base table are told by."""
        hints = [p for t in self.tokens for p in self.vocabulary.dates_like(t)]
        options: list[tuple[int, ColumnAt]] = []
        for table in self.vocabulary.schema.tables:
            dates = [p for p in hints if p[0] == table] or self.vocabulary.own_dates(
                table, is_base=table == base
            )
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
        self._hints = [
            t
            for t in self.tokens
            if not t.used
            and self.vocabulary.table_of(t) is None
            and self.vocabulary.dates_like(t)
            and not self._numbers(t)
        ]
        groups: list[_Periods] = []
        for token in [t for t in self.tokens if t.kind == "period" and not t.used]:
            if token.used:
                continue
            before, behind = self._beside(token, -1), self._beside(token, 1)
            token.used = True
            span, last = self._span(token, before, behind)
            joint = self._joint_of(groups[-1], token) if groups else None
            if joint is not None:
                joint.used = True
                groups[-1].spans.append(span)
                groups[-1].last = last
                groups[-1].is_and |= joint.name == "and"
            else:
                groups.append(_Periods(token, last, [span], self._hint_of(token)))
        said: dict[int, list[Token | None]] = {}
        for one in groups:
            if not self._is_negated(one.token):
                said.setdefault(self._clause(one.token), []).append(one.hint)
        for hints in said.values():
            if len({*map(id, hints)}) < len(hints):
                raise NotComputableError("it names two periods: ask for one, or for a range")
        for one in groups:
            self._during(one)

    def _span(self, token: Token, before: Token | None, behind: Token | None) -> tuple[Span, Token]:
        """Return the first day and the first day after it, and the last token of the period."""
        assert token.period is not None
        first, end = token.period
        other = self._range_end(token, before, behind)
        if other is not None:
            assert other.period is not None
            other.used = True
            return (first, other.period[1]), other
        sign = behind if token.is_korean else before
        name = sign.name if sign is not None and sign.kind == "operator" else ""
        if sign is not None and name in ("before", "after", "from", "to") and not sign.used:
            sign.used = True
            is_plain = name in ("from", "to") or sign.text.lower() in ("since", "이후")
            last = sign if token.is_korean else token
            if name in ("after", "from"):
                return (first if is_plain else end, None), last
            return (None, end if is_plain else first), last
        return (first, end), token

    def _joint_of(self, earlier: _Periods, token: Token) -> Token | None:
        """Return the word that joins a period with the one before: `2022 and 2023`."""
        joint = self._beside(token, -1)
        if joint is None or joint.name not in ("and", "or") or joint.used:
            return None
        return joint if self._beside(joint, -1) is earlier.last else None

    def _hint_of(self, token: Token) -> Token | None:
        """Return the word for a date that a period belongs to: `opened in 2022 and closed in …`."""
        at = self._at(token)
        ahead = self.tokens[at + 1 :] if token.is_korean else self.tokens[:at][::-1]
        for one in ahead:
            if one in self._hints:
                return one
            if one.kind == "period" or (one.is_verb and self.vocabulary.table_of(one)):
                break
        is_only = sum(t.kind == "period" for t in self.tokens) == 1
        return next(iter(self._hints), None) if is_only else None

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

    def _during(self, one: _Periods) -> None:
        token = one.token
        places = self.vocabulary.dates_like(one.hint) if one.hint is not None else []
        negated_with = self._companion(token)
        trade = next(iter(self._ops("trade", "spend")), None)
        chosen = self._dated(places, trade)
        if not chosen:
            dates = [name for _, name in self.vocabulary.dates(self._base)]
            known = f": say {' or '.join(dates)}" if dates else ""
            raise NotComputableError(f"it is not clear which date “{token.text}” is of{known}")
        way, place = self.choices.pick(chosen)
        if one.hint is not None:
            one.hint.used = True
            self.conditional.add(id(one.hint))
        owner = negated_with or token
        # Not hired in 2021: the verb of the date is negated.
        is_said = self._is_negated(token) or (negated_with is not None and negated_with is one.hint)
        negated = is_said and forward(way) is not None
        or_missing = negated and self._with_none(way, place[0], (place[1],))

        def made(spans: Sequence[Span], path: Path) -> Filter:
            column = ColumnAt(path, *place)
            parts = tuple(During(column, *span, negated, or_missing) for span in spans)
            return parts[0] if len(parts) == 1 else AnyOf(parts)

        if negated:
            for span in one.spans:
                self._add(way, partial(made, [span]), owner)
        elif len(one.spans) > 1 and one.is_and and forward(way) is None and self._in_each(one, way):
            for number, span in enumerate(one.spans):
                self._links |= {step.link for step in way}
                self._found.append(Constraint(way, partial(made, [span]), False, -100 - number))
        else:
            self._add(way, partial(made, one.spans), owner)

    def _in_each(self, one: _Periods, way: Way) -> bool:
        """Choose whether rows in every period are meant, or rows in any of them."""
        if any(c.way[: len(way)] == way and c.make is not None for c in self._found):
            raise NotComputableError(
                f"it is not clear whether “{one.token.text}” and “{one.last.text}” "
                "are of the same rows"
            )
        both = self._beside(one.token, -1)
        if both is None or both.name != "both":
            both = self._beside(one.last, 1)
        if both is not None and both.name in ("both", "altogether"):
            both.used = True
            return True
        return self.choices.pick([True, False])

    def _dated(self, places: Sequence[Place], trade: Token | None) -> list[tuple[Way, Place]]:
        """Return the dates that a period may be of, with the ways to them: the nearest."""
        anchors: list[Way] = [(), *self._anchors.values()]
        anchors += [c.way for c in self._found if c.make is None and c.way]
        if trade is not None and (way := self._trade_way()) is not None:
            anchors.append(way)
        options: list[tuple[int, Way, Place]] = []
        for anchor in anchors:
            at = anchor[-1].target if anchor else self._base
            for table in self.vocabulary.dated_tables(places):
                wanted = (
                    [p for p in places if p[0] == table]
                    if places
                    else self.vocabulary.own_dates(table, is_base=table == at)
                )
                for way in self.vocabulary.ways.between(at, table):
                    # Patients admitted in 2023: the date is of rows that belong to them.
                    steps = 0 if forward(way) is not None else 10
                    if not steps or (places and len(way) == 1):
                        options += [(len(way) + steps, joined(anchor, way), p) for p in wanted]
        best = min((cost for cost, _, _ in options), default=0)
        chosen = list(dict.fromkeys((way, p) for cost, way, p in options if cost == best))
        if trade is not None and any(way for way, _ in chosen):
            trade_way = self._trade_way() or ()
            mine = [one for one in chosen if one[0][: len(trade_way)] == trade_way]
            chosen = mine or chosen
        return chosen


def _two_dates(table: str, one: str, other: str, sign: Comparison, path: Path) -> Filter:
    return Compare(ColumnAt(path, table, one), sign, ColumnAt(path, table, other))
