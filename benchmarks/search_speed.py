"""Search at a size: each way of searching timed, its nearest neighbours beside the exact ones."""

from __future__ import annotations

import os
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from pgvector import HalfVector
from psycopg import sql
from psycopg.conninfo import make_conninfo

from benchmarks.search_data import (
    DIMENSIONS,
    generate,
    is_generated,
    is_restricted,
    restrict,
)
from rag_pipeline.search import Filters, Searcher
from rag_pipeline.search.filters import EVERYTHING, resolve
from rag_pipeline.search.legs.vector_leg import vector_leg
from rag_pipeline.search.visibility import visible_chunks
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.embeddings import EmbeddingSpace, active_space
from rag_pipeline.store.migrations import create_database
from rag_pipeline.usage import Usage

SEED = 9
Timed = Callable[[int], object]


class GivenVectors:
    """Hands out query vectors of the generated corpus: its model is arithmetic."""

    provider, model, dimensions, contextual, max_tokens = (
        "generated",
        "topics",
        DIMENSIONS,
        False,
        512,
    )

    def __init__(self, vectors: dict[str, Any]) -> None:
        self._vectors = vectors

    def embed_query(self, text: str) -> Any:
        """Return the vector that was drawn for this query."""
        return self._vectors[text]

    def embed_documents(self, texts: Sequence[str], on_batch: Any = None) -> Any:  # noqa: ARG002
        """Return the vectors that were drawn for these texts."""
        return np.stack([self._vectors[text] for text in texts])

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count words."""
        return [len(text.split()) for text in texts]

    def take_usage(self) -> list[Usage]:
        """Nothing is asked of a service."""
        return []


@dataclass(frozen=True)
class Questions:
    """Queries of one to four words out of a chunk each, and a vector near that chunk's."""

    texts: list[str]
    naming: list[str]
    """The same, with the word of the chunk's file name."""
    mistyped: list[str]
    vectors: dict[str, Any]


def measure_speed(
    maintenance: str, size: int, count: int, rows: list[list[Any]], figures: dict[str, Any]
) -> None:
    """Measure every way of searching, beside the naive ones."""
    with _corpus(maintenance, size) as (database, connection, space):
        questions = _questions(connection, count)
        searcher = Searcher(database, Settings(), embedder=GivenVectors(questions.vectors))
        rare, half = Filters(tags=["rare"]), Filters(tags=["half"])
        text, vector = {"text": 1.0, "vector": 0.0}, {"text": 0.0, "vector": 1.0}
        asked, mistyped = questions.texts, questions.mistyped
        ways: dict[str, Timed] = {
            "text": lambda i: searcher.search(asked[i], weights=text),
            "fuzzy": lambda i: searcher.search(mistyped[i], weights=text),
            "vector": lambda i: searcher.search(asked[i], weights=vector),
            "fused": lambda i: searcher.search(asked[i]),
            "fused, file named": lambda i: searcher.search(questions.naming[i]),
            "fused, 1 % filter": lambda i: searcher.search(asked[i], filters=rare),
            "fused, 50 % filter": lambda i: searcher.search(asked[i], filters=half),
        }
        # A first round over all queries warms the caches; the second is measured.
        _measure(size, ways, count, connection, rows, figures, warm=True)
        _build_naive_index(connection)
        _measure(size, _naive_ways(connection, questions, space), 5, connection, rows, figures)
        for name, filters in (("none", None), ("1 %", rare), ("50 %", half)):
            recall = _recall(connection, space, questions, filters, min(count, 30))
            rows.append(
                [size, f"recall@10 against the exact scan, filter {name}", "", recall, "", ""]
            )
            figures[f"{size}.recall.{name}"] = recall


def measure_readers(
    maintenance: str, size: int, count: int, rows: list[list[Any]], figures: dict[str, Any]
) -> None:
    """Measure two groups of readers, 99 : 1, under row-level security, beside the open search."""
    with _corpus(maintenance, size) as (database, connection, space):
        if not is_restricted(connection):
            restrict(connection)
        for group in ("many", "few"):
            readers = database.for_readers([f"group:{group}"])
            with readers.connection() as restricted:
                questions = _questions(restricted, count)
            embedder = GivenVectors(questions.vectors)
            whole = Searcher(database, Settings(), embedder=embedder)
            guarded = Searcher(readers, Settings(), embedder=embedder)
            ways: dict[str, Timed] = {}
            for name, weights in (
                ("text", {"text": 1.0, "vector": 0.0}),
                ("vector", {"text": 0.0, "vector": 1.0}),
                ("fused", None),
            ):
                for kind, searcher in (("open", whole), ("guarded", guarded)):
                    ways[f"{name}, group of {group}, {kind}"] = _asking(
                        searcher, questions.texts, weights
                    )
            _measure(size, ways, count, connection, rows, figures, warm=True)
            fused = [figures[f"{size}.fused, group of {group}, {kind}.p50_ms"]
                     for kind in ("guarded", "open")]  # fmt: skip
            recall = _guarded_recall(connection, readers, space, questions, min(count, 30))
            full = statistics.mean(
                len(guarded.search(text).results) == 10 for text in questions.texts
            )
            for what, value in (
                ("guarded / open, fused, by p50_ms", fused[0] / fused[1]),
                ("recall@10 against the exact scan", recall),
                ("share of searches with 10 results", full),
            ):
                rows.append([size, f"{what}, group of {group}", "", value, "", ""])
                figures[f"{size}.{what}, group of {group}"] = value


