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


def refresh_statistics(connection: Connection[TupleRow]) -> None:
    """Count lexemes and lengths anew, in the caller's transaction: searches see old or new."""
    queries.clear_lexemes(connection)
    queries.fill_lexemes(connection)
    queries.refresh_corpus_statistics(connection)


def count_everything(connection: Connection[TupleRow]) -> Counts:
    """Count files, documents, pages, chunks and vectors."""
    return Counts(*queries.count_everything(connection))
