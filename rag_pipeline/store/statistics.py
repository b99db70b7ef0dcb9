"""Corpus statistics of BM25, and the counts of `rag status`."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.store.queries import queries


@dataclass(frozen=True)
class Counts:
    """How much the store holds."""

    files: int
    documents: int
    ready: int
    failed: int
    pages: int
    chunks: int
    vectors: int
    database_bytes: int


def refresh_statistics(connection: Connection[TupleRow]) -> bool:
    """Count lexemes and lengths anew if chunks changed since; return whether they had.

    In the caller's transaction: searches see the old counts or the new.
    """
    if not queries.are_statistics_stale(connection):
        return False
    queries.clear_lexemes(connection)
    queries.fill_lexemes(connection)
    queries.refresh_corpus_statistics(connection)
    return True


def count_everything(connection: Connection[TupleRow]) -> Counts:
    """Count files, documents, pages, chunks and vectors."""
    return Counts(*queries.count_everything(connection))
