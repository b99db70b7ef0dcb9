"""What a database says of itself: tables, keys, and what each column is for.

Read by reflection. Whatever is not declared (labels of rows, prices, quantities, flags) is told
from types and from the words in the names, by the lexicon; nothing here knows one schema.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import cached_property

from sqlalchemy import Column, Engine, MetaData, Table, types
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import SQLAlchemyError

from rag_pipeline.errors import SourceError
from rag_pipeline.relational.schema.lexicon import Lexicon

KEY_WORDS = frozenset({"id", "no", "number", "code", "key", "to", "by"})
"""Words of a key's column that say nothing of its role."""

_IDENTIFIERS = ("plate", "code", "number", "serial", "sku", "isbn")
"""What a row is called by where it has no name."""
_TIME_WORDS = frozenset({"at", "on", "time", "date", "last", "timestamp", "row"})
"""What the name of a time of change says besides that."""
DIRECTIONS = frozenset({"from", "to"})
_FIRST_NAMES = {("first", "name"), ("given", "name"), ("forename",), ("firstnam",)}
_LAST_NAMES = {("last", "name"), ("famili", "name"), ("surnam",), ("lastnam",)}


@dataclass(frozen=True)
class ForeignKey:
    """Columns of one table that name a row of another, pairwise in order."""

    table: str
    columns: tuple[str, ...]
    target: str
    target_columns: tuple[str, ...]
    is_unique: bool = False
    """At most one row names each target: a 1:1 relation."""


@dataclass(frozen=True)
class TableInfo:
    """A table, with what its columns are for."""

    name: str
    table: Table = field(repr=False, compare=False)
    key: tuple[str, ...]
    foreign_keys: tuple[ForeignKey, ...]
    concepts: tuple[str, ...]
    """The words of its name, as the lexicon knows them: `invoice_items` → invoice, line."""
    label: tuple[str, ...]
    """Columns that a person would call a row by; the key, where there is no better one."""
    changed_at: str | None = None
    """The column that holds the time of a row's last change, by its type and name."""

    @cached_property
    def reference_columns(self) -> frozenset[str]:
        """Columns that are part of a foreign key."""
        return frozenset(name for fk in self.foreign_keys for name in fk.columns)

    @property
    def is_join_table(self) -> bool:
        """Nothing but two foreign keys: a relation, no thing of its own."""
        columns = {column.name for column in self.table.columns} - self.bookkeeping.keys()
        return len(self.foreign_keys) == 2 and columns - set(self.key) <= self.reference_columns

    @cached_property
    def bookkeeping(self) -> dict[str, str]:
        """Columns that say nothing about the row to a reader, with the reason."""
        found = {
            column.name: "not readable as text"
            for column in self.table.columns
            if not is_readable(column)
        }
        return found | ({self.changed_at: "time of the last change"} if self.changed_at else {})

    def column(self, name: str) -> Column[object]:
        """Return a column by its name."""
        found: Column[object] = self.table.columns[name]
        return found


@dataclass(frozen=True)
class Schema:
    """Every table of a database, by name."""

    tables: dict[str, TableInfo]
    lexicon: Lexicon = field(repr=False)

    def incoming(self, table: str) -> list[ForeignKey]:
        """Return the foreign keys of other rows that point at a table."""
        return [
            fk for info in self.tables.values() for fk in info.foreign_keys if fk.target == table
        ]

    def role_words(self, link: ForeignKey) -> set[str]:
        """Return what a key's columns say beyond the table that they name: boss_id → boss."""
        words = {word for name in link.columns for word in self.lexicon.name_concepts(name)}
        own = words - set(self.tables[link.target].concepts)
        # Of `from_depot_id` and `to_depot_id`, the small word is the role.
        return own - KEY_WORDS or own & DIRECTIONS


def read_schema(engine: Engine, lexicon: Lexicon, schema: str | None = None) -> Schema:
    """Reflect the tables of one schema (default: the connection's own).

    Raises `SourceError` where the database cannot be read.
    """
    metadata = MetaData()
    try:
        metadata.reflect(engine, schema=schema, views=False)
    except SQLAlchemyError as error:
        address = engine.url.render_as_string(hide_password=True)
        raise SourceError(
            f"the tables of {address} cannot be read: {type(error).__name__}",
            hint="check the address and that the server runs",
        ) from error
    tables = {table.name: table for table in metadata.tables.values() if table.schema == schema}
    return Schema(
        {name: _table_info(table, set(tables), lexicon) for name, table in sorted(tables.items())},
        lexicon,
    )


