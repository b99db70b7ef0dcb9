"""Generated corpora for `benchmarks.search`: words by Zipf's law, vectors around topics; seeded.

A chunk has 110 words of a vocabulary of 200,000 (probability 1 / (rank + 2.7) ** 1.07) and a vector
of 384 dimensions: one of 1,000 topics in 24 dimensions with a spread of its own, brought to 384 by
a random projection, plus noise. Vectors of embedding models have such a low inner dimension too;
independent random numbers, which have no neighbours at all, would measure nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg import register_vector

from rag_pipeline.analysis import name_lexemes
from rag_pipeline.store.embeddings import EmbeddingSpace, ensure_index
from rag_pipeline.store.source_tables import name_sources
from rag_pipeline.store.statistics import refresh_statistics

WORDS = 110
CHUNKS_PER_DOCUMENT = 100
DIMENSIONS = 384
VOCABULARY = 200_000
TOPICS = 1_000
INNER_DIMENSIONS = 24
BATCH = 8_192
SEED = 8
MEMORY = "2GB"
"""For building the HNSW index."""

_DOCUMENTS = """
INSERT INTO document (source_hash, title, page_count, language, status, chunk_count)
SELECT encode(sha256(i::text::bytea), 'hex'), 'Manual ' || i, 50, 'und', 'ready', 100
FROM generate_series(0, %(last)s) AS i"""
# Files are named by one word of 500, neither the commonest nor the rarest, and a number.
# One source in a hundred is tagged `rare`, every other one `half`.
_SOURCES = """
INSERT INTO source (uri, root, source_hash, size, modified_ns, tags)
SELECT
    '/generated/' || (%(words)s::text[])[1 + i %% 500] || '-' || to_char(i, 'FM00000') || '.pdf',
    '/generated', encode(sha256(i::text::bytea), 'hex'), 1, 1,
    CASE WHEN i %% 100 = 7 THEN '{rare}'::text[] WHEN i %% 2 = 0 THEN '{half}'::text[]
        ELSE '{}'::text[] END
FROM generate_series(0, %(last)s) AS i"""
_CHUNKS = """
INSERT INTO chunk (
    source_hash, chunk_index, kind, breadcrumb_trail, content, token_count, page_start,
    page_end, regions, content_hash, language, search_vector, lexeme_count
)
SELECT
    encode(sha256((number / 100)::text::bytea), 'hex'), number %% 100, 'text', '', content, 150,
    number %% 100 / 2 + 1, number %% 100 / 2 + 1, '[]', md5(content), 'und',
    to_tsvector('simple', content), %(words)s
