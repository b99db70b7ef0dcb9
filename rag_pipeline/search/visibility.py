"""Which part of the store a reader sees, and how to search its vectors."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.search.filters import SELECTIVE
from rag_pipeline.store.named_queries import queries, records

BUCKET_BITS = 13
"""Lower bits of a chunk id within its bucket (sql/migrations/003_search.sql)."""
COMPARISONS_A_STEP = 3
"""Approximate number of vectors compared in the time in which the index yields one more row
(measured 2.4 µs and 8 µs with 384 dimensions)."""


@dataclass(frozen=True)
class Visible:
    """The inclusive ranges of ids that contain a reader's chunks."""

    chunk_count: int
    stored_count: int
    """Chunks of the whole store as estimated by the planner; 0 if unknown."""
    firsts: list[int]
    lasts: list[int]

    def is_few(self, limit: int) -> bool:
        """Return whether comparing all of them costs less than an index that skips the others.

        The index yields `limit` visible rows after about limit × stored / visible rows.
        """
        if self.chunk_count > SELECTIVE:
            return False
        if not self.stored_count:
            return True
        steps = limit * self.stored_count / max(1, self.chunk_count)
        return self.chunk_count <= COMPARISONS_A_STEP * steps


@dataclass(frozen=True)
class PostingBucket:
    """A row of the statement `posting_buckets`: chunk ids that share an upper part."""

    bucket: int
    chunk_count: int
    lexeme_total: int
    dead_count: int
    """Chunks that are gone, but whose postings are still there."""


def posting_buckets(connection: Connection[TupleRow]) -> list[PostingBucket]:
    """Return the buckets that the connection may see, in order."""
    return records(connection, PostingBucket, queries.posting_buckets)


def visible_chunks(connection: Connection[TupleRow]) -> Visible:
    """Look up what a reader's connection shows."""
    buckets = posting_buckets(connection)
    ranges: list[tuple[int, int]] = []
    for one in buckets:
        first, last = one.bucket << BUCKET_BITS, ((one.bucket + 1) << BUCKET_BITS) - 1
        if ranges and ranges[-1][1] + 1 == first:
            first = ranges.pop()[0]
        ranges.append((first, last))
    return Visible(
        sum(one.chunk_count for one in buckets),
        max(0, int(queries.estimated_chunks(connection))),
        [first for first, _ in ranges],
        [last for _, last in ranges],
    )
