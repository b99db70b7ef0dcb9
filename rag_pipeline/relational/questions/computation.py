"""A computation over the schema, and its SQL: built with SQLAlchemy's core, never as text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Numeric,
    Select,
    cast,
    distinct,
    extract,
    func,
    literal,
    select,
    tuple_,
)

from rag_pipeline.relational.questions.mentions import Place
from rag_pipeline.relational.questions.named_values import ValueColumn
from rag_pipeline.relational.schema.amounts_of_tables import LineAmount
from rag_pipeline.relational.schema.joins import JoinTree
from rag_pipeline.relational.schema.table_schema import Schema, TableInfo

Aggregate = Literal["count", "sum", "avg", "min", "max"]


@dataclass(frozen=True)
class Measure:
    """What is added up or compared: a column, or a product of columns of one table."""

    table: str
    kind: Literal["column", "product", "net", "gross", "discount"]
    columns: tuple[str, ...] = ()
    amount: LineAmount | None = None


@dataclass(frozen=True)
class Condition:
    """What rows must fulfil."""

    kind: Literal[
        "in", "year", "month", "year_before", "year_after", "later", "positive", "null", "flag"
    ]
    column: ValueColumn
    values: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Query:
    """One computation. Exactly one of `counted` and `measure` is set."""

    tree: JoinTree
    aggregate: Aggregate
    counted: str | None = None
    """A table whose rows are counted, each once."""
    counted_column: Place | None = None
    """A column whose different values are counted."""
    measure: Measure | None = None
    per: str | None = None
    """Divide the sum by the number of different rows of this table."""
    group_table: str | None = None
    group_column: Place | None = None
    descending: bool | None = None
    """Only the largest (or smallest) groups; None = all groups, by name."""
    conditions: tuple[Condition, ...] = ()
    without: tuple[Condition, ...] = ()
    """Counted rows must not have any row that fulfils these (and `conditions` other than years)."""
    group_part: tuple[Literal["year", "month"], ValueColumn] | None = None
    """Grouped by the year, or the year and month, of a date."""
    absent: JoinTree | None = None
    """Only counted rows that are in none of the rows of this tree, under `without`."""
    different: bool = False
    """Different ones are asked for: rows that share a name may be meant as one."""
    share_of: tuple[Condition, ...] | None = None
    """The result is a share (in percent): of the rows that fulfil these."""


def build(query: Query, schema: Schema, dialect: str, limit: int) -> Select[Any]:
    """Return the statement; its last column is the number, those before it the group's name."""
    return _Builder(query, schema, dialect).statement(limit)


def matching_keys(
    tree: JoinTree,
    schema: Schema,
    dialect: str,
    table: str,
    conditions: tuple[Condition, ...],
    limit: int,
) -> Select[Any]:
    """Return the statement for the keys of a table's rows that fulfil conditions, each once."""
    query = Query(tree, "count", counted=table, conditions=conditions)
    return _Builder(query, schema, dialect).keys(limit)


def by_name(query: Query, schema: Schema) -> Query | None:
    """Return the query that counts different names instead of rows; None where rows have none."""
    info = schema.tables[query.counted or ""]
    if info.label == info.key or len(info.label) != 1:
        return None
    return replace(query, counted=None, counted_column=(info.name, info.label[0]))


def missing_groups(query: Query, schema: Schema, dialect: str) -> Select[Any] | None:
    """Return the statement for how many rows of the group's table are in no group; they have 0.

    None where there can be none, or where the groups are no rows.
    """
    table = query.group_table or (query.group_column[0] if query.group_column else None)
    if table is None or table == query.tree.base:
        return None
    tree = replace(query, counted=table, measure=None)
    inside = _Builder(tree, schema, dialect).keys(None)
    info = schema.tables[table]
    key = [info.table.c[name] for name in info.key]
    own = tuple_(*key) if len(key) > 1 else key[0]
    return select(func.count()).select_from(info.table).where(own.not_in(inside.correlate(None)))


