"""Whether a row, or anything below it, is what it was: by its content, or by times of change.

A table with a time of last change (`updated_at`) need not be read whole to see what changed: the
keys of its rows and their times tell. Keys tell of rows that came or went, times of the others. A
time that is as new as the newest of its table proves nothing, for the row may change again within
the same tick of the clock.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, func, select

from rag_pipeline.relational.rows.row_reading import Record, as_text_array
from rag_pipeline.relational.schema.relation_tree import Node, Reference, tables_of
from rag_pipeline.relational.schema.table_schema import Schema


@dataclass(frozen=True)
class Etag:
    """What is kept with a stored row to tell whether it is current."""

    made_by: str
    """Hash of what makes chunks besides the row: template, settings, code."""
    content: str
    times: str = ""
    """Hash of keys and times of change; empty where they prove nothing."""
    originals: tuple[str, ...] = ()
    """Rows whose chunks stand for some of this one's: the beginnings of their hashes."""

    @property
    def parts(self) -> tuple[str, str]:
        """What must be the same for a row to be current."""
        return self.made_by, self.content

    def __str__(self) -> str:
        return ":".join((self.made_by, self.content, self.times, ",".join(self.originals)))

    @classmethod
    def parse(cls, text: str | None) -> Etag:
        """Read what was kept; nothing is equal to no row."""
        parts = (text or "").split(":")
        if len(parts) != 4:
            return cls("", "")
        made_by, content, times, originals = parts
        return cls(made_by, content, times, tuple(one for one in originals.split(",") if one))


def times_tree(tree: Node, schema: Schema) -> Node | None:
    """Return the tree with nothing but keys and times of change where tables have them.

    None where no table has one. Tables without one keep their columns.
    """
    times = {name: t.changed_at for name, t in schema.tables.items() if t.changed_at}
    used = tables_of(tree).keys()
    return _reduced(tree, times) if used & times.keys() else None


def newest_times(connection: Connection, tree: Node) -> dict[str, str]:
    """Return the newest time of change of each table that has one, as JSON writes it."""
    found = {}
    for table in tables_of(tree).values():
        column = table.changed_at
        if column is not None:
            newest = select(
                as_text_array(connection.dialect.name, [func.max(table.table.c[column])])
            )
            (value,) = json.loads(str(connection.execute(newest).scalar_one()))
            if value is not None:
                found[table.name] = str(value)
    return found


def content_hash(record: Record) -> str:
    """Hash a row with everything below it."""
    text = json.dumps(_content(record), sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def times_hash(record: Record, newest: Mapping[str, str]) -> str:
    """Hash the keys and times of a row of `times_tree`; "" where a time is the newest of all."""
    return "" if _is_newest(record, newest) else content_hash(record)


def _is_newest(record: Record, newest: Mapping[str, str]) -> bool:
    latest = newest.get(record.table)
    # Up to the second, which is all that some databases keep.
    if latest is not None and any(
        isinstance(value, str) and value[:19] >= latest[:19] for value in record.values.values()
    ):
        return True
    rows = [
        *record.references.values(),
        *(one for rows in record.children.values() for one in rows),
    ]
    return any(_is_newest(row, newest) for row in rows)


def _content(record: Record) -> Any:
    return [
        record.table,
        record.key,
        record.values,
        {name: _content(row) for name, row in record.references.items()},
        {name: [_content(row) for row in rows] for name, rows in record.children.items()},
    ]


def _reduced(node: Node, times: Mapping[str, str]) -> Node:
    own = times.get(node.table.name)
    return replace(
        node,
        columns=(own,) if own else node.columns,
        references=_reduced_references(node.references, times),
        children=tuple(_reduced(child, times) for child in node.children),
    )


def _reduced_references(
    references: Sequence[Reference], times: Mapping[str, str]
) -> tuple[Reference, ...]:
    return tuple(
        replace(
            one,
            columns=(times[one.table.name],) if one.table.name in times else one.columns,
            references=_reduced_references(one.references, times),
        )
        for one in references
    )
