"""Logical forms evaluated row by row in Python: slow, plain, and independent of any SQL."""

from __future__ import annotations

import datetime
import operator
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from rag_pipeline.relational.questions.forms.form_compiler import rebased
from rag_pipeline.relational.questions.forms.logical_form import (
    AnyOf,
    Arithmetic,
    ColumnAt,
    Compare,
    DaysBetween,
    During,
    Exists,
    Filter,
    Form,
    FullName,
    Measure,
    Missing,
    OneOf,
    Overall,
    Path,
)
from rag_pipeline.relational.schema.table_schema import Schema

Row = dict[str, Any]
_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}


class Evaluator:
    """Evaluates forms over tables held as lists of rows."""

    def __init__(self, schema: Schema, tables: dict[str, list[Row]]) -> None:
        self._schema = schema
        self._tables = tables

    def rows(self, form: Form) -> list[tuple[Any, ...]]:
        """Return what the form's SQL should: names, then the number, unordered."""
        rows = [r for r in self._tables[form.base] if self._all(form.filters, r)]
        if form.measure.kind == "list":
            return self._list(form, rows)
        if form.group is None:
            return [(self._number(form, form.measure, rows),)]
        groups: dict[tuple[Any, ...], list[Row]] = {}
        for row in rows:
            key = self._key(form, row)
            if key is not None:
                groups.setdefault(key, []).append(row)
        if form.with_empty:
            assert form.group.table is not None
            mine = [rebased(one, form.group.path) for one in form.filters]
            own = tuple(one for one in mine if one is not None)
            for row in self._tables[form.group.table]:
                key = self._row_key(form.group.table, row)
                if self._all(own, row):
                    groups.setdefault(key, [])
        found = []
        for key, members in groups.items():
            number = self._number(form, form.measure, members)
            if form.with_empty and number is None:
                number = 0
            shown = key[1] if form.group.table is not None else key
            found.append((*shown, number))
        return self._ordered(form, found)

    def _ordered(self, form: Form, found: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        if form.having is not None:
            sign, bound = form.having
            found = [r for r in found if r[-1] is not None and _SIGNS[sign](r[-1], bound)]
        if form.descending is not None:
            found = [r for r in found if r[-1] is not None]
        return found

    def _list(self, form: Form, rows: list[Row]) -> list[tuple[Any, ...]]:
        found = []
        for row in rows:
            cells = tuple(self._value(one, row) for one in form.measure.columns)
            if form.measure.expression is not None:
                cells = (*cells, self._value(form.measure.expression, row))
            found.append(cells)
        if form.measure.expression is None:
            return list(dict.fromkeys(found))
        return self._ordered(form, found)

    def _key(self, form: Form, row: Row) -> tuple[Any, ...] | None:
        group = form.group
        assert group is not None
        if group.table is not None:
            at = self._follow(group.path, row)
            return None if at is None else self._row_key(group.table, at)
        assert group.column is not None
        if self._follow(group.column.path, row) is None:
            return None
        value = self._value(group.column, row)
        if group.period is None:
            return (value,)
        if value is None:
            return (None,) if group.period == "year" else (None, None)
        if group.period == "year":
            return (value.year,)
        part = value.month if group.period == "month" else (value.month + 2) // 3
        return (value.year, part)

    def _row_key(self, table: str, row: Row) -> tuple[Any, ...]:
        info = self._schema.tables[table]
        return tuple(row[n] for n in info.key), tuple(row[n] for n in info.label)

    def _number(self, form: Form, measure: Measure, rows: list[Row]) -> Any:
        if measure.kind == "share":
            weights = [(r, self._weight(measure, r)) for r in rows]
            whole = _sum(w for _, w in weights)
            part = _sum(0 if not self._all(measure.part, r) else w for r, w in weights)
            return Decimal(100) * part / whole if whole and part is not None else None
        values = [self._weight(measure, r) for r in rows]
        present = [v for v in values if v is not None]
        number: Any
        if measure.kind == "count":
            number = len(rows)
        elif measure.kind == "count_distinct":
            number = len(set(present))
        elif not present:
            number = None
        elif measure.kind == "sum":
            number = _sum(present)
        elif measure.kind == "average":
            number = Decimal(_sum(present)) / len(present)
        else:
            number = (min if measure.kind == "minimum" else max)(present)
        if measure.per is not None and number is not None:
            number = Decimal(number)
            owners = [self._follow(measure.per, r) for r in rows]
            table = measure.per[-1].target
            met = {self._row_key(table, o) for o in owners if o is not None}
            count = len(met)
            if measure.per_all:
                mine = [rebased(one, measure.per) for one in form.filters]
                own = tuple(one for one in mine if one is not None)
                count = sum(self._all(own, r) for r in self._tables[table])
            number = number / count if count else None
        return number

    def _weight(self, measure: Measure, row: Row) -> Any:
        return 1 if measure.expression is None else self._value(measure.expression, row)

    def _follow(self, path: Path, row: Row | None) -> Row | None:
        for link in path:
            if row is None or any(row[name] is None for name in link.columns):
                return None
            wanted = tuple(row[name] for name in link.columns)
            row = next(
                r
                for r in self._tables[link.target]
                if tuple(r[n] for n in link.target_columns) == wanted
            )
        return row

    def _value(self, one: Any, row: Row) -> Any:
        if isinstance(one, ColumnAt):
            at = self._follow(one.path, row)
            return None if at is None else at[one.name]
        if isinstance(one, Arithmetic):
            left, right = self._value(one.left, row), self._value(one.right, row)
            return None if left is None or right is None else _SIGNS[one.operator](left, right)
        if isinstance(one, DaysBetween):
            start, end = self._value(one.start, row), self._value(one.end, row)
            return None if start is None or end is None else (end - start).days
        if isinstance(one, FullName):
            parts = [self._value(part, row) for part in one.parts]
            return None if None in parts else " ".join(parts)
        if isinstance(one, Overall):
            rows = [r for r in self._tables[one.base] if self._all(one.filters, r)]
            values = [v for v in (self._value(one.column, r) for r in rows) if v is not None]
            if not values:
                return None
            if one.kind == "average":
                return Decimal(_sum(values)) / len(values)
            return (min if one.kind == "minimum" else max)(values)
        return one

    def _all(self, filters: Iterable[Filter], row: Row) -> bool:
        return all(self._holds(one, row) for one in filters)

    def _holds(self, one: Filter, row: Row) -> bool:
        if isinstance(one, Compare):
            left, right = self._value(one.left, row), self._value(one.right, row)
            return (
                left is not None and right is not None and bool(_SIGNS[one.operator](left, right))
            )
        if isinstance(one, OneOf):
            value = self._value(one.column, row)
            if value is None:
                return one.negated and one.or_missing
            return (value in one.values) != one.negated
        if isinstance(one, Missing):
            return (self._value(one.column, row) is None) != one.negated
        if isinstance(one, During):
            day: datetime.date | None = self._value(one.column, row)
            if day is None:
                return one.negated and one.or_missing
            inside = (one.start is None or day >= one.start) and (one.end is None or day < one.end)
            return inside != one.negated
        if isinstance(one, AnyOf):
            return any(self._holds(part, row) for part in one.filters)
        return self._exists(one, row)

    def _exists(self, one: Exists, row: Row) -> bool:
        owner = self._follow(one.path, row)
        found = 0
        if owner is not None:
            wanted = tuple(owner[n] for n in one.link.target_columns)
            found = sum(
                tuple(child[n] for n in one.link.columns) == wanted
                and self._all(one.filters, child)
                for child in self._tables[one.link.table]
            )
        if one.count is not None:
            sign, number = one.count
            return bool(_SIGNS[sign](found, number))
        return (found == 0) if one.negated else found > 0


def _sum(values: Iterable[Any]) -> Any:
    present = [v for v in values if v is not None]
    return sum(present) if present else None
