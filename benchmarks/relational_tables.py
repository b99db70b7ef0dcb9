"""Questions about a database of a hundred tables: CPU seconds of each, by the clock of the process.

The database is generated in SQLite: things of many trades (`supplier`, `supplier_order`,
`supplier_order_line` …) that name each other, with a few rows each. Questions name things, values
and periods of it; whether they are answered is not judged here.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Any

import numpy as np

from rag_pipeline.relational.questions.exact_numbers import ExactAnswerer
from rag_pipeline.relational.rows.row_plan import plan_relational
from rag_pipeline.relational.rows.row_text import Renderer
from rag_pipeline.relational.schema.connecting import open_engine, reading
from rag_pipeline.relational.schema.lexicon import Lexicon
from rag_pipeline.relational.schema.relation_tree import build_tree
from rag_pipeline.relational.schema.table_schema import read_schema
from rag_pipeline.settings import RelationalSettings

THINGS = (
    "supplier customer product vehicle driver patient nurse student teacher book member ticket "
    "machine sensor contract project device tenant building flight passenger hotel guest farm "
    "animal"
).split()
"""Each has four tables: itself, its orders, their lines, and its notes."""
QUESTIONS = (
    "How many {0} orders are there?",
    "How many {0} orders were there in 2023?",
    "How many {0} orders does each {0} have?",
    "Which {0} has the most {0} orders?",
    "What is the total price of {0} order lines by {0}?",
    "How many {0}s in Lyon have no {0} orders?",
    "How many {0}s have a rating of more than 3?",
    "What is the average price of {0} order lines in 2022?",
    "How many {0} orders of North were there between 2021 and 2023?",
    "How many unheard {0}s are there?",
    "{0}별 주문은 몇 건인가요?",
    "2023년 주문은 몇 건인가요?",
)


def hundred_tables(folder: Path, questions_a_thing: int = len(QUESTIONS)) -> dict[str, Any]:
    """Return how many tables and questions there were, and the CPU milliseconds of a question
    and of a plan.

    `first_ms` has what is done once per schema in it: its vocabulary is gathered.
    """
    file = folder / "hundred.db"
    with sqlite3.connect(file) as connection:
        for index, thing in enumerate(THINGS):
            connection.executescript(_tables(thing, THINGS[index - 1] if index else None))
    settings = RelationalSettings(name="h", url=f"sqlite:///{file}", root=THINGS[0], depth=3)
    start = time.process_time()
    nodes = _plan(settings, folder)
    plan = time.process_time() - start
    engine = open_engine(settings)
    schema = read_schema(engine, Lexicon())
    start = time.process_time()
    answerer = ExactAnswerer(engine, schema)
    answerer.answer(QUESTIONS[0].format(THINGS[0]))
    first = time.process_time() - start
    seconds = []
    for thing in THINGS:
        for question in QUESTIONS[:questions_a_thing]:
            start = time.process_time()
            answerer.answer(question.format(thing))
            seconds.append(time.process_time() - start)
    return {
        "hundred_tables.tables": len(schema.tables),
        "hundred_tables.plan_nodes": nodes,
        "hundred_tables.plan_cpu_ms": 1000 * plan,
        "hundred_tables.questions": len(seconds),
        "hundred_tables.first_ms": 1000 * first,
        "hundred_tables.p50_cpu_ms": 1000 * float(np.percentile(seconds, 50)),
        "hundred_tables.p95_cpu_ms": 1000 * float(np.percentile(seconds, 95)),
    }


def _plan(settings: RelationalSettings, folder: Path) -> int:
    """Plan a source from nothing, as `rag relational plan` does; return its tree's nodes."""
    engine = open_engine(settings)
    schema = read_schema(engine, Lexicon())
    tree = build_tree(schema, settings)
    renderer = Renderer(settings, folder)
    with reading(engine, settings.timeout_seconds) as connection:
        plan_relational(
            connection, schema, tree, settings, renderer, lambda texts: [len(t) // 4 for t in texts]
        )
    return sum(1 for _ in tree.walk())


def _tables(thing: str, other: str | None) -> str:
    reference = f", {other}_id INTEGER REFERENCES {other}({other}_id)" if other else ""
    value = ", 1" if other else ""
    return f"""
        CREATE TABLE {thing} ({thing}_id INTEGER PRIMARY KEY, {thing}_name VARCHAR(40),
            city VARCHAR(20), country VARCHAR(20), rating INTEGER, is_active BOOLEAN,
            created_date DATE{reference});
        CREATE TABLE {thing}_order ({thing}_order_id INTEGER PRIMARY KEY,
            {thing}_id INTEGER REFERENCES {thing}({thing}_id), order_date DATE, due_date DATE,
            status VARCHAR(12), contact_email VARCHAR(40));
        CREATE TABLE {thing}_order_line ({thing}_order_line_id INTEGER PRIMARY KEY,
            {thing}_order_id INTEGER REFERENCES {thing}_order({thing}_order_id),
            description VARCHAR(60), price DECIMAL(8, 2), quantity INTEGER);
        CREATE TABLE {thing}_note ({thing}_note_id INTEGER PRIMARY KEY,
            {thing}_id INTEGER REFERENCES {thing}({thing}_id), title VARCHAR(40), body TEXT);
        INSERT INTO {thing} VALUES (1, 'North', 'Lyon', 'France', 4, 1, '2020-02-03'{value}),
            (2, 'South', 'York', 'UK', 2, 0, '2021-03-04'{value});
        INSERT INTO {thing}_order VALUES (1, 1, '2022-05-06', '2022-06-01', 'open', 'a@x.example'),
            (2, 1, '2023-05-06', '2023-06-01', 'closed', 'b@x.example');
        INSERT INTO {thing}_order_line VALUES (1, 1, 'Parts', 2.50, 4), (2, 2, 'More', 9.00, 1);
        INSERT INTO {thing}_note VALUES (1, 1, 'Call back', 'On Monday.');
    """
