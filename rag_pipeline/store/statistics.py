"""The lexemes of the corpus, and the counts of `rag status`."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.store.named_queries import queries


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
    """Bring the list of lexemes up to date if chunks changed since; return whether they had.

    Searches do not wait for it: postings and their counts change with the chunks. What is done here
    is what may come later: postings of chunks that are gone are cleared away, and the table
    `lexeme`, which corrects typing errors, learns new words. In the caller's transaction.
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
    return Counts(*queries.count_everything(connection))
