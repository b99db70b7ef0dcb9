"""The tree of relations below a root table, found along the foreign keys.

1:N rows are listed under their parent, N:M through its join table, 1:1 rows merged; from every row
upwards, the rows that it names (its product, its category) are called by their labels. A row stands
in one place: a table that two branches reach is listed where the way from the root is shortest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from rag_pipeline.errors import SettingsError
from rag_pipeline.relational.schema.table_schema import (
    ForeignKey,
    Schema,
    TableInfo,
    is_date,
)
from rag_pipeline.settings import RelationalSettings

Kind = Literal["root", "many", "many_to_many", "one"]
_BY = " by "
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
    group: str = ""
    """Names its rows among those below the parent: the table, with the key where it has several to
    the parent, or names itself: `flights by from_airport`."""

    def walk(self) -> Iterator[Node]:
        """Yield the node and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def table_of_group(group: str) -> str:
    """Return the table of `Node.group`."""
    return group.rpartition(_BY)[0] or group


def key_of_group(group: str) -> tuple[str, ...]:
    """Return the columns in `Node.group`, none where the table's name says enough."""
    table, _, columns = group.rpartition(_BY)
    return tuple(columns.split("+")) if table else ()


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


def left_out(schema: Schema, settings: RelationalSettings) -> list[str]:
    """Return what chunks of a source do not show, each with the reason and what to do, if anything.

    Raises `SettingsError` like `build_tree`.
    """
    tree = build_tree(schema, settings)
    tables = tables_of(tree)
    notes = [
        f"{table.name}.{column}: {reason}"
        for table in tables.values()
        for column, reason in table.bookkeeping.items()
    ]
    excluded = frozenset(settings.exclude)
    whole = _Builder(schema, excluded).root(schema.tables[settings.root], settings.depth, all_=True)
    kept = {(parent, node.group) for parent, node in _placed(tree)}
    notes += [
        f"{node.group} under {parent}: listed elsewhere in the tree already"
        for parent, node in _placed(whole)
        if (parent, node.group) not in kept
    ]
    for link in sorted({link for name in tables for link in schema.incoming(name)}, key=str):
        child = schema.tables[link.table]
        if not child.key and child.name not in excluded:
            note = f"{child.name}: it has no primary key; declare one to have its rows listed"
            notes += [note] if note not in notes else []
    return notes


def _placed(node: Node) -> Iterator[tuple[str, Node]]:
    """Yield every node below one, with its parent's table."""
    for child in node.children:
        yield node.table.name, child
        yield from _placed(child)


class _Builder:
    def __init__(self, schema: Schema, excluded: frozenset[str]) -> None:
        self._schema = schema
        self._excluded = excluded

    def root(self, table: TableInfo, depth: int, *, all_: bool = False) -> Node:
        """Return the tree; with `all_`, tables are listed in every place where they belong."""
        _require_key(table)
        tree = Node(
            "root",
            table,
            self._columns(table, frozenset()),
            self._references(table, {table.name}, REFERENCE_LEVELS),
            (*self._children(table, (table.name,), depth), *self._other_side(table, depth)),
        )
        return tree if all_ else _in_one_place(tree)

    def _other_side(self, table: TableInfo, depth: int) -> tuple[Node, ...]:
        """Return the rows of the table itself that name the root's row: a manager's reports."""
        return tuple(
            Node("many", table, _shown(table), (), (), link, group=_group(table.name, link))
            for link in table.foreign_keys
            if link.target == table.name and depth
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
        several = sum(fk.target == link.target for fk in table.foreign_keys) > 1
        return Node(
            "one" if link.is_unique else "many",
            table,
            self._columns(table, own),
            self._references(table, set(below), REFERENCE_LEVELS, skip=link),
            self._children(table, below, depth - 1),
            link,
            group=_group(table.name, link if several else None),
        )

    def _through(self, join: TableInfo, link: ForeignKey, path: tuple[str, ...]) -> Node | None:
        other = next(fk for fk in join.foreign_keys if fk != link)
        table = self._schema.tables[other.target]
        if table.name in path or table.name in self._excluded:
            return None
        references = self._references(table, {*path, table.name}, REFERENCE_LEVELS)
        columns = self._columns(table, frozenset())
        return Node(
            "many_to_many", table, columns, references, (), link, join, other, group=table.name
        )

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
            and column.name not in table.bookkeeping
        )


def _group(table: str, link: ForeignKey | None) -> str:
    return f"{table}{_BY}{'+'.join(link.columns)}" if link is not None else table


def _in_one_place(tree: Node) -> Node:
    """Return the tree with each table under one parent, if none of its rows is lost by that.

    That parent is the one nearest to the root. Every row must have one: where its key may be null,
    the table stays in the other places, too.
    """
    places: dict[str, tuple[int, str]] = {}
    level = [(tree.table.name, child) for child in tree.children]
    depth = 1
    while level:
        for parent, node in level:
            if node.through is None and _is_always_set(node):
                places.setdefault(node.table.name, (depth, parent))
        level = [(node.table.name, child) for _, node in level for child in node.children]
        depth += 1

    def pruned(parent: Node, depth: int) -> Node:
        kept = [
            pruned(child, depth + 1)
            for child in parent.children
            if child.through is not None
            or places.get(child.table.name, (depth, parent.table.name))
            == (depth, parent.table.name)
        ]
        return replace(parent, children=tuple(kept))

    return pruned(tree, 1)


def _is_always_set(node: Node) -> bool:
    assert node.link is not None
    return all(not node.table.table.columns[name].nullable for name in node.link.columns)


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