def restricted(schema: Schema, tables: Collection[str] | None, excluded: Collection[str]) -> Schema:
    """Return a schema that knows nothing of other tables than `tables` (None = all), nor of what is
    excluded: tables, and columns as `table.column`. Keys and references stay.
    """
    kept = {
        name: info
        for name, info in schema.tables.items()
        if name not in excluded and (tables is None or name in tables)
    }
    return Schema(
        {name: _without(info, kept, excluded) for name, info in kept.items()}, schema.lexicon
    )


def _without(info: TableInfo, known: Collection[str], excluded: Collection[str]) -> TableInfo:
    structural = {*info.key, *info.reference_columns}
    columns = [
        Column(column.name, column.type, primary_key=column.primary_key, comment=column.comment)
        for column in info.table.columns
        if column.name in structural or f"{info.name}.{column.name}" not in excluded
    ]
    names = {column.name for column in columns}
    return replace(
        info,
        table=Table(
            info.table.name,
            MetaData(),
            *columns,
            schema=info.table.schema,
            comment=info.table.comment,
        ),
        foreign_keys=tuple(link for link in info.foreign_keys if link.target in known),
        label=info.label if names >= set(info.label) else info.key,
    )


def _table_info(table: Table, known: set[str], lexicon: Lexicon) -> TableInfo:
    key = tuple(column.name for column in table.primary_key.columns)
    unique = [set(key)] if key else []
    unique += [{column.name for column in index.columns} for index in table.indexes if index.unique]
    foreign_keys = []
    for constraint in table.foreign_key_constraints:
        target = constraint.referred_table.name
        if target not in known:
            continue
        columns = tuple(element.parent.name for element in constraint.elements)
        targets = tuple(element.column.name for element in constraint.elements)
        is_unique = any(set(columns) >= group for group in unique)
        foreign_keys.append(ForeignKey(table.name, columns, target, targets, is_unique))
    foreign_keys.sort(key=lambda fk: fk.columns)
    references = {name for fk in foreign_keys for name in fk.columns}
    concepts = lexicon.name_concepts(table.name)
    label = _label(table, key, references, concepts, lexicon)
    changed = _changed_at(table, lexicon)
    return TableInfo(table.name, table, key, tuple(foreign_keys), concepts, label, changed)


def _changed_at(table: Table, lexicon: Lexicon) -> str | None:
    for column in table.columns:
        words = set(lexicon.name_concepts(column.name))
        is_time = isinstance(column.type, types.DateTime)
        if is_time and "update" in words and words - {"update"} <= _TIME_WORDS:
            return str(column.name)
    return None


def _label(
    table: Table,
    key: tuple[str, ...],
    references: set[str],
    concepts: tuple[str, ...],
    lexicon: Lexicon,
) -> tuple[str, ...]:
    """Choose what a row is called: a name, a person's two names, a title; else its key.

    A name is the thing's own when the words before `name` are the table's or say what kind of name
    it is; `ship_name` of an order is somebody else's.
    """
    texts = [c for c in table.columns if is_text(c) and c.name not in references]
    words = {column.name: lexicon.name_concepts(column.name) for column in texts}
    first = [name for name, w in words.items() if w in _FIRST_NAMES]
    last = [name for name, w in words.items() if w in _LAST_NAMES]
    if first and last:
        return first[0], last[0]
    own = set(concepts) | {"company", "full", "license", "serial"}
    for wanted in ("name", "title", "description", *_IDENTIFIERS):
        for name, found in words.items():
            if found[-1:] == (wanted,) and set(found[:-1]) <= own:
                return (name,)
    return key


def is_text(column: Column[object]) -> bool:
    """Text of any length."""
    return isinstance(column.type, types.String) and not isinstance(column.type, types.Enum)


def is_number(column: Column[object]) -> bool:
    """Whole or broken numbers."""
    return isinstance(column.type, types.Numeric | types.Integer)


def is_date(column: Column[object]) -> bool:
    """Dates, with or without a time."""
    return isinstance(column.type, types.Date | types.DateTime)


def is_flag(column: Column[object]) -> bool:
    """Declared as true or false; whole numbers that are all 0 or 1 are told from the data."""
    return isinstance(column.type, types.Boolean)


def is_readable(column: Column[object]) -> bool:
    """Whether a value means anything as text: no bytes, search vectors or unknown types."""
    return not isinstance(column.type, types.LargeBinary | types.NullType | postgresql.TSVECTOR)
