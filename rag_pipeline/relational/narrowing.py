"""Rows that a question names or describes, found by SQL: what search looks at first.

Names and categories in the question are looked up in the data (`values`), never in a list. Rows of
the root tables that fulfil all of them, along the foreign keys, come before what words and meaning
find. Where a category has many rows ("VIP"), the search is narrowed to the category instead.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from sqlalchemy import Connection

from rag_pipeline.relational.questions.forms.constraints import Constraint, fold
from rag_pipeline.relational.questions.forms.form_compiler import compile_form
from rag_pipeline.relational.questions.forms.logical_form import (
    ColumnAt,
    Filter,
    Form,
    FullName,
    Measure,
    OneOf,
    Path,
)
from rag_pipeline.relational.questions.named_values import FoundValue
from rag_pipeline.relational.questions.question_cutting import QuestionReader
from rag_pipeline.relational.rows.row_views import key_text
from rag_pipeline.relational.schema.table_schema import Schema
from rag_pipeline.relational.schema.ways import Ways

MAX_ROWS = 12
"""Rows of a table that are looked at one by one; more are a category."""


@dataclass(frozen=True)
class NamedRows:
    """Rows of one root table, by key."""

    table: str
    keys: tuple[str, ...]
    by_name: bool
    """The question has the row's own name, not only what it relates to."""
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Instead of keys, where they are many: values of the table's own columns, by column."""


def named_rows(
    connection: Connection, reader: QuestionReader, question: str, roots: Collection[str]
) -> list[NamedRows]:
    """Return the rows of root tables that a question is about, the surest first."""
    schema, cut = reader.schema, reader.read(connection, question)
    named = [cut.values[p.start, p.end] for p in cut.pieces if p.kind == "value"] if cut else []
    if cut is None or not named:
        return []
    mentioned = {m.table for m in reader.namer.mentions(cut.pieces) if m.table}
    found = []
    for table in roots:
        conditions = tuple(_condition(schema, one, table, mentioned) for one in named)
        columns = [one.column for one in conditions]
        own = any(_is_label(schema, one.table, one.columns, table) for one in columns)
        if not own and table not in mentioned:
            continue
        keys = _keys(connection, schema, table, conditions)
        if keys is not None and keys:
            found.append(NamedRows(table, keys, own))
        elif keys is None and all(
            one.column.table == table and len(one.column.columns) == 1 for one in conditions
        ):
            category = {one.column.columns[0]: one.values for one in conditions}
            found.append(NamedRows(table, (), own, category))
    return sorted(found, key=lambda one: (not one.by_name, not one.keys, len(one.keys)))


def _condition(
    schema: Schema, found: Sequence[FoundValue], table: str, mentioned: Collection[str]
) -> FoundValue:
    """Choose a value's column: a name, else one of the table itself, else of a named table."""

    def order(one: FoundValue) -> tuple[bool, bool, bool]:
        is_label = _is_label(schema, one.column.table, one.column.columns, one.column.table)
        return not is_label, one.column.table != table, one.column.table not in mentioned

    return min(found, key=order)


def _is_label(schema: Schema, table: str, columns: tuple[str, ...], wanted: str) -> bool:
    info = schema.tables[table]
    own_key = set(info.key) - info.reference_columns
    return table == wanted and (columns == info.label or set(columns) <= own_key)


def _keys(
    connection: Connection, schema: Schema, table: str, conditions: Sequence[FoundValue]
) -> tuple[str, ...] | None:
    """Return the keys of the rows that fulfil conditions; None where they are too many."""
    ways = Ways(schema)
    constraints = []
    for one in conditions:
        found = ways.between(table, one.column.table)
        if not found:
            return ()
        constraints.append(Constraint(found[0], partial(_has_value, one)))
    key = tuple(ColumnAt((), table, name) for name in schema.tables[table].key)
    form = Form(table, Measure("list", columns=key), fold(constraints))
    statement = compile_form(form, schema, connection.dialect.name, MAX_ROWS + 1)
    rows = [key_text(row) for row in connection.execute(statement)]
    return tuple(rows) if len(rows) <= MAX_ROWS else None


def _has_value(found: FoundValue, path: Path) -> Filter:
    column = found.column
    parts = tuple(ColumnAt(path, column.table, name) for name in column.columns)
    return OneOf(parts[0] if len(parts) == 1 else FullName(parts), found.values)
