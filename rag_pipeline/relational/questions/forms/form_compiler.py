"""Logical forms to SQL: one statement of SQLAlchemy expressions for SQLite, Postgres and MySQL."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Integer,
    Numeric,
    Select,
    and_,
    case,
    cast,
    distinct,
    extract,
    func,
    literal,
    select,
)

from rag_pipeline.relational.questions.forms.form_expressions import OPERATORS, ExpressionScope
from rag_pipeline.relational.questions.forms.logical_form import (
    AnyOf,
    Arithmetic,
    ColumnAt,
    Compare,
    DaysBetween,
    Exists,
    Filter,
    Form,
    FullName,
    GroupBy,
    Measure,
    Path,
)
from rag_pipeline.relational.schema.table_schema import Schema


def compile_form(form: Form, schema: Schema, dialect: str, limit: int) -> Select[Any]:
    """Return the statement of a form: names first, the number last; at most `limit` rows."""
    return _Statement(form, schema, dialect).select(limit)


class _Statement:
    def __init__(self, form: Form, schema: Schema, dialect: str) -> None:
        self._form = form
        self._schema = schema
        self._dialect = dialect
        self._scope = ExpressionScope(form.base, schema, dialect)

    def select(self, limit: int) -> Select[Any]:
        form, scope = self._form, self._scope
        where = [scope.filter(one) for one in form.filters]
        if form.measure.kind == "list":
            return self._list(where, limit)
        number = self._number(form.measure)
        if form.group is None:
            return select(number.label("result")).select_from(scope.source()).where(*where)
        keys, names = self._keys(form.group)
        if form.group.table is not None:
            where += [key.is_not(None) for key in keys[:1]]
        elif form.group.column is not None and (path := form.group.column.path):
            where.append(scope.table(path).c[path[-1].target_columns[0]].is_not(None))
        if form.with_empty:
            return self._with_empty(form.group, keys, where, limit)
        grouped = select(*names, number.label("result")).select_from(scope.source())
        grouped = grouped.where(*where).group_by(*keys)
        return self._ordered(grouped, number, names, limit, is_grouped=True)

    def _ordered(
        self,
        statement: Select[Any],
        number: ColumnElement[Any],
        names: list[ColumnElement[Any]],
        limit: int,
        *,
        is_grouped: bool,
    ) -> Select[Any]:
        form = self._form
        keep = statement.having if is_grouped else statement.where
        if form.having is not None:
            sign, bound = form.having
            statement = keep(OPERATORS[sign](number, bound))
            keep = statement.having if is_grouped else statement.where
        if form.descending is None:
            return statement.order_by(*names).limit(limit)
        order = number.desc() if form.descending else number.asc()
        return keep(number.is_not(None)).order_by(order, *names).limit(limit)

    def _list(self, where: list[ColumnElement[bool]], limit: int) -> Select[Any]:
        form, scope = self._form, self._scope
        columns = [scope.expression(one, exact=False) for one in form.measure.columns]
        labelled = [c.label(one.name) for c, one in zip(columns, form.measure.columns, strict=True)]
        if form.measure.expression is None:
            found = select(*labelled).select_from(scope.source()).where(*where).distinct()
            return found.order_by(*columns).limit(limit)
        number = scope.expression(form.measure.expression)
        found = select(*labelled, number.label("result")).select_from(scope.source()).where(*where)
        return self._ordered(found, number, columns, limit, is_grouped=False)

    def _with_empty(
        self,
        group: GroupBy,
        keys: list[ColumnElement[Any]],
        where: list[ColumnElement[bool]],
        limit: int,
    ) -> Select[Any]:
        """Count per row of a table, its rows without any included."""
        form = self._form
        assert group.table is not None
        own_keys = keys[: len(self._schema.tables[group.table].key)]
        counted = select(
            *(key.label(f"k{i}") for i, key in enumerate(own_keys)),
            self._number(form.measure).label("n"),
        )
        inner = counted.select_from(self._scope.source()).where(*where).group_by(*own_keys)
        numbers = inner.subquery()
        info = self._schema.tables[group.table]
        outer = ExpressionScope(group.table, self._schema, self._dialect)
        owner = outer.table(())
        names = [owner.c[name] for name in info.label]
        same = and_(*(owner.c[n] == numbers.c[f"k{i}"] for i, n in enumerate(info.key)))
        mine = [
            outer.filter(one)
            for one in (rebased(condition, group.path) for condition in form.filters)
            if one is not None
        ]
        number = func.coalesce(numbers.c.n, 0)
        statement = select(*names, number.label("result"))
        statement = statement.select_from(outer.source().outerjoin(numbers, same)).where(*mine)
        return self._ordered(statement, number, names, limit, is_grouped=False)

    def _keys(self, group: GroupBy) -> tuple[list[ColumnElement[Any]], list[ColumnElement[Any]]]:
        """Return what is grouped by, and what is shown of a group."""
        scope = self._scope
        if group.table is not None:
            info, at = self._schema.tables[group.table], scope.table(group.path)
            key = [at.c[name] for name in info.key]
            label = [at.c[name] for name in info.label]
            return [*key, *(at.c[name] for name in info.label if name not in info.key)], label
        assert group.column is not None
        column = scope.expression(group.column, exact=False)
        if group.period is None:
            return [column], [column]
        parts: list[ColumnElement[Any]] = [extract("year", column).label("year")]
        if group.period == "month":
            parts.append(extract("month", column).label("month"))
        elif group.period == "quarter":
            parts.append(cast((extract("month", column) + 2) / 3, Integer).label("quarter"))
            if self._dialect != "sqlite":
                parts[-1] = extract("quarter", column).label("quarter")
        return [getattr(part, "element", part) for part in parts], parts

    def _number(self, measure: Measure) -> ColumnElement[Any]:
        if measure.kind == "share":
            return self._share(measure)
        if measure.kind == "count_distinct":
            assert measure.expression is not None
            expression = self._scope.expression(measure.expression, exact=False)
            number: ColumnElement[Any] = func.count(distinct(expression))
        elif measure.expression is None:
            number = func.count()
        else:
            value = self._scope.expression(measure.expression)
            number = self._scope.aggregate(measure.kind, value)
        if measure.per is not None:
            info = self._schema.tables[measure.per[-1].target if measure.per else self._form.base]
            at = self._scope.table(measure.per)
            rows: ColumnElement[Any] = func.count(distinct(at.c[info.key[0]]))
            if measure.per_all:
                rows = self._all_rows(info.name, measure.per)
            number = cast(number, Numeric(38, 10)) / func.nullif(rows, 0)
        return number

    def _all_rows(self, table: str, path: Path) -> ColumnElement[Any]:
        """Return the number of a table's rows, under the filters that are about them alone."""
        scope = ExpressionScope(table, self._schema, self._dialect)
        found = [rebased(one, path) for one in self._form.filters]
        where = [scope.filter(one) for one in found if one is not None]
        scope.table(())
        counted = select(func.count()).select_from(scope.source()).where(*where)
        return counted.correlate(None).scalar_subquery()

    def _share(self, measure: Measure) -> ColumnElement[Any]:
        inside = and_(*(self._scope.filter(one) for one in measure.part))
        one = (
            literal(1) if measure.expression is None else self._scope.expression(measure.expression)
        )
        part = func.sum(case((inside, one), else_=0))
        whole = func.sum(one) if measure.expression is not None else func.count()
        hundred = cast(literal("100"), Numeric(38, 10))
        return hundred * cast(part, Numeric(38, 10)) / func.nullif(whole, 0)


def rebased(one: Filter, path: Path) -> Filter | None:
    """Return a filter as seen from the row at a path's end; None where it is about other rows."""

    def moved(expression: Any) -> Any:
        if isinstance(expression, ColumnAt):
            if expression.path[: len(path)] != path:
                raise LookupError
            return replace(expression, path=expression.path[len(path) :])
        if isinstance(expression, Arithmetic):
            left, right = moved(expression.left), moved(expression.right)
            return replace(expression, left=left, right=right)
        if isinstance(expression, DaysBetween):
            return replace(expression, start=moved(expression.start), end=moved(expression.end))
        if isinstance(expression, FullName):
            return FullName(tuple(moved(part) for part in expression.parts))
        return expression

    try:
        if isinstance(one, Compare):
            return replace(one, left=moved(one.left), right=moved(one.right))
        if isinstance(one, AnyOf):
            parts = [rebased(part, path) for part in one.filters]
            kept = tuple(part for part in parts if part is not None)
            return AnyOf(kept) if len(kept) == len(parts) else None
        if isinstance(one, Exists):
            if one.path[: len(path)] != path:
                return None
            return replace(one, path=one.path[len(path) :])
        return replace(one, column=moved(one.column))
    except LookupError:
        return None
