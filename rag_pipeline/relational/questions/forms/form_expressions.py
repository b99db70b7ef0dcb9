"""Expressions and filters of a logical form as SQLAlchemy expressions, with the joins they need."""

from __future__ import annotations

import operator
from decimal import Decimal
from functools import reduce
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Date,
    FromClause,
    Integer,
    Numeric,
    and_,
    cast,
    func,
    literal,
    not_,
    or_,
    select,
)

from rag_pipeline.relational.questions.forms.logical_form import (
    AnyOf,
    Arithmetic,
    ColumnAt,
    Compare,
    DaysBetween,
    During,
    Exists,
    Expression,
    Filter,
    FullName,
    Missing,
    OneOf,
    Overall,
    Path,
)
from rag_pipeline.relational.schema.table_schema import Schema, is_number

OPERATORS = {
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


class ExpressionScope:
    """A base table and what is joined to it along paths, each table once a path."""

    def __init__(self, base: str, schema: Schema, dialect: str) -> None:
        self._schema = schema
        self._dialect = dialect
        self._base = schema.tables[base].table.alias()
        self._aliases: dict[Path, Any] = {(): self._base}

    def table(self, path: Path) -> Any:
        """Return the alias at the end of a path; its columns are in `.c`."""
        if path not in self._aliases:
            self.table(path[:-1])
            self._aliases[path] = self._schema.tables[path[-1].target].table.alias()
        return self._aliases[path]

    def source(self) -> FromClause:
        """Return the joins of all paths used so far; a row without a partner stays."""
        source: FromClause = self._base
        for path in sorted(self._aliases, key=len)[1:]:
            link, own, target = path[-1], self._aliases[path[:-1]], self._aliases[path]
            pairs = zip(link.columns, link.target_columns, strict=True)
            source = source.outerjoin(target, and_(*(own.c[a] == target.c[b] for a, b in pairs)))
        return source

    def expression(  # noqa: PLR0911
        self, one: Expression, *, exact: bool = True
    ) -> ColumnElement[Any]:
        """Return an expression's SQL; with `exact`, numbers as decimals.

        Binary floats would add up to other cents.
        """
        if isinstance(one, Decimal):
            return cast(literal(str(one)), Numeric(38, 10))
        if isinstance(one, Arithmetic):
            left, right = self.expression(one.left), self.expression(one.right)
            combined: ColumnElement[Any] = OPERATORS[one.operator](left, right)
            return combined
        if isinstance(one, DaysBetween):
            return self._days(one)
        if isinstance(one, Overall):
            return self._overall(one)
        if isinstance(one, FullName):
            parts = [self.expression(part) for part in one.parts]
            return reduce(lambda a, b: a + literal(" ") + b, parts)
        column: ColumnElement[Any] = self.table(one.path).c[one.name]
        if exact and is_number(self._schema.tables[one.table].column(one.name)):
            return self._decimal(column)
        return column

    def _decimal(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        if isinstance(column.type, Integer):
            return column
        # MySQL's DECIMAL has no digits after the point unless they are asked for.
        mysql = self._dialect in ("mysql", "mariadb")
        return cast(column, Numeric(38, 10) if mysql else Numeric())

    def aggregate(self, kind: str, value: ColumnElement[Any]) -> ColumnElement[Any]:
        """Return the sum, average or extreme of a value; averages of whole numbers are broken."""
        if kind == "average" and isinstance(value.type, Integer):
            value = cast(value, Numeric(38, 10))
        name = {"average": "avg", "minimum": "min", "maximum": "max"}.get(kind, "sum")
        found: ColumnElement[Any] = getattr(func, name)(value)
        return found

    def _overall(self, one: Overall) -> ColumnElement[Any]:
        inner = ExpressionScope(one.base, self._schema, self._dialect)
        number = self.aggregate(one.kind, inner.expression(one.column))
        where = [inner.filter(condition) for condition in one.filters]
        found = select(number).select_from(inner.source()).where(*where)
        return found.correlate(None).scalar_subquery()

    def _days(self, one: DaysBetween) -> ColumnElement[Any]:
        start, end = (self.expression(date) for date in (one.start, one.end))
        if self._dialect == "sqlite":
            return cast(func.julianday(func.date(end)) - func.julianday(func.date(start)), Integer)
        if self._dialect in ("mysql", "mariadb"):
            return func.datediff(end, start)
        return cast(end, Date) - cast(start, Date)

    def filter(self, one: Filter) -> ColumnElement[bool]:  # noqa: PLR0911
        """Return a filter's SQL."""
        if isinstance(one, Compare):
            left = self.expression(one.left)
            right: Any = one.right
            if isinstance(right, ColumnAt | Arithmetic | DaysBetween | FullName | Overall):
                right = self.expression(right)
            elif isinstance(right, Decimal):
                right = cast(literal(str(right)), Numeric(38, 10))
            compared: ColumnElement[bool] = OPERATORS[one.operator](left, right)
            return compared
        if isinstance(one, OneOf):
            column = self.expression(one.column, exact=False)
            if not one.negated:
                return column.in_(one.values)
            other = column.not_in(one.values)
            return or_(column.is_(None), other) if one.or_missing else other
        if isinstance(one, Missing):
            column = self.expression(one.column, exact=False)
            return column.is_not(None) if one.negated else column.is_(None)
        if isinstance(one, During):
            column = self.expression(one.column, exact=False)
            bounds = [column >= one.start] if one.start else []
            bounds += [column < one.end] if one.end else []
            inside = and_(*bounds)
            if not one.negated:
                return inside
            if one.or_missing:
                return or_(column.is_(None), not_(inside))
            return and_(column.is_not(None), not_(inside))
        if isinstance(one, AnyOf):
            return or_(*(self.filter(condition) for condition in one.filters))
        return self._exists(one)

    def _exists(self, one: Exists) -> ColumnElement[bool]:
        owner = self.table(one.path)
        inner = ExpressionScope(one.link.table, self._schema, self._dialect)
        child = inner.table(())
        pairs = zip(one.link.columns, one.link.target_columns, strict=True)
        where = [child.c[a] == owner.c[b] for a, b in pairs]
        where += [inner.filter(condition) for condition in one.filters]
        found = select(func.count() if one.count else literal(1)).select_from(inner.source())
        found = found.where(*where).correlate(owner)
        if one.count:
            sign, number = one.count
            compared: ColumnElement[bool] = OPERATORS[sign](found.scalar_subquery(), number)
            return compared
        return not_(found.exists()) if one.negated else found.exists()
