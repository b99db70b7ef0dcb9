"""Days from one date of a row to another: as a measure, and compared with a number."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from rag_pipeline.relational.questions.forms.logical_form import (
    ColumnAt,
    Compare,
    Comparison,
    DaysBetween,
    Filter,
    Path,
)
from rag_pipeline.relational.questions.grammar.condition_state import SIGNS, ConditionState
from rag_pipeline.relational.questions.mentions import Place
from rag_pipeline.relational.questions.question_tokens import Token
from rag_pipeline.relational.schema.ways import NotComputableError

_JOINTS = frozenset({"between", "and", "from", "to", "after", "of"})


class DurationConditions(ConditionState):
    """Closed within 7 days, the average number of days between ordered and shipped."""

    def measured_days(self) -> tuple[str, DaysBetween] | None:
        """Return the table and the span of `days between A and B`; its tokens are used then."""
        days = [t for t in self.tokens if self._is_days(t)]
        dates = [t for t in self.tokens if t not in days and self._date_words(t)]
        if len(days) != 1 or len(dates) != 2:
            return None
        before = self._beside(days[0], -1)
        if before is not None and before.kind == "number":
            return None
        pairs = [
            (a, b)
            for a in self._date_words(dates[0])
            for b in self._date_words(dates[1])
            if a[0] == b[0] and a != b
        ]
        if len(pairs) != 1:
            words = f"“{dates[0].text}” and “{dates[1].text}”"
            raise NotComputableError(f"it is not clear which dates {words} are")
        first, last = self._at(dates[0]), self._at(dates[1])
        ends = [first - 1, *range(first, last + 2)]
        joints = [self.tokens[i] for i in ends if 0 <= i < len(self.tokens)]
        counts = [self._beside(days[0], step) for step in (-1, 1)]
        for token in (*days, *dates, *(t for t in joints if t.name in _JOINTS)):
            token.used = True
        for count in counts:
            if count is not None and count.name == "count":
                count.used = True
        (table, start), (_, end) = pairs[0]
        return table, DaysBetween(ColumnAt((), table, start), ColumnAt((), table, end))

    def _is_days(self, token: Token) -> bool:
        return token.mention is not None and token.text.lower() in ("day", "days", "일", "일수")

    def _date_words(self, token: Token) -> Sequence[Place]:
        if token.used or token.mention is None or self.vocabulary.table_of(token) is not None:
            return []
        return self.vocabulary.dates_like(token)

    def _take_durations(self) -> None:
        for number in [t for t in self.tokens if t.kind == "number" and not t.used]:
            days = self._beside(number, 1)
            if days is None or not self._is_days(days):
                continue
            sign = self._beside(days, 1) if days.is_korean else self._beside(number, -1)
            named = sign.name if sign is not None and not sign.used else ""
            comparison = ">" if named == "lasting.more" else SIGNS.get(named)
            span = self._spanned()
            if sign is None or comparison is None or span is None:
                continue
            number.used = days.used = sign.used = True
            self._add((), partial(_lasts, span, comparison, int(number.number)))

    def _spanned(self) -> tuple[Place, Place] | None:
        """Return the two dates of a base row: those that are named, or the only two that it has."""
        named = [t for t in self.tokens if not self._is_days(t) and self._date_words(t)]
        own = [(p, t) for t in named for p in self._date_words(t) if p[0] == self._base]
        all_dates = [
            (self._base, column.name)
            for column in self.vocabulary.schema.tables[self._base].table.columns
            if self.vocabulary.is_date((self._base, column.name))
        ]
        places = list(dict.fromkeys(p for p, _ in own))
        if len(places) < 2 and len(all_dates) == 2:
            places = all_dates
        if len(places) != 2:
            return None
        for _, token in own:
            token.used = True
        start, end = sorted(places, key=all_dates.index)
        return start, end


def _lasts(span: tuple[Place, Place], sign: Comparison, days: int, path: Path) -> Filter:
    start, end = (ColumnAt(path, *place) for place in span)
    return Compare(DaysBetween(start, end), sign, days)
