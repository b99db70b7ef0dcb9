"""What a question asks, independent of SQL: a measure over the rows of one table.

Columns are reached from the base table along foreign keys, many to one, so that no join repeats a
row; whatever lies the other way is asked with `Exists`. The compiler turns a form into SQL
(`form_compiler`); the tests evaluate the same forms row by row in Python.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from rag_pipeline.relational.schema.table_schema import ForeignKey

Path = tuple[ForeignKey, ...]
"""Foreign keys to follow from the base table, many to one."""
Comparison = Literal["=", "!=", "<", "<=", ">", ">="]
Period = Literal["year", "quarter", "month"]
MeasureKind = Literal[
    "count", "count_distinct", "sum", "average", "minimum", "maximum", "share", "list"
]


@dataclass(frozen=True)
class ColumnAt:
    """A column of the table at the end of a path."""

    path: Path
    table: str
    name: str


@dataclass(frozen=True)
class Arithmetic:
    """Two expressions combined."""

    operator: Literal["+", "-", "*"]
    left: Expression
    right: Expression


@dataclass(frozen=True)
class DaysBetween:
    """Days from one date to a later one."""

    start: ColumnAt
    end: ColumnAt


@dataclass(frozen=True)
class FullName:
    """Texts joined by a space, as a person's two names."""

    parts: tuple[ColumnAt, ...]


@dataclass(frozen=True)
class Overall:
    """One number for all rows of a table that fulfil the filters, to compare each row with."""

    kind: Literal["average", "minimum", "maximum"]
    base: str
    column: ColumnAt
    """Seen from `base`."""
    filters: tuple[Filter, ...] = ()


Literal_ = str | int | bool | Decimal | datetime.date
Expression = ColumnAt | Arithmetic | DaysBetween | FullName | Overall | Decimal


@dataclass(frozen=True)
class Compare:
    """An expression against a value, or against another expression of the same row."""

    left: Expression
    operator: Comparison
    right: Expression | Literal_


@dataclass(frozen=True)
class OneOf:
    """A column has one of some values; negated: another value, or with `or_missing` none."""

    column: Expression
    values: tuple[Literal_, ...]
    negated: bool = False
    or_missing: bool = False


@dataclass(frozen=True)
class Missing:
    """A column is null; negated: it is not."""

    column: ColumnAt
    negated: bool = False


@dataclass(frozen=True)
class During:
    """A date lies in a period; `end` is the first day after it, None leaves a side open."""

    column: ColumnAt
    start: datetime.date | None
    end: datetime.date | None
    negated: bool = False
    or_missing: bool = False
    """Of a negation: rows without the date count, too."""


@dataclass(frozen=True)
class Exists:
    """Rows of another table that name the row at the end of `path` and fulfil all filters.

    With `count`, the number of those rows is compared instead.
    """

    path: Path
    link: ForeignKey
    filters: tuple[Filter, ...] = ()
    negated: bool = False
    count: tuple[Comparison, int] | None = None


@dataclass(frozen=True)
class AnyOf:
    """At least one of the filters holds."""

    filters: tuple[Filter, ...]


Filter = Compare | OneOf | Missing | During | Exists | AnyOf


@dataclass(frozen=True)
class Measure:
    """What is computed over the rows; `list` returns their columns instead."""

    kind: MeasureKind
    expression: Expression | None = None
    per: Path | None = None
    """Divide by the number of different rows at the end of this path."""
    per_all: bool = False
    """Divide by all rows there that fulfil the filters on them, not only by those met."""
    part: tuple[Filter, ...] = ()
    """Of a share: what the counted part fulfils; with an expression, its sum's share."""
    columns: tuple[ColumnAt, ...] = ()
    """Of a list: what is shown of a row."""
    shows: bool = False
    """Of a list that is ordered: its number is shown as well."""


@dataclass(frozen=True)
class GroupBy:
    """One number for each row of a table, each value of a column, or each period of a date.

    Base rows that lead to no row at the end of the path are left out.
    """

    path: Path = ()
    table: str | None = None
    column: ColumnAt | None = None
    period: Period | None = None


@dataclass(frozen=True)
class Form:
    """One computation."""

    base: str
    measure: Measure
    filters: tuple[Filter, ...] = ()
    group: GroupBy | None = None
    with_empty: bool = False
    """Rows of the group's table that no base row names count as 0."""
    descending: bool | None = None
    """Order of the number; None = by the groups' names. Of a list: order of its expression."""
    limit: int | None = None
    """The first groups or rows in that order, with all that share the last one's number."""
    having: tuple[Comparison, int | Decimal] | None = None
    names_only: bool = False
    """Of groups, only their names are asked for."""


def paths_of(expression: Expression) -> Iterator[Path]:
    """Yield the path of every column in an expression."""
    if isinstance(expression, ColumnAt):
        yield expression.path
    elif isinstance(expression, Arithmetic):
        yield from paths_of(expression.left)
        yield from paths_of(expression.right)
    elif isinstance(expression, DaysBetween):
        yield from (expression.start.path, expression.end.path)
    elif isinstance(expression, FullName):
        yield from (part.path for part in expression.parts)