def _asking(searcher: Searcher, texts: list[str], weights: dict[str, float] | None) -> Timed:
    return lambda i: searcher.search(texts[i], weights=weights)


def _guarded_recall(
    connection: psycopg.Connection[Any],
    readers: Database,
    space: EmbeddingSpace,
    questions: Questions,
    count: int,
) -> float:
    """Return the share of the ten truly nearest visible chunks that the vector leg finds."""
    shares = []
    for text in questions.texts[:count]:
        query = questions.vectors[text]
        with readers.connection() as restricted:
            visible = visible_chunks(restricted)
            hits = vector_leg(restricted, space, query, 100, visible=visible)
        found = {hit.chunk_id for hit in hits[:10]}
        exact = connection.execute(
            "SELECT e.chunk_id FROM unnest(%s::bigint[], %s::bigint[]) AS r (first, last) "
            "INNER JOIN chunk_embedding AS e ON e.chunk_id BETWEEN r.first AND r.last "
            "WHERE e.space_id = %s ORDER BY (e.embedding::halfvec(384) <=> %s) + 0 LIMIT 10",
            (visible.firsts, visible.lasts, space.space_id, HalfVector(query)),
        ).fetchall()
        shares.append(sum(chunk_id in found for (chunk_id,) in exact) / len(exact))
    return statistics.mean(shares)


def _naive_ways(
    connection: psycopg.Connection[Any], questions: Questions, space: EmbeddingSpace
) -> dict[str, Timed]:
    """Return the ways that most tools go: every match ranked, every text, every vector."""

    def text(i: int) -> object:
        words = " | ".join(questions.texts[i].split())
        return connection.execute(
            "SELECT chunk_id FROM chunk, to_tsquery('simple', %s) AS q WHERE search_vector @@ q "
            "ORDER BY ts_rank(search_vector, q) DESC LIMIT 10",
            (words,),
        ).fetchall()

    def fuzzy(_: int) -> object:
        return connection.execute(
            "SELECT chunk_id FROM chunk ORDER BY word_similarity(%s, content) DESC LIMIT 10",
            (questions.mistyped[0],),
        ).fetchall()

    def vector(i: int) -> object:
        query = HalfVector(questions.vectors[questions.texts[i]])
        return connection.execute(
            "SELECT chunk_id FROM chunk_embedding WHERE space_id = %s "
            "ORDER BY (embedding::halfvec(384) <=> %s) + 0 LIMIT 10",
            (space.space_id, query),
        ).fetchall()

    return {
        "naive text (OR, ts_rank)": text,
        "naive fuzzy (word_similarity)": fuzzy,
        "naive vector (exact scan)": vector,
        "naive fused": lambda i: (text(i), vector(i)),
    }


def _build_naive_index(connection: psycopg.Connection[Any]) -> None:
    """Give the naive way the index that it would have."""
    connection.execute("SET maintenance_work_mem = '1GB'")
    connection.execute(
        "CREATE INDEX IF NOT EXISTS chunk_search_vector ON chunk USING gin (search_vector)"
    )


def _measure(
    size: int,
    ways: dict[str, Timed],
    count: int,
    connection: psycopg.Connection[Any],
    rows: list[list[Any]],
    figures: dict[str, Any],
    *,
    warm: bool = False,
) -> None:
    for name, run in ways.items():
        # A scan of all texts takes a minute at a million.
        times = 1 if "word_similarity" in name else count
        if warm:
            for i in range(times):
                run(i)
        seconds = []
        cpu = _cpu_seconds(connection)
        for i in range(times):
            start = time.perf_counter()
            run(i)
            seconds.append(time.perf_counter() - start)
        cpu = (_cpu_seconds(connection) - cpu) / times
        median = 1000 * statistics.median(seconds)
        slowest = 1000 * float(np.percentile(seconds, 95))
        rows.append([size, name, times, median, slowest, 1000 * cpu])
        figures |= {
            f"{size}.{name}.p50_ms": median,
            f"{size}.{name}.p95_ms": slowest,
            f"{size}.{name}.cpu_ms": 1000 * cpu,
        }


def _cpu_seconds(connection: psycopg.Connection[Any]) -> float:
    """Return processor seconds of this process and of every Postgres process of the database."""
    total = time.process_time()
    ticks = os.sysconf("SC_CLK_TCK")
    for (pid,) in connection.execute(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
    ).fetchall():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:  # gone, or no Linux
            continue
        total += (int(fields[11]) + int(fields[12])) / ticks
    return total


