"""The tree of relations below a root table, found along the foreign keys.

1:N rows are listed under their parent, N:M through its join table, 1:1 rows merged; from every row
upwards, the rows that it names (its product, its category) are called by their labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from rag_pipeline.errors import SettingsError
from rag_pipeline.relational.schema.table_schema import (
    ForeignKey,
    Schema,
    TableInfo,
    is_date,
    is_readable,
)
from rag_pipeline.settings import RelationalSettings

Kind = Literal["root", "many", "many_to_many", "one"]
REFERENCE_LEVELS = 2
"""How far up names go: the product of a line, and the category of that product."""


@dataclass(frozen=True)
class Reference:
    """A row that another row names, N:1."""

    link: ForeignKey
    table: TableInfo
    columns: tuple[str, ...]
    """What is shown of it: its label, or its key and date."""
    references: tuple[Reference, ...] = ()


@dataclass(frozen=True)
class Node:
    """A table in its place in the tree."""

    kind: Kind
    table: TableInfo
    columns: tuple[str, ...]
    references: tuple[Reference, ...]
    children: tuple[Node, ...] = ()
    link: ForeignKey | None = field(default=None)
    """Of `table` to its parent; for N:M of the join table to the parent."""
    through: TableInfo | None = None
    """The join table of an N:M relation."""
    through_link: ForeignKey | None = None
    """Of the join table to `table`."""

    def walk(self) -> Iterator[Node]:
        """Yield the node and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def tables_of(tree: Node) -> dict[str, TableInfo]:
    """Return every table of a tree by name, join tables and those that rows name included."""
    found: dict[str, TableInfo] = {}

    def take(references: tuple[Reference, ...]) -> None:
        for one in references:
            found[one.table.name] = one.table
            take(one.references)

    for node in tree.walk():
        found[node.table.name] = node.table
        if node.through is not None:
            found[node.through.name] = node.through
        take(node.references)
    return found


def build_tree(schema: Schema, settings: RelationalSettings) -> Node:
    """Return the tree of a source. Raises `SettingsError` for a root that is not there."""
    root = schema.tables.get(settings.root)
    if root is None:
        known = ", ".join(schema.tables) or "none"
        raise SettingsError(
            f"relational source {settings.name}: no table {settings.root}", hint=f"known: {known}"
        )
    return _Builder(schema, frozenset(settings.exclude)).root(root, settings.depth)


class _Builder:
    def __init__(self, schema: Schema, excluded: frozenset[str]) -> None:
        self._schema = schema
        self._excluded = excluded

    def root(self, table: TableInfo, depth: int) -> Node:
        _require_key(table)
        return Node(
            "root",
            table,
            self._columns(table, frozenset()),
            self._references(table, {table.name}, REFERENCE_LEVELS),
            self._children(table, (table.name,), depth),
        )

    def _children(self, parent: TableInfo, path: tuple[str, ...], depth: int) -> tuple[Node, ...]:
        if depth == 0:
            return ()
        found = [
            self._child(self._schema.tables[link.table], link, path, depth)
            for link in self._schema.incoming(parent.name)
        ]
        return tuple(node for node in found if node is not None)

    def _child(
        self, table: TableInfo, link: ForeignKey, path: tuple[str, ...], depth: int
    ) -> Node | None:
        # A table that is on the branch already would come back for ever.
        if table.name in path or table.name in self._excluded or not table.key:
            return None
        if table.is_join_table:
            return self._through(table, link, path)
        own = frozenset(link.columns)
        below = (*path, table.name)
        return Node(
            "one" if link.is_unique else "many",
            table,
            self._columns(table, own),
            self._references(table, set(below), REFERENCE_LEVELS, skip=link),
            self._children(table, below, depth - 1),
            link,
        )

    def _through(self, join: TableInfo, link: ForeignKey, path: tuple[str, ...]) -> Node | None:
        other = next(fk for fk in join.foreign_keys if fk != link)
        table = self._schema.tables[other.target]
        if table.name in path or table.name in self._excluded:
            return None
        references = self._references(table, {*path, table.name}, REFERENCE_LEVELS)
        columns = self._columns(table, frozenset())
        return Node("many_to_many", table, columns, references, (), link, join, other)

    def _references(
        self, table: TableInfo, seen: set[str], levels: int, skip: ForeignKey | None = None
    ) -> tuple[Reference, ...]:
        if levels == 0:
            return ()
        found = []
        for link in table.foreign_keys:
            if link == skip or link.target in self._excluded:
                continue
            is_self = link.target == table.name
            if link.target in seen and not is_self:
                continue
            target = self._schema.tables[link.target]
            above = () if is_self else self._references(target, {*seen, target.name}, levels - 1)
            found.append(Reference(link, target, _shown(target), above))
        return tuple(found)

    def _columns(self, table: TableInfo, parent: frozenset[str]) -> tuple[str, ...]:
        """Return the columns that are shown: not those that only name other rows."""
        hidden = (table.reference_columns - set(table.key)) | parent
        if table.reference_columns >= set(table.key):
            hidden |= table.reference_columns
        return tuple(
            column.name
            for column in table.table.columns
            if column.name not in hidden
            and f"{table.name}.{column.name}" not in self._excluded
            and is_readable(column)
        )


def _shown(table: TableInfo) -> tuple[str, ...]:
    if table.label != table.key:
        return table.label
    dates = [column.name for column in table.table.columns if is_date(column)]
    return (*table.key, *dates[:1])


def _require_key(table: TableInfo) -> None:
    if not table.key:
        raise SettingsError(
            f"the table {table.name} has no primary key",
            hint="choose another root, or declare one",
        )
