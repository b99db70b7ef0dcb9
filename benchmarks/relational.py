"""Relational data: what retrieval of rows keeps of their relations, and exact numbers by SQL.

    python -m benchmarks.relational [--quick] [--only PART] [--json]

The parts are `retrieval`, `aggregates`, `tables` and `large`.

`retrieval` loads `northwind` into the embedded Postgres and indexes it in turn as `table` (a chunk
a row, per table), `flat_join` (a chunk a joined order line), and ours as `entity`, `parent_child`,
`auto`. A gold row counts as found where it stands in one of the first five chunks; a chunk is right
where it holds a gold row of a root table. Facts are looked for in the chunks' text, and with
`parent_child` in their parents'. All are searched by words alone; ours also with what SQL finds by
the names in the question, and `entity`, in a full run, by words and vectors too.

`aggregates` are right where every cell is (groups with 0 that the gold leaves out apart); what is
computed but differs is wrong, what could not be computed is neither. They are asked once more of a
copy whose tables and columns are renamed; `chinook` asks those of `sql_questions`.

`tables` asks 300 questions of a generated database of a hundred tables, by CPU time.

`large` indexes generated order lines: a million, or 20,000 with `--quick`.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np
import psycopg
from psycopg import sql
from pydantic import SecretStr

from benchmarks.common import PROJECT_DIR, arguments, bench_data, print_report
from benchmarks.relational_baselines import WordsOnly, flat_join_rows, land_rows, table_rows
from benchmarks.relational_million import measure
from benchmarks.relational_tables import hundred_tables
from rag_pipeline.embedding import create_embedder
from rag_pipeline.relational.questions.exact_numbers import ExactAnswerer
from rag_pipeline.relational.row_search import RowSearcher
from rag_pipeline.relational.rows.row_sync import sync_relational
from rag_pipeline.relational.schema.connecting import open_engine
from rag_pipeline.relational.schema.lexicon import Lexicon
from rag_pipeline.relational.schema.table_schema import read_schema
from rag_pipeline.search import Searcher, SearchResult
from rag_pipeline.settings import RelationalSettings, Settings
from rag_pipeline.store import embedded
from rag_pipeline.store.database import Database, database_url
from rag_pipeline.store.migrations import create_database
from rag_pipeline.sync.finish import finish
from rag_pipeline.sync.sync_context import SyncContext

ROOTS = {"customers": 2, "suppliers": 1, "employees": 1, "products": 1}
"""Root tables of our sources, with their depth."""
OURS = ("entity", "parent_child", "auto")
PARTS = ("retrieval", "aggregates", "tables", "large")
LINES, QUICK_LINES = 1_000_000, 20_000
WORDS = {"text": 1.0, "vector": 0.0}
RENAMED_TABLES = {
    "customers": "clients",
    "employees": "staff",
    "order_details": "order_items",
    "products": "articles",
    "shippers": "carriers",
    "suppliers": "vendors",
}
RENAMED_COLUMNS = {
    "clients": {"company_name": "client_name", "customer_id": "client_no"},
    "staff": {"employee_id": "staff_no"},
    "carriers": {"company_name": "carrier_name", "shipper_id": "carrier_no"},
    "vendors": {"company_name": "vendor_name"},
    "articles": {
        "product_name": "article_name",
        "unit_price": "list_price",
        "units_in_stock": "inventory",
    },
    "order_items": {"unit_price": "price", "quantity": "qty"},
    "orders": {
        "order_date": "ordered_on",
        "shipped_date": "shipped_on",
        "freight": "shipping_cost",
    },
}
"""Other names for the same things, as other companies have them."""


def main() -> None:
    """Run the parts, print one table and the other figures below it."""
    options = arguments(__doc__, PARTS)
    parts = [options.only] if options.only else PARTS
    rows: list[list[Any]] = []
    figures: dict[str, Any] = {}
    with server() as settings:
        if "retrieval" in parts or "aggregates" in parts:
            folder = bench_data() / "northwind"
            url = load(settings, "northwind", folder)
            with (folder / "questions.jsonl").open(encoding="utf-8") as file:
                questions = [json.loads(line) for line in file]
        if "retrieval" in parts:
            entities = [q for q in questions if q["kind"] == "entity"]
            rows += retrieval(settings, url, entities, figures, hybrid=not options.quick)
        if "aggregates" in parts:
            asked = [q for q in questions if q["kind"] == "aggregate"]
            figures |= exact_scores(url, "aggregate", asked)
            renamed = load(settings, "northwind_renamed", folder)
            rename(renamed)
            figures |= exact_scores(renamed, "aggregate.renamed", asked)
            figures |= sql_scores(bench_data() / "sql_questions")
        if "tables" in parts:
            with TemporaryDirectory() as temporary:
                figures |= hundred_tables(Path(temporary), 4 if options.quick else 12)
        if "large" in parts:
            figures |= large(settings, QUICK_LINES if options.quick else LINES)
    columns = "strategy questions P@5 recall@5 facts chunks index_s index_CPU_s".split()
    print_report("Relational data", columns, rows, figures, options.json)
    if not options.json:
        print()
        for name, value in figures.items():
            if name.startswith(("aggregate.", "hundred_tables.", "large.")):
                print(f"- {name}: {value if isinstance(value, int) else round(value, 3)}")


@contextmanager
def server() -> Iterator[Settings]:
    """Lend settings with a database server of their own."""
    project_dir = PROJECT_DIR / ".rag" / "benchmarks" / "relational"
    project_dir.mkdir(parents=True, exist_ok=True)
    os.environ["RAG_HOME"] = str(project_dir)
    settings = Settings.load(project_dir)
    try:
        yield settings
    finally:
        embedded.stop(settings.data_path)


def load(settings: Settings, name: str, folder: Path) -> str:
    """Load the data into a database made anew; return its URL."""
    url = _fresh(settings, name)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute((folder / "northwind.sql").read_bytes())
    return url


def rename(url: str) -> None:
    """Give tables and columns other names."""
    with psycopg.connect(url, autocommit=True) as connection:
        for old, new in RENAMED_TABLES.items():
            connection.execute(
                sql.SQL("ALTER TABLE {} RENAME TO {}").format(
                    sql.Identifier(old), sql.Identifier(new)
                )
            )
        for table, columns in RENAMED_COLUMNS.items():
            for old, new in columns.items():
                connection.execute(
                    sql.SQL("ALTER TABLE {} RENAME COLUMN {} TO {}").format(
                        *map(sql.Identifier, (table, old, new))
                    )
                )


def _fresh(settings: Settings, name: str) -> str:
    url = _with_name(database_url(settings), name)
    maintenance = _with_name(url, "postgres")
    with psycopg.connect(maintenance, autocommit=True) as connection:
        connection.execute(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
        )
    create_database(maintenance, name)
    return url


def _with_name(url: str, name: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


@contextmanager
def store(settings: Settings, name: str) -> Iterator[Database]:
    """Lend an empty store of its own."""
    url = _fresh(settings, f"relational_{name}")
    database = Database.open(settings.model_copy(update={"database_url": SecretStr(url)}))
    try:
        yield database
    finally:
        database.close()


def context_of(settings: Settings, database: Database, embedder: Any) -> SyncContext:
    """Return what a sync of rows is given."""
    return SyncContext.of(settings, database, "benchmark", embedder=embedder)


def source(url: str, root: str, depth: int, strategy: str) -> RelationalSettings:
    """Return the settings of one of our sources: nothing but root, depth and strategy."""
    values = {"name": root, "url": url, "root": root, "depth": depth, "strategy": strategy}
    return RelationalSettings.model_validate(values)


def retrieval(
    settings: Settings,
    url: str,
    questions: Sequence[dict[str, Any]],
    figures: dict[str, Any],
    *,
    hybrid: bool,
) -> list[list[Any]]:
    """Index the data in every way and ask every question; return the table's rows."""
    embedder = create_embedder(settings.embedding, settings.models_path)
    words = WordsOnly(embedder)
    rows: list[list[Any]] = []

    def run(name: str, index: Callable[[Database, Any], int], vectors: bool, ours: str) -> None:
        with store(settings, name.split(maxsplit=1)[0]) as database:
            start = time.perf_counter(), time.process_time()
            used = embedder if vectors else words
            chunks = index(database, used)
            took = time.perf_counter() - start[0], time.process_time() - start[1]
            figures[f"{name}.chunks"] = chunks
            figures[f"{name}.index_cpu_seconds"] = took[1]
            searchers: dict[str, Searcher] = {name: Searcher(database, settings, embedder=used)}
            if ours:
                sources = [source(url, root, depth, ours) for root, depth in ROOTS.items()]
                knowing = settings.model_copy(update={"relational": sources})
                if vectors:
                    searchers = {}
                label = f"{name} + SQL"
                searchers[label] = RowSearcher(database, knowing, embedder=used)
            for label, searcher in searchers.items():
                ask = partial(_five, searcher, None if vectors else WORDS)
                for language in ("en", "ko"):
                    scores = score(ask, questions, language)
                    rows.append([label, language, *scores.values(), chunks, *took])
                    figures.update({f"{label}.{language}.{k}": v for k, v in scores.items()})

    run("table", lambda d, e: land_rows(d, e, table_rows(url)), False, "")
    run("flat_join", lambda d, e: land_rows(d, e, flat_join_rows(url)), False, "")
    for strategy in OURS:
        run(strategy, partial(_index, settings, url, strategy), False, strategy)
    if hybrid:
        run("entity + vectors", partial(_index, settings, url, "entity"), True, "entity")
    return rows


