"""How rows are mostly indexed: a chunk a row of a table, or a chunk a joined line."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import psycopg
from psycopg import sql

from rag_pipeline.analysis import to_search_vectors
from rag_pipeline.chunking import content_hash, embedded_text
from rag_pipeline.embedding import Embedder
from rag_pipeline.store.database import Database
from rag_pipeline.store.embeddings import ensure_index, ensure_space
from rag_pipeline.store.landing import Landing, land
from rag_pipeline.store.source_tables import SourceFile, apply_changes
from rag_pipeline.store.statistics import refresh_statistics

LINES = "order_details"
"""The table whose joined rows are `flat_join`."""


class WordsOnly:
    """Stands in for an embedder where nothing is searched by meaning: one vector for all."""

    provider, model, dimensions, contextual, max_tokens = "none", "words-only", 2, False, 512
    version = "1"

    def __init__(self, counter: Embedder) -> None:
        self.count_tokens = counter.count_tokens

    def embed_documents(
        self, texts: Sequence[str], on_batch: Callable[[Sequence[int], Any], None] | None = None
    ) -> Any:
        """Return the same unit vector for each text."""
        vectors = np.tile(np.array([1.0, 0.0], dtype=np.float32), (len(texts), 1))
        if on_batch is not None:
            on_batch(range(len(texts)), vectors)
        return vectors

    def embed_query(self, text: str) -> Any:
        """Return the same unit vector."""
        return self.embed_documents([text])[0]

    def take_usage(self) -> list[Any]:
        """Nothing is used."""
        return []


@dataclass(frozen=True)
class Row:
    """A chunk of a baseline: its text, and the keys of the rows in it."""

    title: str
    text: str
    keys: dict[str, list[str]]


def table_rows(url: str) -> list[Row]:
    """Return a chunk a row of every table: `column: value`, as a loader of tables makes them."""
    rows = []
    with psycopg.connect(url) as connection:
        for table, key in _tables(connection).items():
            cursor = connection.execute(
                sql.SQL("SELECT * FROM {} ORDER BY {}").format(
                    sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, key))
                )
            )
            names = [column.name for column in cursor.description or []]
            for values in cursor:
                row = dict(zip(names, values, strict=True))
                keys = {table: ["|".join(str(row[name]) for name in key)]}
                rows.append(Row(table, _text(row), keys))
    return rows


def flat_join_rows(url: str) -> list[Row]:
    """Return a chunk a line of an order, joined with all that it names, directly or not."""
    with psycopg.connect(url) as connection:
        tables = _tables(connection)
        joined, statement = _join_all(connection)
        rows = []
        for (document,) in connection.execute(statement):
            keys = {
                table: ["|".join(str(document[table][name]) for name in tables[table])]
                for table in joined
                if document[table] is not None
            }
            text = _text(
                {
                    f"{table}.{name}": value
                    for table in joined
                    for name, value in (document[table] or {}).items()
                }
            )
            rows.append(Row(LINES, text, keys))
    return rows


def _join_all(connection: psycopg.Connection[Any]) -> tuple[list[str], sql.Composed]:
    """Join every table that lines name; each once, by the first foreign key that reaches it."""
    links = connection.execute(
        "SELECT c.conrelid::regclass::text, a.attname, c.confrelid::regclass::text, b.attname "
        "FROM pg_constraint c "
        "JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1] "
        "JOIN pg_attribute b ON b.attrelid = c.confrelid AND b.attnum = c.confkey[1] "
        "WHERE c.contype = 'f' AND c.conrelid <> c.confrelid ORDER BY c.oid"
    ).fetchall()
    joined = [LINES]
    joins: list[sql.Composable] = [sql.Identifier(LINES)]
    for table in joined:
        for own, column, target, target_column in links:
            if own == table and target not in joined:
                joined.append(target)
                joins.append(
                    sql.SQL("LEFT JOIN {t} ON {o}.{c} = {t}.{d}").format(
                        t=sql.Identifier(target),
                        o=sql.Identifier(own),
                        c=sql.Identifier(column),
                        d=sql.Identifier(target_column),
                    )
                )
    pairs = [
        sql.SQL("{}, to_jsonb({})").format(sql.Literal(table), sql.Identifier(table))
        for table in joined
    ]
    statement = sql.SQL("SELECT jsonb_build_object({}) FROM {}").format(
        sql.SQL(", ").join(pairs), sql.SQL(" ").join(joins)
    )
    return joined, statement


def _tables(connection: psycopg.Connection[Any]) -> dict[str, list[str]]:
    """Return every table with the columns of its primary key."""
    found: dict[str, list[str]] = {}
    for table, column in connection.execute(
        "SELECT c.conrelid::regclass::text, a.attname FROM pg_constraint c "
        "CROSS JOIN LATERAL unnest(c.conkey) WITH ORDINALITY AS k (number, place) "
        "JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.number "
        "JOIN pg_class t ON t.oid = c.conrelid AND t.relnamespace = 'public'::regnamespace "
        "WHERE c.contype = 'p' ORDER BY 1, k.place"
    ):
        found.setdefault(table, []).append(column)
    return found


def _text(row: dict[str, Any]) -> str:
    return "\n".join(
        f"{name}: {value}"
        for name, value in row.items()
        if value not in (None, "", b"", "\\x") and not isinstance(value, bytes | memoryview)
    )


def land_rows(database: Database, embedder: Any, rows: Sequence[Row]) -> int:
    """Write a baseline's chunks into the same kind of store as ours; return how many."""
    with database.connection() as connection:
        space = ensure_space(
            connection, embedder.provider, embedder.model, embedder.dimensions, embedder.version
        )
    for title in dict.fromkeys(row.title for row in rows):
        own = [row for row in rows if row.title == title]
        texts = [embedded_text(title, None, row.text) for row in own]
        literals, counts = to_search_vectors(texts, "en")
        source_hash = hashlib.sha256(title.encode()).hexdigest()
        frame = pd.DataFrame(
            {
                "chunk_index": range(len(own)),
                "parent_index": pd.array([None] * len(own), dtype="Int64"),
                "kind": "text",
                "breadcrumb_trail": title,
                "content": [row.text for row in own],
                "context": pd.Series([None] * len(own), dtype=object),
                "token_count": embedder.count_tokens(texts),
                "page_start": 1,
                "page_end": 1,
                "regions": [[] for _ in own],
                "content_hash": [content_hash(text) for text in texts],
                "metadata": [{"keys": row.keys} for row in own],
            }
        )
        vectors = embedder.embed_documents(texts)
        landing = Landing(source_hash, title, 1, "en", [], {}, frame, literals, counts, vectors)
        with database.connection() as connection:
            file = SourceFile(
                f"relational:baseline/{title}", "relational:baseline", source_hash, 0, 0
            )
            apply_changes(connection, [file], [])
            land(connection, space.space_id, landing)
    with database.connection() as connection:
        refresh_statistics(connection)
        ensure_index(connection, space)
    return len(rows)
