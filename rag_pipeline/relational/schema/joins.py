"""Ways from one table to others along foreign keys, always from the many to the one.

Only so does a join never repeat a row that is added up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rag_pipeline.relational.schema.table_schema import ForeignKey, Schema

MAX_STEPS = 5


class NotComputableError(Exception):
    """A question is not understood with certainty; the text says what is unclear."""


@dataclass(frozen=True)
class JoinTree:
    """A base table and the foreign keys to follow from it, nearest first."""

    base: str
    steps: tuple[ForeignKey, ...]

    @property
    def tables(self) -> set[str]:
        """Every table in it."""
        return {self.base, *(step.target for step in self.steps)}


def paths_from(schema: Schema, base: str) -> dict[str, list[tuple[ForeignKey, ...]]]:
    """Return the shortest ways from a table to each that it names, directly or not."""
    found: dict[str, list[tuple[ForeignKey, ...]]] = {base: [()]}
    border: dict[str, list[tuple[ForeignKey, ...]]] = {base: [()]}
    for _ in range(MAX_STEPS):
        reached: dict[str, list[tuple[ForeignKey, ...]]] = {}
        for table, ways in border.items():
            for link in schema.tables[table].foreign_keys:
                if link.target not in found:
                    reached.setdefault(link.target, []).extend((*way, link) for way in ways)
        found |= reached
        border = reached
    return found


def join_tree(schema: Schema, base: str, wanted: Iterable[str]) -> JoinTree | None:
    """Return the joins from a base to all wanted tables; None where one is out of reach.

    Raises `NotComputableError` where there are two ways to one of them.
    """
    paths = paths_from(schema, base)
    steps: dict[ForeignKey, None] = {}
    for table in wanted:
        ways = paths.get(table)
        if ways is None:
            return None
        if len(ways) > 1:
            raise NotComputableError(f"there are several relations from {base} to {table}")
        steps |= dict.fromkeys(ways[0])
    return JoinTree(base, tuple(sorted(steps, key=lambda s: len(paths[s.table][0]))))


def smallest_tree(schema: Schema, wanted: set[str]) -> JoinTree:
    """Return the smallest join tree that holds some tables.

    Raises `NotComputableError` where there is none, or two of the same size.
    """
    trees = [t for name in schema.tables if (t := _tree_or_none(schema, name, wanted)) is not None]
    if not trees:
        raise NotComputableError(f"nothing relates {', '.join(sorted(wanted))}")
    size = min(len(tree.steps) for tree in trees)
    best = [tree for tree in trees if len(tree.steps) == size]
    if len(best) > 1:
        raise NotComputableError(f"{', '.join(sorted(wanted))} are related in several ways")
    return best[0]


def _tree_or_none(schema: Schema, base: str, wanted: set[str]) -> JoinTree | None:
    try:
        return join_tree(schema, base, sorted(wanted))
    except NotComputableError:
        return None