def _questions(connection: psycopg.Connection[Any], count: int) -> Questions:
    generator = random.Random(SEED)
    drawn = connection.execute(
        "SELECT c.content, e.embedding, substring(s.uri FROM '([a-z]+)-') FROM chunk AS c "
        "INNER JOIN chunk_embedding AS e ON e.chunk_id = c.chunk_id "
        "INNER JOIN source AS s ON s.source_hash = c.source_hash "
        "WHERE c.chunk_id = ANY(%s)",
        (_spread_ids(connection, count),),
    ).fetchall()
    noise = np.random.default_rng(SEED)
    texts: list[str] = []
    naming: list[str] = []
    mistyped: list[str] = []
    vectors: dict[str, Any] = {}
    for number, (content, embedding, name) in enumerate(drawn):
        words = generator.sample(content.split(), 1 + number % 4)
        text = " ".join(words)
        longest = max(words, key=len)
        place = generator.randrange(1, len(longest))
        typed = longest[:place] + generator.choice("qxy") + longest[place:]
        near = embedding.to_numpy().astype(np.float32) + 0.02 * noise.standard_normal(DIMENSIONS)
        texts.append(text)
        naming.append(f"{text} {name}")
        mistyped.append(" ".join([typed, *(word for word in words if word != longest)]))
        near = (near / np.linalg.norm(near)).astype(np.float32)
        vectors |= {text: near, naming[-1]: near}
    return Questions(texts, naming, mistyped, vectors)


def _spread_ids(connection: psycopg.Connection[Any], count: int) -> list[int]:
    """Return ids of chunks, every 197th or so: of a restricted connection, of those it shows."""
    row = connection.execute("SELECT count(*) FROM chunk").fetchone()
    assert row is not None
    step = max(1, min(197, row[0] // count))
    numbered = "SELECT chunk_id, row_number() OVER (ORDER BY chunk_id) AS number FROM chunk"
    rows = connection.execute(
        f"SELECT chunk_id FROM ({numbered}) AS n WHERE number %% %s = 1 %% %s LIMIT %s",
        (step, step, count),
    ).fetchall()
    return [chunk_id for (chunk_id,) in rows]


def _recall(
    connection: psycopg.Connection[Any],
    space: EmbeddingSpace,
    questions: Questions,
    filters: Filters | None,
    count: int,
) -> float:
    """Return the share of the ten truly nearest that the vector leg finds."""
    shares = []
    for text in questions.texts[:count]:
        query = questions.vectors[text]
        with connection.transaction():
            scope = resolve(connection, filters) if filters else EVERYTHING
            found = {hit.chunk_id for hit in vector_leg(connection, space, query, 100, scope)[:10]}
        tag = filters.tags[0] if filters else None
        exact = connection.execute(
            "SELECT e.chunk_id FROM chunk_embedding AS e "
            "INNER JOIN chunk AS c ON c.chunk_id = e.chunk_id "
            "INNER JOIN source AS s ON s.source_hash = c.source_hash "
            "WHERE e.space_id = %s AND (%s::text IS NULL OR %s = ANY(s.tags)) "
            "ORDER BY (e.embedding::halfvec(384) <=> %s) + 0 LIMIT 10",
            (space.space_id, tag, tag, HalfVector(query)),
        ).fetchall()
        shares.append(sum(chunk_id in found for (chunk_id,) in exact) / len(exact))
    return statistics.mean(shares)


@contextmanager
def _corpus(
    maintenance: str, size: int
) -> Iterator[tuple[Database, psycopg.Connection[Any], EmbeddingSpace]]:
    """Lend the generated corpus, with a connection outside of any transaction."""
    with opened(maintenance, f"generated_{size}") as database, _raw(database) as connection:
        if not is_generated(connection, size):
            generate(connection, size)
        space = active_space(connection)
        if space is None:
            raise SystemExit("the generated corpus has no embedding space")
        yield database, connection, space


@contextmanager
def opened(maintenance: str, name: str, *, fresh: bool = False) -> Iterator[Database]:
    """Lend a database of the server; `fresh`: empty."""
    if fresh:
        with psycopg.connect(maintenance, autocommit=True) as connection:
            connection.execute(
                sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
            )
    create_database(maintenance, name)
    url = make_conninfo(maintenance, dbname=name)
    database = Database.open(Settings.model_validate({"database_url": url}))
    try:
        yield database
    finally:
        database.close()


@contextmanager
def _raw(database: Database) -> Iterator[psycopg.Connection[Any]]:
    """Lend a connection outside of any transaction."""
    with database.connection() as connection:
        connection.commit()
        connection.autocommit = True
        try:
            yield connection
        finally:
            connection.rollback()
            connection.autocommit = False
