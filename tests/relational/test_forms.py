"""The compiler against the reference evaluator: random schemas, random rows, random forms.

`RAG_FORMS=10000` runs as many forms a dialect, `RAG_FORMS_AFTER=5000` those behind the first 5000;
`RAG_TEST_MYSQL` names a server for MySQL's.
"""

from __future__ import annotations

import datetime
import os
import random
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa

from rag_pipeline.relational.questions.forms.form_compiler import compile_form
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
    Form,
    FullName,
    GroupBy,
    Measure,
    Missing,
    OneOf,
    Overall,
    Path,
)
from rag_pipeline.relational.schema.lexicon import Lexicon
from rag_pipeline.relational.schema.table_schema import Schema, read_schema
from tests.relational.reference_evaluator import Evaluator, Row

FORMS = int(os.environ.get("RAG_FORMS", "400"))
AFTER = int(os.environ.get("RAG_FORMS_AFTER", "0"))
MYSQL = os.environ.get("RAG_TEST_MYSQL", "")
FORMS_A_SCHEMA = 50
SIGNS = ["=", "!=", "<", "<=", ">", ">="]
TEXTS = ["red", "green", "blue", "it's", "빨강"]


class Maker:
    """Makes a schema, its rows, and forms over it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.metadata = sa.MetaData()
        self.names = [f"thing{i}" for i in range(self.random.randint(2, 5))]

    def tables(self) -> list[sa.Table]:
        made = []
        for i, name in enumerate(self.names):
            columns: list[Any] = [
                sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
                sa.Column("first_name", sa.String(20)),
                sa.Column("last_name", sa.String(20)),
                sa.Column("color", sa.String(20)),
                sa.Column("amount", sa.Numeric(10, 2)),
                sa.Column("quantity", sa.Integer),
                sa.Column("made_date", sa.Date),
                sa.Column("done_date", sa.Date),
            ]
            # Two keys to the same table, and one to the table itself, are the hard cases.
            for k in range(self.random.randint(0, 3) if i else 1):
                target = self.names[self.random.randint(0, max(i - 1, 0))] if i else name
                columns.append(
                    sa.Column(f"{target}_{k}_id", sa.Integer, sa.ForeignKey(f"{target}.id"))
                )
            made.append(sa.Table(name, self.metadata, *columns))
        return made

    def rows(self, table: sa.Table, so_far: dict[str, list[Row]]) -> list[Row]:
        r = self.random
        found: list[Row] = []
        for key in range(r.randint(0, 9)):
            row: Row = {"id": key}
            for column in table.columns:
                if column.primary_key:
                    continue
                if column.foreign_keys:
                    target = next(iter(column.foreign_keys)).column.table.name
                    keys = [x["id"] for x in (found if target == table.name else so_far[target])]
                    row[column.name] = r.choice([*keys, None]) if keys else None
                elif r.random() < 0.15:
                    row[column.name] = None
                elif isinstance(column.type, sa.String):
                    row[column.name] = r.choice(TEXTS)
                elif isinstance(column.type, sa.Integer):
                    row[column.name] = r.randint(-3, 9)
                elif isinstance(column.type, sa.Numeric):
                    row[column.name] = Decimal(r.randint(-500, 5000)) / 100
                else:
                    row[column.name] = datetime.date(2023, 1, 1) + datetime.timedelta(
                        r.randint(0, 800)
                    )
            found.append(row)
        return found

    def path(self, schema: Schema, base: str, longest: int = 3) -> tuple[Path, str]:
        path: Path = ()
        here = base
        while len(path) < longest and self.random.random() < 0.5:
            links = schema.tables[here].foreign_keys
            if not links:
                break
            link = self.random.choice(links)
            path, here = (*path, link), link.target
        return path, here

    def column(self, schema: Schema, base: str, *names: str) -> ColumnAt:
        path, table = self.path(schema, base)
        return ColumnAt(path, table, self.random.choice(names))

    def number(self, schema: Schema, base: str, depth: int = 2) -> Expression:
        if depth and self.random.random() < 0.3:
            sign: Any = self.random.choice(["+", "-", "*"])
            left = self.number(schema, base, depth - 1)
            return Arithmetic(sign, left, self.number(schema, base, depth - 1))
        if self.random.random() < 0.1:
            dates = [self.column(schema, base, "made_date", "done_date") for _ in range(2)]
            return DaysBetween(dates[0], dates[1])
        return self.column(schema, base, "amount", "quantity")

    def filters(self, schema: Schema, base: str, depth: int = 2) -> tuple[Filter, ...]:
        count = self.random.choice([0, 0, 1, 1, 2, 3]) if depth == 2 else self.random.randint(0, 2)
        return tuple(self.filter(schema, base, depth) for _ in range(count))

    def filter(self, schema: Schema, base: str, depth: int) -> Filter:
        r = self.random
        kind = r.randrange(7 if depth else 5)
        if kind == 0:
            right: Any = r.choice([Decimal(r.randint(-300, 3000)) / 100, r.randint(-2, 8)])
            right = self.number(schema, base) if r.random() < 0.3 else right
            if depth and r.random() < 0.2:
                right = self.overall(schema)
            return Compare(self.number(schema, base), r.choice(SIGNS), right)  # type: ignore[arg-type]
        if kind == 1:
            column: Expression = self.column(schema, base, "color")
            if r.random() < 0.3:
                path, table = self.path(schema, base)
                parts = [ColumnAt(path, table, name) for name in ("first_name", "last_name")]
                values = (f"{r.choice(TEXTS)} {r.choice(TEXTS)}", "red red")
                return OneOf(FullName(tuple(parts)), values, r.random() < 0.3, r.random() < 0.5)
            some = tuple(r.sample(TEXTS, r.randint(1, 3)))
            return OneOf(column, some, r.random() < 0.3, r.random() < 0.5)
        if kind == 2:
            return Missing(
                self.column(schema, base, "color", "amount", "made_date"), r.random() < 0.5
            )
        if kind == 3:
            start = datetime.date(2023, 1, 1) + datetime.timedelta(r.randint(0, 700))
            end = start + datetime.timedelta(r.randint(1, 300))
            bounds = r.choice([(start, end), (start, None), (None, end)])
            return During(
                self.column(schema, base, "made_date"), *bounds, r.random() < 0.3, r.random() < 0.5
            )
        if kind == 4:
            dates = [self.column(schema, base, "made_date", "done_date") for _ in range(2)]
            return Compare(dates[0], r.choice(SIGNS), dates[1])  # type: ignore[arg-type]
        if kind == 5:
            return AnyOf(tuple(self.filter(schema, base, 0) for _ in range(r.randint(1, 3))))
        path, here = self.path(schema, base)
        links = schema.incoming(here)
        if not links:
            return self.filter(schema, base, 0)
        link = r.choice(links)
        inner = self.filters(schema, link.table, depth - 1)
        count = (r.choice(SIGNS), r.randint(0, 3)) if r.random() < 0.3 else None
        return Exists(path, link, inner, count is None and r.random() < 0.4, count)  # type: ignore[arg-type]

    def overall(self, schema: Schema) -> Overall:
        base = self.random.choice(self.names)
        kind: Any = self.random.choice(["average", "minimum", "maximum"])
        column = self.column(schema, base, "amount", "quantity")
        return Overall(kind, base, column, self.filters(schema, base, 0))

    def form(self, schema: Schema) -> Form:
        r = self.random
        base = r.choice(self.names)
        filters = self.filters(schema, base)
        kind: Any = r.choice(
            [
                "count",
                "count",
                "count_distinct",
                "sum",
                "average",
                "minimum",
                "maximum",
                "share",
                "list",
            ]
        )
        number = self.number(schema, base)
        if kind == "list":
            columns = (ColumnAt((), base, "id"), self.column(schema, base, "color"))
            ordered = r.random() < 0.5
            measure = Measure("list", number if ordered else None, columns=columns)
            return Form(base, measure, filters, descending=r.random() < 0.5 if ordered else None)
        if kind == "count":
            measure = Measure("count")
        elif kind == "count_distinct":
            measure = Measure(kind, self.column(schema, base, "color", "quantity"))
        elif kind == "share":
            expression = number if r.random() < 0.3 else None
            measure = Measure(kind, expression, part=(self.filter(schema, base, 1),))
        else:
            measure = Measure(kind, number)
        group, with_empty = self.group(schema, base, kind)
        if group is None and kind in ("count", "sum") and r.random() < 0.3:
            path, _ = self.path(schema, base)
            if path:
                measure = Measure(measure.kind, measure.expression, path, r.random() < 0.5)
        descending = r.choice([None, True, False]) if group is not None else None
        having = None
        if group is not None and kind == "count" and r.random() < 0.2:
            having = (r.choice(SIGNS), r.randint(0, 3))
        return Form(
            base,
            measure,
            filters,
            group,
            with_empty,
            descending,
            having=having,  # type: ignore[arg-type]
        )

    def group(self, schema: Schema, base: str, kind: str) -> tuple[GroupBy | None, bool]:
        r = self.random
        choice = r.randrange(4)
        if choice == 0:
            path, table = self.path(schema, base)
            return GroupBy(path, table), kind in ("count", "sum") and r.random() < 0.5
        if choice == 1:
            return GroupBy(column=self.column(schema, base, "color")), False
        if choice == 2:
            period: Any = r.choice(["year", "quarter", "month"])
            return GroupBy(column=self.column(schema, base, "made_date"), period=period), False
        return None, False


def differences(engine: sa.Engine, seed: int, count: int) -> Iterator[str]:
    """Yield the forms for which SQL and the reference differ."""
    maker = Maker(seed)
    tables = maker.tables()
    with engine.begin() as connection:
        maker.metadata.create_all(connection)
        rows: dict[str, list[Row]] = {}
        for table in tables:
            rows[table.name] = maker.rows(table, rows)
            for row in rows[table.name]:
                connection.execute(table.insert(), row)
    try:
        schema = read_schema(engine, Lexicon())
        evaluator = Evaluator(schema, rows)
        with engine.connect() as connection:
            for _ in range(count):
                form = maker.form(schema)
                statement = compile_form(form, schema, engine.dialect.name, 10_000)
                found = [tuple(row) for row in connection.execute(statement)]
                wanted = evaluator.rows(form)
                if comparable(found) != comparable(wanted):
                    yield f"seed {seed}: {form}\n{statement}\n{found}\n{wanted}"
                if form.descending is not None:
                    numbers = [float(row[-1]) for row in found]
                    if numbers != sorted(numbers, reverse=form.descending):
                        yield f"seed {seed}: not in order: {form}"
    finally:
        maker.metadata.drop_all(engine)


def comparable(rows: list[tuple[Any, ...]]) -> list[tuple[str, ...]]:
    """Return cells as text, numbers to four digits, rows in one order."""
    return sorted(tuple(_cell(cell) for cell in row) for row in rows)


def _cell(value: Any) -> str:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return str(value)
    # A little more than the number: halves of floats and of decimals round to the same side.
    rounded = round(float(value) + 1e-9, 4) if isinstance(value, int | float | Decimal) else value
    return str(rounded + 0.0 if isinstance(rounded, float) else rounded)


def check(engine: sa.Engine) -> None:
    found = [
        one
        for seed in range(AFTER // FORMS_A_SCHEMA, (AFTER + FORMS) // FORMS_A_SCHEMA)
        for one in differences(engine, seed, FORMS_A_SCHEMA)
    ]
    assert found == [], f"{len(found)} of {FORMS} forms differ:\n{found[0]}"


def test_sqlite() -> None:
    check(sa.create_engine("sqlite://", poolclass=sa.StaticPool))


def test_postgres(database_url: str) -> None:
    address = sa.make_url(database_url).set(drivername="postgresql+psycopg")
    engine = sa.create_engine(address, connect_args={"options": "-c search_path=forms"})
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE SCHEMA forms"))
    try:
        check(engine)
    finally:
        engine.dispose()


@pytest.mark.skipif(not MYSQL, reason="RAG_TEST_MYSQL names no server")
def test_mysql() -> None:
    check(sa.create_engine(MYSQL))
