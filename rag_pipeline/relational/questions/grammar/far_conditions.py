"""Conditions that lie so far from what is asked for that nobody meant the way there. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from rag_pipeline.relational.questions.forms.logical_form import (
    AnyOf,
    During,
    Exists,
    Filter,
    Form,
    Missing,
    OneOf,
    paths_of,
)
from rag_pipeline.relational.schema.table_schema import Schema
from rag_pipeline.relational.schema.ways import NotComputableError

_FAR = 4
"""Tables on a way, the last one included, from which one of those between must be named. Whose
customers, orders, lines and products lead to a supplier is not "responsible for" the supplier."""


def check_ways(form: Form, named: Collection[str], schema: Schema) -> None:
    """Raise `NotComputableError` for a long way of which the question names no table between."""
    for way in (way for one in form.filters for way in _ways(one)):
        tables = [table for table in way if not schema.tables[table].is_join_table]
        if len(tables) >= _FAR and not set(tables[:-1]) & set(named):
            between = ", ".join(f"“{table}”" for table in tables[:-1])
            raise NotComputableError(
                f"it is not clear how “{form.base}” and “{tables[-1]}” are connected: "
                f"name one of {between}"
            )


def _ways(one: Filter) -> Iterator[Sequence[str]]:
    """Yield the tables that a filter leads over, from the form's table on."""
    if isinstance(one, AnyOf):
        for part in one.filters:
            yield from _ways(part)
    elif isinstance(one, Exists):
        first = [*(link.target for link in one.path), one.link.table]
        below = [way for part in one.filters for way in _ways(part)] or [[]]
        for way in below:
            yield [*first, *way]
    else:
        expression = one.column if isinstance(one, OneOf | Missing | During) else one.left
        for path in paths_of(expression):
            yield [link.target for link in path]
