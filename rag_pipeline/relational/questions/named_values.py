"""Values of the data that a question names: looked up, never listed beforehand.

Every stretch of the question is asked for in every text column, in one statement. Names of
countries and states are asked for in all forms that the lexicon knows (Germany, 독일; done, 완료).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ARRAY,
    BindParameter,
    ColumnElement,
    Connection,
    Dialect,
    Executable,
    String,
    bindparam,
    cast,
    func,
    literal_column,
    or_,
    select,
    text,
    union_all,
)
from sqlalchemy.types import TypeEngine

from rag_pipeline.relational.questions.pieces import Span
from rag_pipeline.relational.schema.lexicon import Lexicon, units
from rag_pipeline.relational.schema.table_schema import Schema, TableInfo, is_text

MAX_TEXT_LENGTH = 200
"""Columns declared longer hold prose, not names."""
MAX_COLUMNS = 200
"""Columns in one statement: SQLite takes 500 parts of a union."""


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
            joined = joined + literal_column("' '") + part
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


class ValueFinder:
    """Looks for values in one schema; its statements are written once, since they are long."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._columns = value_columns(schema)
        self._statements: dict[str, list[Executable]] = {}

    def find(
        self, connection: Connection, spans: Sequence[Span]
    ) -> dict[tuple[int, int], list[FoundValue]]:
        """Return what the data has of some stretches, by their first unit and the one behind."""
        wanted = _forms(self._schema.lexicon, spans)
        if not wanted:
            return {}
        forms: Any = sorted({*wanted, *(form.lower() for form in wanted)})
        if connection.dialect.name == "sqlite":
            forms = json.dumps(forms)
        by_form: dict[str, dict[int, set[str]]] = {}
        for statement in self._for(connection.dialect):
            for index, value in connection.execute(statement, {"forms": forms}):
                by_form.setdefault(value.lower(), {}).setdefault(index, set()).add(value)
        merged: dict[Span, dict[int, set[str]]] = {}
        for form, owners in wanted.items():
            for index, texts in by_form.get(form.lower(), {}).items():
                for span in owners:
                    merged.setdefault(span, {}).setdefault(index, set()).update(texts)
        return {
            (span.start, span.end): [
                FoundValue(self._columns[index], tuple(sorted(texts)))
                for index, texts in sorted(by_column.items())
            ]
            for span, by_column in merged.items()
        }

    def _for(self, dialect: Dialect) -> list[Executable]:
        """Return the statements, of at most `MAX_COLUMNS` columns each."""
        if dialect.name not in self._statements:
            numbered = list(enumerate(self._columns))
            self._statements[dialect.name] = [
                self._statement(dialect, numbered[at : at + MAX_COLUMNS])
                for at in range(0, len(numbered), MAX_COLUMNS)
            ]
        return self._statements[dialect.name]

    def _statement(
        self, dialect: Dialect, columns: Sequence[tuple[int, ValueColumn]]
    ) -> Executable:
        asked = _asked(dialect.name)
        parts = []
        for index, column in columns:
            text_of = cast(column.expression(self._schema.tables[column.table]), String)
            match = or_(func.lower(text_of).in_(asked), text_of.in_(asked))
            place: ColumnElement[int] = literal_column(str(index))
            parts.append(select(place.label("i"), text_of.label("v")).where(match).distinct())
        whole = union_all(*parts)
        if dialect.name not in ("postgresql", "sqlite"):
            return whole
        # As text: SQLAlchemy walks an expression of a thousand parts at every execution.
        named: Callable[..., Dialect] = type(dialect)
        written = str(whole.compile(dialect=named(paramstyle="named")))
        # The cast comes again with the parameter's type.
        written = written.replace(":forms::VARCHAR[]", ":forms")
        return text(written).bindparams(bindparam("forms", type_=_type(dialect.name)))


def _type(dialect: str) -> TypeEngine[Any]:
    """Return the type in which the forms are sent: once, whatever the number of columns."""
    return ARRAY(String) if dialect == "postgresql" else String()


def _asked(dialect: str) -> Any:
    """Return the forms for IN."""
    forms: BindParameter[Any] = bindparam("forms", type_=_type(dialect))
    if dialect == "postgresql":
        listed = func.unnest(forms).table_valued("form").render_derived()
        return select(select(listed.c.form).cte("asked").c.form)
    if dialect == "sqlite":
        items = func.json_each(forms).table_valued("value")
        return select(select(items.c.value.label("form")).cte("asked").c.form)
    return bindparam("forms", expanding=True)


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
