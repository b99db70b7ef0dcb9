"""Rows of the root with everything below them: one statement a batch, whatever the tree is.

Each level of the tree is filtered by the batch, joined to what it names and folded into JSON per
parent, from the leaves up, so that the number of statements grows with neither rows nor tables.
Batches go by the root's primary key (keyset pagination): the last page costs what the first does.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from sqlalchemy import (
    CTE,
    ColumnElement,
    Connection,
    FromClause,
    Select,
    Text,
    and_,
    cast,
    func,
    select,
    tuple_,
)

from rag_pipeline.relational.schema.relation_tree import Node, Reference


@dataclass(frozen=True)
class Record:
    """A row, with the rows that it names and those that belong to it."""

    table: str
    key: tuple[Any, ...]
    values: dict[str, Any]
    references: dict[str, Record] = field(default_factory=dict)
    """By the column (or columns, joined by `+`) that names the row."""
    children: dict[str, list[Record]] = field(default_factory=dict)
    """By `Node.group`, in the order of their keys."""


@dataclass(frozen=True)
class Batch:
    """Some root rows, in the order of their primary key."""

    records: list[Record]
    keys: list[tuple[Any, ...]]
    """Their keys as the driver gives them; a record's own come out of JSON."""


def read_batch(
    connection: Connection, tree: Node, size: int, after: Sequence[Any] | None = None
) -> Batch:
    """Return the `size` root rows that follow a key."""
    return _fetched(connection, tree, batch_statement(connection.dialect.name, tree, size, after))


def read_keys(connection: Connection, tree: Node, keys: Sequence[tuple[Any, ...]]) -> Batch:
    """Return the root rows with these keys; those that are gone are left out."""
    statement = batch_statement(connection.dialect.name, tree, len(keys), None, keys)
    return _fetched(connection, tree, statement)


def _fetched(connection: Connection, tree: Node, statement: Select[Any]) -> Batch:
    rows = connection.execute(statement).all()
    records = [_record(tree, _loaded(row[0])) for row in rows]
    return Batch(records, [tuple(row[1:]) for row in rows])


def batch_statement(
    dialect: str,
    tree: Node,
    size: int,
    after: Sequence[Any] | None,
    keys: Sequence[tuple[Any, ...]] | None = None,
) -> Select[Any]:
    """Return the one statement for a batch: a JSON document a root row, and the row's key.

    Rows follow the key `after`, or are those with the given keys.
    """
    table = tree.table.table
    key = [table.c[name] for name in tree.table.key]
    page = select(table).order_by(*key).limit(size)
    if after is not None:
        page = page.where(tuple_(*key) > tuple_(*after) if len(key) > 1 else key[0] > after[0])
    if keys is not None:
        own = tuple_(*key).in_(keys) if len(key) > 1 else key[0].in_([one[0] for one in keys])
        page = page.where(own)
    rows = page.cte("batch")
    builder = _Builder(dialect)
    document, source = builder.document(tree, rows)
    found = [rows.c[name] for name in tree.table.key]
    # As text, so that numbers keep their digits: some drivers would make floats of them.
    text = cast(document, Text) if dialect == "postgresql" else document
    return select(text.label("document"), *found).select_from(source).order_by(*found)