def _index(settings: Settings, url: str, strategy: str, database: Database, embedder: Any) -> int:
    context = context_of(settings, database, embedder)
    chunks = sum(
        sync_relational(context, source(url, root, depth, strategy)).chunks
        for root, depth in ROOTS.items()
    )
    finish(context, after_scan=True)
    return chunks


def _five(
    searcher: Searcher, weights: dict[str, float] | None, question: str
) -> Sequence[SearchResult]:
    return searcher.search(question, limit=5, weights=weights, expand="parent").results


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
        # Gold that names no root table asks for facts alone.
        recalls.append(len(gold & found) / len(gold) if gold else 1.0)
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


def exact_scores(url: str, name: str, questions: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return per language the share computed exactly right, and the number computed wrong."""
    answerer = _answerer(url)
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
                is_right = _without_zeros(_cells(answer.rows), wanted) == wanted
                right += is_right
                wrong += not is_right
        figures |= {
            f"{name}.{language}.right": right / len(questions),
            f"{name}.{language}.wrong": wrong,
            f"{name}.{language}.p50_ms": 1000 * float(np.median(seconds)),
        }
    return figures


def _answerer(url: str) -> ExactAnswerer:
    engine = open_engine(source(url, "-", 1, "auto"))
    return ExactAnswerer(engine, read_schema(engine, Lexicon()))


def sql_scores(folder: Path) -> dict[str, Any]:
    """Return per language the shares right and refused, and the number wrong, over `folder`."""
    answerer = _answerer(f"sqlite:///{folder / 'chinook.sqlite'}")
    with (folder / "questions.jsonl").open(encoding="utf-8") as file:
        questions = [json.loads(line) for line in file]
    figures: dict[str, Any] = {}
    seconds = []
    for language in ("en", "ko"):
        asked = [q for q in questions if q["lang"] == language]
        right = wrong = 0
        for question in asked:
            start = time.perf_counter()
            answer = answerer.answer(question["question"])
            seconds.append(time.perf_counter() - start)
            if answer.is_computed:
                wanted = _cells(question["gold"])
                is_right = _without_zeros(_cells(answer.rows), wanted) == wanted
                right += is_right
                wrong += not is_right
        figures |= {
            f"aggregate.chinook.{language}.right": right / len(asked),
            f"aggregate.chinook.{language}.wrong": wrong,
        }
    figures["aggregate.chinook.p95_ms"] = 1000 * float(np.percentile(seconds, 95))
    return figures


def _without_zeros(
    found: list[tuple[str, ...]], wanted: list[tuple[str, ...]]
) -> list[tuple[str, ...]]:
    """Leave out groups without rows that the gold's inner join does not list."""
    return [row for row in found if row in wanted or len(row) == 1 or row[-1] != "0"]


def _cells(rows: Sequence[Sequence[Any]]) -> list[tuple[str, ...]]:
    """Compare cell by cell as text, rows in any order."""
    return sorted(tuple(str(cell) for cell in row) for row in rows)


def large(settings: Settings, lines: int) -> dict[str, Any]:
    """Index generated order lines, with a stub in the embedder's place."""
    embedder = WordsOnly(create_embedder(settings.embedding, settings.models_path))
    url = _fresh(settings, "order_lines")
    with store(settings, "large") as database:
        return measure(context_of(settings, database, embedder), url, lines)


if __name__ == "__main__":
    main()
