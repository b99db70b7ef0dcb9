"""A small database of its own for these tests: a workshop that repairs machines, in SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_pipeline.relational.questions.exact_numbers import ExactAnswerer
from rag_pipeline.relational.schema.connecting import open_engine
from rag_pipeline.relational.schema.lexicon import Lexicon
from rag_pipeline.relational.schema.table_schema import Schema, read_schema
from rag_pipeline.settings import RelationalSettings

WORKSHOP = """
CREATE TABLE clients (id INTEGER PRIMARY KEY, name VARCHAR(40), city VARCHAR(20),
    country VARCHAR(20), is_active BOOLEAN, referred_by INTEGER REFERENCES clients);
CREATE TABLE client_notes (client_id INTEGER PRIMARY KEY REFERENCES clients, notes TEXT);
CREATE TABLE parts (part_id INTEGER PRIMARY KEY, part_name VARCHAR(40), price DECIMAL(10, 2),
    stock INTEGER, obsolete INTEGER);
CREATE TABLE tags (tag_id INTEGER PRIMARY KEY, tag_name VARCHAR(20));
CREATE TABLE part_tags (part_id INTEGER REFERENCES parts, tag_id INTEGER REFERENCES tags,
    PRIMARY KEY (part_id, tag_id));
CREATE TABLE invoices (invoice_id INTEGER PRIMARY KEY, client_id INTEGER REFERENCES clients,
    invoice_date DATE, paid_date DATE, due_date DATE);
CREATE TABLE invoice_lines (invoice_id INTEGER REFERENCES invoices,
    part_id INTEGER REFERENCES parts, price DECIMAL(10, 2), quantity INTEGER,
    discount DECIMAL(4, 2), PRIMARY KEY (invoice_id, part_id));
INSERT INTO clients VALUES (1, 'Nordwerk', 'Bremen', 'Germany', 1, NULL),
    (2, 'Hansol Works', 'Busan', 'South Korea', 1, 1), (3, 'Idle Mills', 'Bremen', 'Germany', 0, 1);
INSERT INTO client_notes VALUES (1, 'Prefers delivery by rail');
INSERT INTO parts VALUES (1, 'Gasket', 2.50, 100, 0), (2, 'Rotor', 80.00, 3, 0),
    (3, 'Old valve', 10.00, 7, 1);
INSERT INTO tags VALUES (1, 'sealing'), (2, 'rotating');
INSERT INTO part_tags VALUES (1, 1), (2, 2), (3, 1);
INSERT INTO invoices VALUES (10, 1, '2023-03-01', '2023-03-20', '2023-03-15'),
    (11, 1, '2024-05-02', NULL, '2024-05-30'), (12, 2, '2023-07-07', '2023-07-08', '2023-08-01');
INSERT INTO invoice_lines VALUES (10, 1, 2.50, 4, 0), (10, 2, 80.00, 1, 0.25),
    (11, 1, 3.00, 10, 0), (12, 2, 75.00, 2, 0.10);
"""

Source = Callable[..., RelationalSettings]


@pytest.fixture
def workshop(tmp_path: Path) -> Path:
    """The file of the workshop's database."""
    file = tmp_path / "workshop.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(WORKSHOP)
    return file


@pytest.fixture
def source(workshop: Path) -> Source:
    """Makes settings of a source over it."""

    def make(**values: object) -> RelationalSettings:
        full = {"name": "workshop", "url": f"sqlite:///{workshop}", "root": "clients", **values}
        return RelationalSettings.model_validate(full)

    return make


@pytest.fixture
def schema(source: Source) -> Schema:
    """The workshop's schema."""
    return read_schema(open_engine(source()), Lexicon())


@pytest.fixture
def answerer(source: Source, schema: Schema) -> ExactAnswerer:
    """Computes numbers over the workshop."""
    return ExactAnswerer(open_engine(source()), schema)
