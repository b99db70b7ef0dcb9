"""Relational data: what retrieval of rows keeps of their relations, and exact numbers by SQL.

    python -m benchmarks.relational [--quick] [--json]

Loads `northwind` into the embedded Postgres and indexes it five times over: `table` (a chunk a row,
per table), `flat_join` (a chunk a joined order line), and ours as `entity`, `parent_child`, `auto`.
A gold row counts as found where it stands in one of the first five chunks; a chunk is right where
it holds a gold row of a root table. Facts are looked for in the chunks' text, and with
`parent_child` in their parents'. Ours look at the rows first that SQL finds by the names in the
question. Aggregate questions are right where every cell is; what is
computed but differs is wrong, what could not be computed is neither.

All strategies are searched by words alone with `--quick`, by words and meaning without.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np
import psycopg
from psycopg import sql
from pydantic import SecretStr

from benchmarks.common import PROJECT_DIR, arguments, bench_data, print_report
from rag_pipeline.embedding import Embedder, create_embedder
from rag_pipeline.relational.connecting import open_engine, reading
from rag_pipeline.relational.exact import ExactAnswerer
from rag_pipeline.relational.lexicon import Lexicon
from rag_pipeline.relational.narrowing import named_rows, search_rows
from rag_pipeline.relational.schema import read_schema
from rag_pipeline.relational.syncing import sync_relational
from rag_pipeline.search import Searcher, SearchResult
from rag_pipeline.search.filters import Filters, MetadataFilter
from rag_pipeline.settings import RelationalSettings, Settings
from rag_pipeline.store import embedded
from rag_pipeline.store.database import Database, database_url
from rag_pipeline.store.migrations import create_database

ROOTS = {"customers": 2, "suppliers": 1, "employees": 1, "products": 1}
"""Root tables of our sources, with their depth."""
LINES = "order_details"
"""The table whose joined rows are `flat_join`."""
OURS = ("entity", "parent_child", "auto")


class WordsOnly:
    """Stands in for an embedder where nothing is searched by meaning: one vector for all."""

    provider, model, dimensions, contextual, max_tokens = "none", "words-only", 2, False, 512

    def __init__(self, counter: Embedder) -> None:
        self.count_tokens = counter.count_tokens

    def embed_documents(self, texts: Sequence[str], on_batch: object = None) -> Any:
        """Return the same unit vector for each text."""
        del on_batch
        return np.tile(np.array([1.0, 0.0], dtype=np.float32), (len(texts), 1))

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


def main() -> None:
    """Index the data in every way, ask every question, print one table."""
    options = arguments(__doc__)
    folder = bench_data() / "northwind"
    with (folder / "questions.jsonl").open(encoding="utf-8") as file:
        questions = [json.loads(line) for line in file]
    with server() as (settings, url):
        load(url, (folder / "northwind.sql").read_text(encoding="utf-8"))
        counter = create_embedder(settings.embedding, settings.data_path / "models")
        embedder: Any = WordsOnly(counter) if options.quick else counter
        weights = {"text": 1.0, "vector": 0.0} if options.quick else None
        entities = [q for q in questions if q["kind"] == "entity"]
        rows: list[list[Any]] = []
        figures: dict[str, Any] = {}
        for name, index in strategies(url).items():
            database = fresh_store(settings, name)
            start = time.perf_counter(), time.process_time()
            chunks = index(database, embedder)
            took = time.perf_counter() - start[0], time.process_time() - start[1]
            searcher = Searcher(database, settings, embedder=embedder)
            for language in ("en", "ko"):
                ask = asker(searcher, weights, url if name in OURS else None)
                scores = score(ask, entities, language)
                rows.append([name, language, *scores.values(), chunks, *took])
                figures |= {f"{name}.{language}.{k}": v for k, v in scores.items()}
            figures |= {f"{name}.chunks": chunks, f"{name}.index_cpu_seconds": took[1]}
            database.close()
        exact = exact_scores(url, [q for q in questions if q["kind"] == "aggregate"])
        figures |= exact
    columns = "strategy questions P@5 recall@5 facts chunks index_s index_CPU_s".split()
    print_report("Relational data", columns, rows, figures, options.json)
    if not options.json:
        print()
        for name, value in exact.items():
            print(f"- {name}: {value if isinstance(value, int) else round(value, 3)}")


@contextmanager
def server() -> Iterator[tuple[Settings, str]]:
    """Lend settings with a server of their own, and the URL of the database to be read."""
    project_dir = PROJECT_DIR / ".rag" / "benchmarks" / "relational"
    project_dir.mkdir(parents=True, exist_ok=True)
    os.environ["RAG_HOME"] = str(project_dir)
    settings = Settings.load(project_dir)
    try:
        yield settings, _with_name(database_url(settings), "northwind")
    finally:
        embedded.stop(settings.data_path)


def load(url: str, statements: str) -> None:
    """Load the data into a database made anew."""
    _create(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statements.encode())


def fresh_store(settings: Settings, name: str) -> Database:
    """Open an empty store of its own for a strategy."""
    url = _with_name(database_url(settings), f"relational_{name}")
    _create(url)
    return Database.open(settings.model_copy(update={"database_url": SecretStr(url)}))


def _create(url: str) -> None:
    maintenance = _with_name(url, "postgres")
    name = urlsplit(url).path.lstrip("/")
    with psycopg.connect(maintenance, autocommit=True) as connection:
        connection.execute(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
        )
    create_database(maintenance, name)


def _with_name(url: str, name: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def strategies(url: str) -> dict[str, Callable[[Database, Any], int]]:
    """Return what indexes the data in each way; each returns the number of chunks."""

    def ours(strategy: str) -> Callable[[Database, Any], int]:
        def index(database: Database, embedder: Any) -> int:
            return sum(
                sync_relational(
                    database, embedder, source(url, root, depth, strategy), PROJECT_DIR
                ).chunks
                for root, depth in ROOTS.items()
            )

        return index

    def baseline(read: Callable[[str], list[Row]]) -> Callable[[Database, Any], int]:
        def index(database: Database, embedder: Any) -> int:
            return land_rows(database, embedder, read(url))

        return index

    return {
        "table": baseline(table_rows),
        "flat_join": baseline(flat_join_rows),
        **{strategy: ours(strategy) for strategy in OURS},
    }


def source(url: str, root: str, depth: int, strategy: str) -> RelationalSettings:
    """Return the settings of one of our sources: nothing but root, depth and strategy."""
    values = {"name": root, "url": url, "root": root, "depth": depth, "strategy": strategy}
    return RelationalSettings.model_validate(values)


def asker(
    searcher: Searcher, weights: dict[str, float] | None, url: str | None
) -> Callable[[str], Sequence[SearchResult]]:
    """Return what finds five chunks: by search alone, or (ours) by SQL and search."""

    def search(question: str, wanted: dict[str, str], limit: int) -> Sequence[SearchResult]:
        filters = Filters(metadata=[MetadataFilter(key, (v,)) for key, v in wanted.items()])
        return searcher.search(
            question, limit=limit, weights=weights, filters=filters, expand="parent"
        ).results

    if url is None:
        return lambda question: search(question, {}, 5)
    engine = open_engine(source(url, "customers", 1, "auto"))
    schema = read_schema(engine, Lexicon())

    def narrowed(question: str) -> Sequence[SearchResult]:
        with reading(engine, 30) as connection:
            named = named_rows(connection, schema, question, list(ROOTS))
        return search_rows(search, question, named, 5)

    return narrowed


def score(
    ask: Callable[[str], Sequence[SearchResult]], questions: Sequence[dict[str, Any]], language: str
) -> dict[str, float]:
    """Return precision@5, recall@5 of gold rows of root tables, and coverage of facts."""
    precisions, recalls, coverages = [], [], []
    for question in questions:
        gold = {one for one in question["gold_ids"] if one.split(":")[0] in ROOTS}
        results = ask(question[f"question_{language}"])
        held = [
            {f"{table}:{key}" for table, keys in r.metadata["keys"].items() for key in keys}
            for r in results
        ]
        found = set().union(*held) if held else set()
        precisions.append(sum(bool(ids & gold) for ids in held) / 5)
        recalls.append(len(gold & found) / len(gold))
        context = "\n".join(
            part for r in results for part in (r.breadcrumb_trail, r.content, r.context or "")
        )
        facts = set(question["gold_facts"])
        coverages.append(sum(fact in context for fact in facts) / len(facts))
    count = len(questions)
    return {
        "precision@5": sum(precisions) / count,
        "recall@5": sum(recalls) / count,
        "facts": sum(coverages) / count,
    }


def exact_scores(url: str, questions: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return per language the share computed exactly right, and the number computed wrong."""
    engine = open_engine(source(url, "customers", 1, "auto"))
    answerer = ExactAnswerer(engine, read_schema(engine, Lexicon()))
    figures: dict[str, Any] = {}
    for language in ("en", "ko"):
        right = wrong = 0
        seconds = []
        for question in questions:
            gold = question["gold_value"]
            wanted = _cells([[gold]] if isinstance(gold, str) else gold)
            start = time.perf_counter()
            answer = answerer.answer(question[f"question_{language}"])
            seconds.append(time.perf_counter() - start)
            if answer.is_computed:
                is_right = _cells(answer.rows) == wanted
                right += is_right
                wrong += not is_right
        figures |= {
            f"aggregate.{language}.right": right / len(questions),
            f"aggregate.{language}.wrong": wrong,
            f"aggregate.{language}.p50_ms": 1000 * float(np.median(seconds)),
        }
    engine.dispose()
    return figures


def _cells(rows: Sequence[Sequence[Any]]) -> list[tuple[str, ...]]:
    """Compare cell by cell as text, rows in any order."""
    return sorted(tuple(str(cell) for cell in row) for row in rows)


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
    import hashlib

    import pandas as pd

    from rag_pipeline.analysis import to_search_vectors
    from rag_pipeline.chunking import content_hash, embedded_text
    from rag_pipeline.embedding import EMBEDDING_VERSION
    from rag_pipeline.store.documents import Landing, land
    from rag_pipeline.store.embeddings import ensure_index, ensure_space
    from rag_pipeline.store.sources import SourceFile, apply_changes
    from rag_pipeline.store.statistics import refresh_statistics

    with database.connection() as connection:
        space = ensure_space(
            connection, embedder.provider, embedder.model, embedder.dimensions, EMBEDDING_VERSION
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


if __name__ == "__main__":
    main()
