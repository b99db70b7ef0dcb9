"""Conditions on rows: where they stand as seen from the base table, folded into filters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag_pipeline.relational.questions.forms.logical_form import (
    Comparison,
    Exists,
    Filter,
    Path,
)
from rag_pipeline.relational.schema.table_schema import ForeignKey
from rag_pipeline.relational.schema.ways import Way

Make = Callable[[Path], Filter]
"""Makes a filter, given the path of its table from the row that it is about."""


@dataclass(frozen=True)
class Constraint:
    """A condition at the end of a way; without `make`, that there is a row at all."""

    way: Way
    make: Make | None = None
    negated: bool = False
    """No such row exists; of a condition many to one, `make` has the negation itself."""
    group: int = 0
    """Conditions on the same rows on the other side share a number."""
    count: tuple[Comparison, int] | None = None


def fold(constraints: Sequence[Constraint]) -> tuple[Filter, ...]:
    """Return the filters; conditions on the same rows of the other side are asked of one row."""
    filters: list[Filter] = []
    below: dict[tuple[Path, ForeignKey, int], list[Constraint]] = {}
    for one in constraints:
        ahead = next((i for i, step in enumerate(one.way) if not step.forward), None)
        path = tuple(step.link for step in one.way[:ahead])
        if ahead is None:
            if one.make is not None:
                filters.append(one.make(path))
        else:
            key = (path, one.way[ahead].link, one.group)
            below.setdefault(key, []).append(
                Constraint(one.way[ahead + 1 :], one.make, one.negated, one.group, one.count)
            )
    for (path, link, _), inner in below.items():
        negated = any(one.negated for one in inner)
        count = next((one.count for one in inner if one.count), None)
        positive = [Constraint(one.way, one.make, False, 0) for one in inner]
        filters.append(Exists(path, link, fold(positive), negated, count))
    return tuple(dict.fromkeys(filters))