class _Builder:
    """Builds the statement; positions instead of names keep the documents small."""

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect
        self._count = 0

    def document(self, node: Node, rows: CTE) -> tuple[ColumnElement[Any], FromClause]:
        """Return a JSON array for each of `rows`, and what it is selected from.

        [[key, …], [column, …], [reference, …], [children, …]]
        """
        source: FromClause = rows
        names, source = self._references(node.references, rows, source)
        below = []
        for child in node.children:
            folded = self._folded(child, rows)
            assert child.link is not None
            match = [rows.c[target] for target in child.link.target_columns]
            on = [folded.c[f"k{i}"] == column for i, column in enumerate(match)]
            source = source.outerjoin(folded, and_(*on))
            below.append(self._nested(folded.c["items"]))
        own = [rows.c[name] for name in node.columns]
        key = [rows.c[name] for name in node.table.key]
        parts = [self._array(part) for part in (key, own, names, below)]
        return self._array(parts), source

    def _folded(self, node: Node, parents: CTE) -> FromClause:
        """Return the children of `parents`, folded: columns k0, k1, … and items."""
        assert node.link is not None
        table = node.table.table.alias(self._name(node.table.name))
        if node.through is None:
            link_table: FromClause = table
            origin: FromClause = table
        else:
            assert node.through_link is not None
            link_table = node.through.table.alias(self._name(node.through.name))
            pairs = zip(node.through_link.columns, node.through_link.target_columns, strict=True)
            origin = link_table.join(
                table, and_(*(link_table.c[a] == table.c[b] for a, b in pairs))
            )
        own = [link_table.c[name] for name in node.link.columns]
        wanted = select(*(parents.c[name] for name in node.link.target_columns))
        inside = tuple_(*own).in_(wanted) if len(own) > 1 else own[0].in_(wanted)
        links = [column.label(f"k{i}") for i, column in enumerate(own)]
        rows = select(*table.c, *links).select_from(origin).where(inside).cte(self._name("rows"))
        document, source = self.document(node, rows)
        keys = [rows.c[f"k{i}"] for i in range(len(own))]
        folded = select(*keys, self._aggregate(document).label("items"))
        return folded.select_from(source).group_by(*keys).subquery(self._name("folded"))

    def _references(
        self, references: Sequence[Reference], rows: FromClause, source: FromClause
    ) -> tuple[list[ColumnElement[Any]], FromClause]:
        """Join the rows that are named; each is [[key, …], [column, …], [reference, …]]."""
        found = []
        for reference in references:
            target = reference.table.table.alias(self._name(reference.table.name))
            link = reference.link
            pairs = zip(link.columns, link.target_columns, strict=True)
            source = source.outerjoin(target, and_(*(rows.c[a] == target.c[b] for a, b in pairs)))
            above, source = self._references(reference.references, target, source)
            key = [target.c[name] for name in reference.table.key]
            shown = [target.c[name] for name in reference.columns]
            found.append(self._array([self._array(key), self._array(shown), self._array(above)]))
        return found, source

    def _array(self, values: Sequence[ColumnElement[Any]]) -> ColumnElement[Any]:
        return _json_array(self._dialect, values)

    def _aggregate(self, document: ColumnElement[Any]) -> ColumnElement[Any]:
        name = {"postgresql": "json_agg", "sqlite": "json_group_array"}.get(
            self._dialect, "JSON_ARRAYAGG"
        )
        folded: ColumnElement[Any] = getattr(func, name)(document)
        return folded

    def _nested(self, items: ColumnElement[Any]) -> ColumnElement[Any]:
        # SQLite forgets across a subquery that a text is JSON.
        return func.json(items) if self._dialect == "sqlite" else items

    def _name(self, name: str) -> str:
        self._count += 1
        return f"{name}_{self._count}"


def _json_array(dialect: str, values: Sequence[ColumnElement[Any]]) -> ColumnElement[Any]:
    name = {"postgresql": "json_build_array", "sqlite": "json_array"}.get(dialect, "JSON_ARRAY")
    array: ColumnElement[Any] = getattr(func, name)(*values)
    return array


def as_text_array(dialect: str, values: Sequence[ColumnElement[Any]]) -> ColumnElement[Any]:
    """Return values as the text of a JSON array, written as those in documents are."""
    return cast(_json_array(dialect, values), Text)


def _loaded(document: Any) -> Any:
    """Parse a document; some drivers have done it already."""
    return json.loads(document, parse_float=Decimal) if isinstance(document, str) else document


def _record(node: Node, document: Any) -> Record:
    key, values, names, below = document
    children: dict[str, list[Record]] = {}
    for child, items in zip(node.children, below, strict=True):
        records = [_record(child, item) for item in items or []]
        records.sort(key=lambda record: [(isinstance(v, str), v) for v in record.key])
        children[child.group] = records
    return Record(
        node.table.name,
        tuple(key),
        dict(zip(node.columns, values, strict=True)),
        _named(node.references, names),
        children,
    )


def _named(references: Sequence[Reference], documents: Sequence[Any]) -> dict[str, Record]:
    found = {}
    for reference, (key, values, above) in zip(references, documents, strict=True):
        if all(part is None for part in key):
            continue
        found["+".join(reference.link.columns)] = Record(
            reference.table.name,
            tuple(key),
            dict(zip(reference.columns, values, strict=True)),
            _named(reference.references, above),
        )
    return found
