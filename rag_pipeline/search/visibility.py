"""How much of the store a reader sees, and how the vectors of that are best searched."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.search.filters import SELECTIVE
from rag_pipeline.search.legs.postings import BUCKET_BITS
from rag_pipeline.store.named_queries import queries

COMPARISONS_A_STEP = 3
"""Vectors that can be compared in order while the index yields one more row, about: measured 2.4 µs
and 8 µs with 384 dimensions."""


@dataclass(frozen=True)
class Visible:
    """The ids that a reader's chunks lie among, as ranges with their ends included."""

    chunk_count: int
    stored_count: int
    """Chunks of the whole store, as the planner estimates them; 0 where it does not know."""
    firsts: list[int]
    lasts: list[int]

    def is_few(self, limit: int) -> bool:
        """Tell whether comparing all of them costs less than an index that skips the others.

        The index yields `limit` visible rows after about limit × stored / visible rows.
        """
        if self.chunk_count > SELECTIVE:
            return False
        if not self.stored_count:
            return True
        steps = limit * self.stored_count / max(1, self.chunk_count)
        return self.chunk_count <= COMPARISONS_A_STEP * steps


def visible_chunks(connection: Connection[TupleRow]) -> Visible:
    """Look up what a reader's connection shows."""
    rows = [row[:2] for row in queries.posting_buckets(connection)]
    ranges: list[tuple[int, int]] = []
    for bucket, _ in rows:
        first, last = bucket << BUCKET_BITS, ((bucket + 1) << BUCKET_BITS) - 1
        if ranges and ranges[-1][1] + 1 == first:
            first = ranges.pop()[0]
        ranges.append((first, last))
    return Visible(
        sum(count for _, count in rows),
        max(0, int(queries.estimated_chunks(connection))),
        [first for first, _ in ranges],
        [last for _, last in ranges],
    )
