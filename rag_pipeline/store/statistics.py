"""Corpus statistics for search, and the counts of `rag status`."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.store.named_queries import first_record, queries


@dataclass(frozen=True)
class Counts:
    """Sizes of the store."""

    files: int
    documents: int
    ready: int
    failed: int
    pages: int
    chunks: int
    vectors: int
    database_bytes: int


def refresh_statistics(connection: Connection[TupleRow]) -> bool:
    """Update the statistics if chunks have changed; return whether they had.

    Searches do not depend on it, since postings change together with the chunks. This removes
    postings of deleted chunks and adds new words to the table `lexeme`, which serves typo
    correction. Runs in the caller's transaction.
    """
    if not queries.are_statistics_stale(connection):
        return False
    queries.compact_postings(connection)
    queries.fill_lexemes(connection)
    queries.drop_lexemes(connection)
    queries.refresh_corpus_statistics(connection)
    return True


def count_everything(connection: Connection[TupleRow]) -> Counts:
    """Count files, documents, pages, chunks and vectors."""
    counts = first_record(connection, Counts, queries.count_everything)
    assert counts is not None  # a SELECT without FROM has one row
    return counts
