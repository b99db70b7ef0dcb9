"""Years, months, days, decades and parts of years as a question writes them. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass

from rag_pipeline.relational.questions.pieces import Piece

_MONTHS = (
    "january february march april may june july august september october november december".split()
)
_PARTS = {
    "first_half": (0, 6),
    "second_half": (6, 6),
    "quarter_1": (0, 3),
    "quarter_2": (3, 3),
    "quarter_3": (6, 3),
    "quarter_4": (9, 3),
}
"""Parts of a year: the months before them, and how many they have."""
_YEARS = range(1900, 2101)


@dataclass(frozen=True)
class WrittenPeriod:
    """A period, and the pieces that write it: up to, not with, `end`."""

    text: str
    end: int
    first: datetime.date
    after: datetime.date
    """The first day after it."""


def period_at(pieces: Sequence[Piece], index: int) -> WrittenPeriod | None:
    """Return the period that is written from a piece on."""
    return _PeriodReader(pieces, index).read()


class _PeriodReader:
    """Reads the pieces from one place on."""

    def __init__(self, pieces: Sequence[Piece], index: int) -> None:
        self._pieces = pieces
        self._start = index

    def read(self) -> WrittenPeriod | None:
        at = self._start
        operator = self._operator(at)
        if operator in _PARTS:
            return self._part(at + 2, self._number(at + 1), operator)
        if operator in _MONTHS:
            return self._english_month(_MONTHS.index(operator) + 1)
        if self._operator(at + 1) == "month_mark":
            before = self._year_before()
            if before is not None:
                return self._made(at + 2, before, self._number(at) or 0)
        piece = self._pieces[at]
        if piece.kind == "number" and piece.value.count("-") == 2:
            return self._made(at + 1, *map(int, piece.value.split("-")))
        number = self._number(at)
        return None if number is None else self._after_number(number)

    def _english_month(self, month: int) -> WrittenPeriod | None:
        at, day = self._start, self._number(self._start + 1)
        if day is not None and (date := self._made(at + 3, self._number(at + 2), month, day)):
            return date
        year = self._year_behind(at + 1)
        return self._made(at + 2, day, month) or self._made(at + 1, year, month)

    def _after_number(self, number: int) -> WrittenPeriod | None:
        """Read what begins with a year, or with the day of `4 May 2023`."""
        at, mark = self._start, self._operator(self._start + 1)
        if mark in _MONTHS:
            return self._made(at + 3, self._number(at + 2), _MONTHS.index(mark) + 1, number)
        behind = at + 1 + (mark == "year_mark")
        if self._operator(behind) in _PARTS:
            return self._part(behind + 1, number, self._operator(behind))
        if self._is_decade():
            return self._made(at + 2, number) if number % 10 == 0 else None
        if mark == "year_mark":
            return self._korean(number)
        text = self._pieces[at].text
        return self._made(at + 1, number) if len(text) == 4 and text.isdigit() else None

    def _korean(self, year: int) -> WrittenPeriod | None:
        at = self._start
        month, day = self._number(at + 2), self._number(at + 4)
        if not month or self._operator(at + 3) != "month_mark":
            return self._made(at + 2, year)
        if day and self._operator(at + 5) == "day_mark":
            return self._made(at + 6, year, month, day)
        return self._made(at + 4, year, month)

    def _number(self, at: int) -> int | None:
        is_there = at < len(self._pieces) and self._pieces[at].kind == "number"
        value = self._pieces[at].value if is_there else ""
        return int(value) if value.isdigit() else None

    def _operator(self, at: int) -> str:
        is_there = at < len(self._pieces) and self._pieces[at].kind == "operator"
        return self._pieces[at].value if is_there else ""

    def _is_decade(self) -> bool:
        at = self._start + 1
        is_s = (
            at < len(self._pieces)
            and self._pieces[at].kind == "filler"
            and self._pieces[at].text == "s"
        )
        return is_s or self._operator(at) == "decade_mark"

    def _year_behind(self, at: int) -> int | None:
        """Return the year of `May and July 2023`, also for the first."""
        is_range = self._operator(at) in ("and", "to", "or") and self._operator(at + 1) in _MONTHS
        return self._number(at + 2) if is_range else None

    def _year_before(self) -> int | None:
        """Return the year of 2023년 5월부터 7월까지, also for the last."""
        at = self._start
        marks = [i for i in range(1, at) if self._operator(i) == "year_mark"]
        follows = at >= 2 and any(
            self._operator(i) == "month_mark" for i in range(max(0, at - 3), at)
        )
        return self._number(marks[-1] - 1) if marks and follows else None

    def _part(self, end: int, year: int | None, name: str) -> WrittenPeriod | None:
        """Return a half or a quarter of a year."""
        if year is None or year not in _YEARS:
            return None
        before, months = _PARTS[name]
        return self._written(end, datetime.date(year, before + 1, 1), months)

    def _made(
        self, end: int, year: int | None, month: int = 0, day: int = 0
    ) -> WrittenPeriod | None:
        if year is None or year not in _YEARS:
            return None
        try:
            first = datetime.date(year, month or 1, day or 1)
        except ValueError:
            return None
        if self._is_decade():
            return self._written(end, first, 120)
        if day:
            return self._between(end, first, first + datetime.timedelta(days=1))
        return self._written(end, first, 1 if month else 12)

    def _written(self, end: int, first: datetime.date, months: int) -> WrittenPeriod:
        years, month = divmod(first.month - 1 + months, 12)
        return self._between(end, first, datetime.date(first.year + years, month + 1, 1))

    def _between(self, end: int, first: datetime.date, after: datetime.date) -> WrittenPeriod:
        text = " ".join(piece.text for piece in self._pieces[self._start : end])
        return WrittenPeriod(text, end, first, after)