class _Builder:
    def __init__(self, query: Query, schema: Schema, dialect: str) -> None:
        self._query = query
        self._schema = schema
        self._dialect = dialect

    def statement(self, limit: int) -> Select[Any]:
        query = self._query
        where = [self._condition(one) for one in query.conditions]
        if query.share_of is not None:
            return self._share(where)
        number = self._number().label("result")
        if query.without or query.absent is not None:
            where.append(self._absent())
        if not (query.group_table or query.group_column or query.group_part):
            return select(number).select_from(self._source()).where(*where)
        keys, names = self._group()
        grouped = select(*names, number).select_from(self._source()).where(*where).group_by(*keys)
        if query.descending is None:
            return grouped.order_by(*names).limit(limit)
        exact = self._number(rounded=False)
        order = exact.desc() if query.descending else exact.asc()
        return grouped.having(exact.is_not(None)).order_by(order, *names).limit(limit)

    def keys(self, limit: int | None) -> Select[Any]:
        query = self._query
        assert query.counted is not None
        info = self._table(query.counted)
        key = [info.table.c[name] for name in info.key]
        where = [self._condition(one) for one in query.conditions]
        found = select(*key).select_from(self._source()).where(*where).distinct()
        return found if limit is None else found.order_by(*key).limit(limit)

    def _source(self) -> FromClause:
        return self._joined(self._query.tree)

    def _joined(self, tree: JoinTree) -> FromClause:
        source: FromClause = self._table(tree.base).table
        for step in tree.steps:
            target = self._table(step.target).table
            own = self._table(step.table).table
            pairs = zip(step.columns, step.target_columns, strict=True)
            source = source.join(target, _all([own.c[a] == target.c[b] for a, b in pairs]))
        return source

    def _group(self) -> tuple[list[ColumnElement[Any]], list[ColumnElement[Any]]]:
        if self._query.group_part is not None:
            part, date = self._query.group_part
            column = date.expression(self._table(date.table))
            parts: list[ColumnElement[Any]] = [extract("year", column).label("year")]
            if part == "month":
                parts.append(extract("month", column).label("month"))
            return parts, parts
        if self._query.group_table is None:
            assert self._query.group_column is not None
            table, name = self._query.group_column
            column = self._table(table).table.c[name]
            return [column], [column]
        table_info = self._table(self._query.group_table)
        key = [table_info.table.c[name] for name in table_info.key]
        label: list[ColumnElement[Any]] = [table_info.table.c[name] for name in table_info.label]
        return [*key, *(column for column in label if column not in key)], label

    def _number(self, *, rounded: bool = True) -> ColumnElement[Any]:
        query = self._query
        if query.counted_column is not None:
            table, name = query.counted_column
            return func.count(distinct(self._table(table).table.c[name]))
        if query.measure is None:
            assert query.counted is not None
            if query.counted == query.tree.base:
                return func.count()
            key = [self._table(query.counted).table.c[n] for n in self._table(query.counted).key]
            return func.count(distinct(tuple_(*key) if len(key) > 1 else key[0]))
        value = self._measure(query.measure)
        number: ColumnElement[Any] = getattr(func, query.aggregate)(value)
        if query.per is not None:
            table_info = self._table(query.per)
            key = [table_info.table.c[n] for n in table_info.key]
            number = number / func.count(distinct(tuple_(*key) if len(key) > 1 else key[0]))
        return func.round(number, self._digits(query.measure)) if rounded else number

    def _digits(self, measure: Measure) -> int:
        """Cents; four digits for what lies between 0 and 1 by its kind."""
        words = self._schema.lexicon.name_concepts(measure.columns[0]) if measure.columns else ()
        return 4 if words[-1:] in (("discount",), ("rate",), ("ratio",), ("share",)) else 2

    def _measure(self, measure: Measure) -> ColumnElement[Any]:
        columns = self._table(measure.table).table.c
        if measure.amount is None:
            product = self._exact(columns[measure.columns[0]])
            for name in measure.columns[1:]:
                product = product * self._exact(columns[name])
            return product
        amount = measure.amount
        gross = self._exact(columns[amount.price]) * columns[amount.quantity]
        if amount.discount is None or measure.kind == "gross":
            return gross
        off = self._exact(columns[amount.discount])
        return gross * off if measure.kind == "discount" else gross * (1 - off)

    def _exact(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        """Binary floats would add up to other cents."""
        # MySQL's DECIMAL has no digits behind the point unless they are asked for.
        kind = Numeric(38, 10) if self._dialect in ("mysql", "mariadb") else Numeric()
        return cast(column, kind)

    def _condition(self, one: Condition) -> ColumnElement[bool]:
        info = self._table(one.column.table)
        column = one.column.expression(info)
        if one.kind == "in":
            return column.in_(one.values)
        if one.kind == "null":
            return column.is_(None)
        value = one.values[0] if one.values else 0
        if one.kind in ("positive", "later"):
            other: Any = info.table.c[value] if one.kind == "later" else literal(0)
            above: ColumnElement[bool] = column > other
            return above
        return column == value if one.kind == "flag" else _in_time(one.kind, column, value)

    def _absent(self) -> ColumnElement[bool]:
        """Rows that are counted and have nothing that fulfils `without`."""
        query = self._query
        assert query.counted is not None
        info = self._table(query.counted)
        key = [info.table.c[name] for name in info.key]
        same = [one for one in query.conditions if one.kind != "year"]
        if query.absent is not None:
            same = []
        inner = select(*key).select_from(self._joined(query.absent or query.tree))
        inner = inner.where(*(self._condition(one) for one in (*same, *query.without)))
        aliased = inner.correlate(None)
        return (tuple_(*key) if len(key) > 1 else key[0]).not_in(aliased)

    def _share(self, where: list[ColumnElement[bool]]) -> Select[Any]:
        """Return 100 × the part that fulfils all conditions / the whole."""
        query = self._query
        assert query.share_of is not None
        part = select(self._number(rounded=False)).select_from(self._source()).where(*where)
        whole_where = [self._condition(one) for one in query.share_of]
        whole = select(self._number(rounded=False)).select_from(self._source()).where(*whole_where)
        hundred = cast(literal(100), Numeric(38, 10)) * part.correlate(None).scalar_subquery()
        ratio = hundred / func.nullif(whole.correlate(None).scalar_subquery(), 0)
        return select(func.round(ratio, 2).label("result"))

    def _table(self, name: str) -> TableInfo:
        return self._schema.tables[name]


def _in_time(kind: str, column: ColumnElement[Any], value: int) -> ColumnElement[bool]:
    part: ColumnElement[Any] = extract("month" if kind == "month" else "year", column)
    before: ColumnElement[bool] = part < value
    after: ColumnElement[bool] = part > value
    return {"year_before": before, "year_after": after}.get(kind, part == value)


def _all(parts: list[ColumnElement[bool]]) -> ColumnElement[bool]:
    joined = parts[0]
    for part in parts[1:]:
        joined = joined & part
    return joined
