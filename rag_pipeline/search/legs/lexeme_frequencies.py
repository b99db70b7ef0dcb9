"""How many chunks have each lexeme."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.store.named_queries import records


@dataclass(frozen=True)
class LexemeFrequency:
    """A row of the statements that return lexemes with their document frequencies."""

    lexeme: str
    document_frequency: int


def frequencies_of(
    connection: Connection[TupleRow], statement: Any, **parameters: Any
) -> dict[str, int]:
    """Run a statement that returns lexemes; return the number of chunks that have each."""
    rows = records(connection, LexemeFrequency, statement, **parameters)
    return {row.lexeme: row.document_frequency for row in rows}
