"""A large table of order lines, generated: does indexing stream, and what does a change cost?

The lines are made by the database itself, twenty an order. A stub embeds, so that only reading,
text, analysis and writing are measured. The peak of memory is this process's own.
"""

from __future__ import annotations

import resource
import time
from typing import Any

import psycopg

from rag_pipeline.relational.rows.row_sync import sync_relational
from rag_pipeline.settings import RelationalSettings
from rag_pipeline.sync.finish import finish
from rag_pipeline.sync.sync_context import SyncContext

LINES_PER_ORDER = 20
CUSTOMERS_PER_ORDER = 0.05
PRODUCTS = 500
TABLES = """
CREATE TABLE customers (customer_id integer PRIMARY KEY, customer_name varchar(40),
    city varchar(20));
CREATE TABLE products (product_id integer PRIMARY KEY, product_name varchar(40),
    price numeric(10, 2));
CREATE TABLE orders (order_id integer PRIMARY KEY, customer_id integer REFERENCES customers,
    order_date date, status varchar(10));
CREATE TABLE order_lines (order_id integer REFERENCES orders, line_number integer,
    product_id integer REFERENCES products, price numeric(10, 2), quantity integer,
    discount numeric(4, 2), PRIMARY KEY (order_id, line_number));
"""
ROWS = """
INSERT INTO customers SELECT i, 'Customer ' || i, 'City ' || i %% 97
    FROM generate_series(1, %(customers)s) AS i;
INSERT INTO products SELECT i, 'Product ' || i, 1 + i %% 90
    FROM generate_series(1, %(products)s) AS i;
INSERT INTO orders SELECT i, 1 + i %% %(customers)s, date '2020-01-01' + i %% 1800,
    (ARRAY['open', 'paid', 'shipped'])[1 + i %% 3] FROM generate_series(1, %(orders)s) AS i;
INSERT INTO order_lines SELECT o, n, 1 + (o * 7 + n * 13) %% %(products)s, 1 + (o + n) %% 90,
    1 + (o + n) %% 12, (n %% 3) * 0.05
    FROM generate_series(1, %(orders)s) AS o, generate_series(1, %(per_order)s) AS n;
ANALYZE;
"""
CHANGE = "UPDATE order_lines SET quantity = 99 WHERE order_id = 7 AND line_number = 3"


def fill(url: str, lines: int) -> int:
    """Make a database's tables and rows; return the number of orders."""
    orders = lines // LINES_PER_ORDER
    values = {
        "customers": max(1, round(orders * CUSTOMERS_PER_ORDER)),
        "products": PRODUCTS,
        "orders": orders,
        "per_order": LINES_PER_ORDER,
    }
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(TABLES)
        for statement in ROWS.strip().split(";")[:-1]:
            connection.execute(psycopg.ClientCursor(connection).mogrify(statement, values))
    return orders


def measure(context: SyncContext, url: str, lines: int) -> dict[str, Any]:
    """Index the lines under their orders; change one order; sync again. Return the figures."""
    orders = fill(url, lines)
    source = RelationalSettings(name="large", url=url, root="orders", depth=1, strategy="auto")
    before = _peak_megabytes()
    start = time.perf_counter(), time.process_time()
    first = sync_relational(context, source)
    finish(context, after_scan=True)
    took = time.perf_counter() - start[0], time.process_time() - start[1]
    assert (first.rows, first.new) == (orders, orders)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(CHANGE)
    start = time.perf_counter(), time.process_time()
    second = sync_relational(context, source)
    again = time.perf_counter() - start[0], time.process_time() - start[1]
    return {
        "large.lines": lines,
        "large.chunks": first.chunks,
        "large.index_seconds": took[0],
        "large.index_cpu_seconds": took[1],
        "large.memory_mb_before": before,
        "large.memory_mb_peak": _peak_megabytes(),
        "large.changed_order.rows": second.changed,
        "large.changed_order.embedded": second.embedded,
        "large.changed_order.unchanged": second.unchanged,
        "large.changed_order.seconds": again[0],
        "large.changed_order.cpu_seconds": again[1],
    }


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
