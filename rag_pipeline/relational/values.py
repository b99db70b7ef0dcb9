"""Values of the data that a question names: looked up, never listed beforehand.

Every stretch of the question is asked for in every text column, in one statement. Names of
countries and states are asked for in all forms that the lexicon knows (Germany, 독일; done, 완료).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

from rag_pipeline.relational.lexicon import Lexicon, units
from rag_pipeline.relational.pieces import Span
from rag_pipeline.relational.schema import Schema, TableInfo, is_text

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
    asked: Any = forms
    if connection.dialect.name == "postgresql":
        # Sent once, whatever the number of columns; others do not name the columns of VALUES.
        listed = values(sql_column("form", String), name="forms").data([(form,) for form in forms])
        asked = select(select(listed.c.form).cte("asked").c.form)
    statements = []
    for index, column in enumerate(columns):
        text = cast(column.expression(schema.tables[column.table]), String)
        match = or_(func.lower(text).in_(asked), text.in_(asked))
        place: ColumnElement[int] = literal_column(str(index))
        statements.append(select(place.label("i"), text.label("v")).where(match).distinct())
    by_form: dict[str, dict[int, set[str]]] = {}
    for index, value in connection.execute(union_all(*statements)):
        by_form.setdefault(value.lower(), {}).setdefault(index, set()).add(value)
    found: dict[tuple[int, int], list[FoundValue]] = {}
    for span in spans:
        merged: dict[int, set[str]] = {}
        for form, owners in wanted.items():
            if span in owners:
                for index, texts in by_form.get(form.lower(), {}).items():
                    merged.setdefault(index, set()).update(texts)
        if merged:
            found[span.start, span.end] = [
                FoundValue(columns[index], tuple(sorted(texts)))
                for index, texts in sorted(merged.items())
            ]
    return found


def _forms(lexicon: Lexicon, spans: Sequence[Span]) -> dict[str, set[Span]]:
    """Return every form to ask for, with the stretches that it stands for."""
    names = _names(lexicon)
    wanted: dict[str, set[Span]] = {}
    for span in spans:
        forms = {span.text, f"{span.text}."}
        # `us` is a pronoun, `US` a country.
        if len(span.text) > 2 or not span.text.isascii() or span.text.isupper():
            forms |= set(names.get(units(span.text), ()))
        for form in forms:
            wanted.setdefault(form, set()).add(span)
    return wanted


def _names(lexicon: Lexicon) -> Mapping[tuple[str, ...], list[str]]:
    found: dict[tuple[str, ...], list[str]] = {}
    for name, aliases in lexicon.values.items():
        forms = [name, *aliases]
        for form in forms:
            found[units(form)] = forms
    return found
