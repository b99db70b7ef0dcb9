"""Values of the data that a question names: looked up, never listed beforehand.

Every stretch of the question is asked for in every text column, in one statement. Names of
countries and states are asked for in all forms that the lexicon knows (Germany, 독일; done, 완료).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    String,
    cast,
    func,
    literal,
    literal_column,
    or_,
    select,
    union_all,
    values,
)
from sqlalchemy import column as sql_column

from rag_pipeline.relational.questions.pieces import Span
from rag_pipeline.relational.schema.lexicon import Lexicon, units
from rag_pipeline.relational.schema.table_schema import Schema, TableInfo, is_text

MAX_TEXT_LENGTH = 200
"""Columns declared longer hold prose, not names."""


@dataclass(frozen=True)
class ValueColumn:
    """A text column, or the two columns of a person's name."""

    table: str
    columns: tuple[str, ...]

    def expression(self, table: TableInfo, source: object | None = None) -> ColumnElement[str]:
        """Return its SQL; `source` is the table or an alias of it."""
        columns = (source if source is not None else table.table).c  # type: ignore[attr-defined]
        parts: list[ColumnElement[str]] = [columns[name] for name in self.columns]
        joined: ColumnElement[str] = parts[0]
        for part in parts[1:]:
            joined = joined + literal(" ") + part
        return joined


@dataclass(frozen=True)
class FoundValue:
    """Where a stretch of the question stands in the data, and how it is written there."""

    column: ValueColumn
    values: tuple[str, ...]


def value_columns(schema: Schema) -> list[ValueColumn]:
    """Return the columns that are searched for values."""
    found = []
    for table in schema.tables.values():
        if len(table.label) == 2 and table.label != table.key:
            found.append(ValueColumn(table.name, table.label))
        for column in table.table.columns:
            length = getattr(column.type, "length", None)
            if is_text(column) and (length is None or length <= MAX_TEXT_LENGTH):
                found.append(ValueColumn(table.name, (column.name,)))
    return found


def find_values(
    connection: Connection, schema: Schema, spans: Sequence[Span]
) -> dict[tuple[int, int], list[FoundValue]]:
    """Return what the data has of some stretches, by their first unit and the one behind."""
    wanted = _forms(schema.lexicon, spans)
    columns = value_columns(schema)
    if not wanted or not columns:
        return {}
    forms = sorted({*wanted, *(form.lower() for form in wanted)})
    asked = _asked(connection.dialect.name, forms)
    statements = []
    for index, column in enumerate(columns):
        text = cast(column.expression(schema.tables[column.table]), String)
        match = or_(func.lower(text).in_(asked), text.in_(asked))
        place: ColumnElement[int] = literal_column(str(index))
        statements.append(select(place.label("i"), text.label("v")).where(match).distinct())
    by_form: dict[str, dict[int, set[str]]] = {}
    for index, value in connection.execute(union_all(*statements)):
        by_form.setdefault(value.lower(), {}).setdefault(index, set()).add(value)
    merged: dict[Span, dict[int, set[str]]] = {}
    for form, owners in wanted.items():
        for index, texts in by_form.get(form.lower(), {}).items():
            for span in owners:
                merged.setdefault(span, {}).setdefault(index, set()).update(texts)
    return {
        (span.start, span.end): [
            FoundValue(columns[index], tuple(sorted(texts)))
            for index, texts in sorted(by_column.items())
        ]
        for span, by_column in merged.items()
    }


def _asked(dialect: str, forms: list[str]) -> Any:
    """Return the forms for IN: sent once, whatever the number of columns."""
    if dialect == "postgresql":
        listed = values(sql_column("form", String), name="forms").data([(form,) for form in forms])
        return select(select(listed.c.form).cte("asked").c.form)
    if dialect == "sqlite":  # It does not name the columns of VALUES.
        items = func.json_each(json.dumps(forms)).table_valued("value")
        return select(select(items.c.value.label("form")).cte("asked").c.form)
    return forms


def _forms(lexicon: Lexicon, spans: Sequence[Span]) -> dict[str, set[Span]]:
    """Return every form to ask for, with the stretches that it stands for."""
    names = lexicon.value_names
    wanted: dict[str, set[Span]] = {}
    for span in spans:
        forms = {span.text, f"{span.text}."}
        # `us` is a pronoun, `US` a country.
        if len(span.text) > 2 or not span.text.isascii() or span.text.isupper():
            forms |= set(names.get(units(span.text), ()))
        for form in forms:
            wanted.setdefault(form, set()).add(span)
    return wanted