FROM generated ORDER BY number
RETURNING chunk_id"""


def vocabulary() -> list[str]:
    """Return pronounceable words, the commonest first."""
    syllables = [consonant + vowel for consonant in "bcdfghjklmnprstvwz" for vowel in "aeiou"]
    generator = np.random.default_rng(1)
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        chosen = generator.integers(0, len(syllables), int(generator.integers(2, 5)))
        words["".join(syllables[i] for i in chosen)] = None
    return list(words)


def is_generated(connection: psycopg.Connection[Any], count: int) -> bool:
    """Whether the database holds the corpus, whole, with its index."""
    row = connection.execute(
        "SELECT (SELECT coalesce(sum(chunk_count), 0) FROM posting_bucket) = %s "
        "AND to_regclass('chunk_embedding_hnsw_1') IS NOT NULL "
        "AND EXISTS (SELECT 1 FROM lexeme)",
        (count,),
    ).fetchone()
    return bool(row and row[0])


def generate(connection: psycopg.Connection[Any], count: int) -> None:
    """Fill an empty, migrated database with `count` chunks, their vectors and both indexes."""
    register_vector(connection)
    connection.execute(
        "INSERT INTO embedding_space (provider, model, dimensions, version, state) "
        "VALUES ('generated', 'topics', %s, '1', 'active')",
        (DIMENSIONS,),
    )
    last = {"last": (count - 1) // CHUNKS_PER_DOCUMENT, "words": vocabulary()[200:700]}
    connection.execute(_DOCUMENTS, last)
    connection.execute(_SOURCES, last)
    name_sources(connection, name_lexemes)
    connection.execute("CREATE TEMPORARY TABLE generated (number integer, content text)")
    connection.commit()
    done = 0
    for texts, vectors in _batches(count):
        with connection.cursor() as cursor, cursor.copy("COPY generated FROM STDIN") as copy:
            for number, text in enumerate(texts, start=done):
                copy.write_row((number, text))
        # Ids are given in the order of the rows.
        ids = sorted(row[0] for row in connection.execute(_CHUNKS, {"words": WORDS}))
        connection.execute("TRUNCATE generated")
        with (
            connection.cursor() as cursor,
            cursor.copy(
                "COPY chunk_embedding (chunk_id, space_id, embedding) FROM STDIN (FORMAT binary)"
            ) as copy,
        ):
            copy.set_types(["int8", "int4", "halfvec"])
            for chunk_id, vector in zip(ids, vectors, strict=True):
                copy.write_row((chunk_id, 1, HalfVector(vector)))
        connection.commit()
        done += len(texts)
        print(f"\r{done:,} of {count:,} chunks generated", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    connection.execute("UPDATE corpus_statistics SET is_stale = true")
    refresh_statistics(connection)
    connection.execute("SELECT set_config('maintenance_work_mem', %s, true)", (MEMORY,))
    ensure_index(connection, EmbeddingSpace(1, "generated", "topics", DIMENSIONS, "active"))
    connection.commit()
    connection.autocommit = True
    connection.execute("VACUUM ANALYZE")


def is_restricted(connection: psycopg.Connection[Any]) -> bool:
    """Whether nothing of the corpus is public."""
    row = connection.execute(
        "SELECT NOT EXISTS "
        "(SELECT 1 FROM posting_bucket WHERE reader_set_id = 1 AND chunk_count > 0)"
    ).fetchone()
    return bool(row and row[0])


_NUMBER = r"substring(uri FROM '([0-9]+)\.pdf$')::integer"
_FEW = f"{_NUMBER} >= (SELECT 0.99 * count(*) FROM source)"


def restrict(connection: psycopg.Connection[Any]) -> None:
    """Give a generated corpus to two groups: `few` has the last hundredth, `many` all else.

    The few's chunks are moved as a change of readers moves them (the last ones, since every bucket
    that a chunk leaves is written anew). The others stay where they are and their places change
    hands, which takes no hour and ends in the same tables.
    """
    connection.execute(f"UPDATE source SET readers = '{{group:few}}' WHERE {_FEW}")
    with connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")  # no triggers
        connection.execute("INSERT INTO reader_set (readers) VALUES ('{group:many}')")
        for table in ("document", "posting_bucket"):
            connection.execute(
                f"UPDATE {table} SET reader_set_id = (SELECT reader_set_id FROM reader_set "
                "WHERE readers = '{group:many}') WHERE reader_set_id = 1"
            )
        connection.execute(f"UPDATE source SET readers = '{{group:many}}' WHERE NOT {_FEW}")
        connection.execute("UPDATE corpus_statistics SET is_stale = true")
        refresh_statistics(connection)
    connection.execute("VACUUM ANALYZE")


def _batches(count: int) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
    generator = np.random.default_rng(SEED)
    words = np.asarray(vocabulary(), dtype=object)
    probability = 1 / (np.arange(VOCABULARY) + 2.7) ** 1.07
    cumulative = np.cumsum(probability / probability.sum())
    projection = generator.standard_normal((INNER_DIMENSIONS, DIMENSIONS), dtype=np.float32)
    topics = generator.standard_normal((TOPICS, INNER_DIMENSIONS), dtype=np.float32)
    for start in range(0, count, BATCH):
        size = min(BATCH, count - start)
        chosen = np.searchsorted(cumulative, generator.random((size, WORDS)))
        texts = [" ".join(row) for row in words[np.minimum(chosen, VOCABULARY - 1)].tolist()]
        spread = generator.standard_normal((size, INNER_DIMENSIONS), dtype=np.float32)
        noise = generator.standard_normal((size, DIMENSIONS), dtype=np.float32)
        inner = topics[generator.integers(0, TOPICS, size)] + 0.5 * spread
        vectors = inner @ projection + 0.5 * noise
        yield texts, vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
