"""Rows in the store: what changed is done again, nothing else; and they are found."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np

from rag_pipeline.embedding import create_embedder
from rag_pipeline.relational.connecting import open_engine, reading
from rag_pipeline.relational.narrowing import named_rows
from rag_pipeline.relational.schema import Schema
from rag_pipeline.relational.syncing import forget_relational, sync_relational
from rag_pipeline.search import Searcher
from rag_pipeline.settings import RelationalSettings, Settings
from rag_pipeline.store.artifacts import ArtifactStore
from rag_pipeline.store.database import Database
from rag_pipeline.store.documents import document_states
from rag_pipeline.store.sources import list_sources
from rag_pipeline.sync.context import SyncContext
from rag_pipeline.sync.finish import finish
from rag_pipeline.sync.profiles import Profiles
from tests.relational.conftest import Source


def sync(
    database: Database, settings: Settings, source: RelationalSettings
) -> tuple[int, int, int, int, int]:
    report = sync_relational(context_of(database, settings), source)
    return report.new, report.changed, report.deleted, report.unchanged, report.embedded


def context_of(database: Database, settings: Settings) -> SyncContext:
    embedder = create_embedder(settings.embedding, settings.data_path / "models")
    artifacts = ArtifactStore(settings.artifacts_location)
    return SyncContext(Profiles(settings), database, artifacts, embedder)


def change(workshop: Path, statement: str) -> None:
    with sqlite3.connect(workshop) as connection:
        connection.execute(statement)


def test_only_what_changed_is_done_again(
    database: Database, settings: Settings, source: Source, workshop: Path
) -> None:
    one = source(strategy="child")
    assert sync(database, settings, one) == (3, 0, 0, 0, 5)
    assert sync(database, settings, one) == (0, 0, 0, 3, 0)
    # One line of one of two invoices: one chunk.
    change(workshop, "UPDATE invoice_lines SET quantity = 5 WHERE invoice_id = 10 AND part_id = 1")
    assert sync(database, settings, one) == (0, 1, 0, 2, 1)
    change(workshop, "DELETE FROM clients WHERE id = 3")
    change(workshop, "INSERT INTO clients VALUES (4, 'Newcomer', 'Kiel', 'Germany', 1, NULL)")
    assert sync(database, settings, one) == (1, 0, 1, 2, 1)
    with database.connection() as connection:
        # A sync of files neither sees these rows nor takes them for vanished files.
        assert list_sources(connection) == []
        assert document_states(connection, None, None) == []
        chunks = connection.execute("SELECT count(*) FROM chunk").fetchone()
    assert chunks == (5,)
    named = settings.model_copy(update={"relational": [one]})
    assert forget_relational(database, named) == 0
    assert forget_relational(database, settings) == 3


def test_rows_are_found(database: Database, settings: Settings, source: Source) -> None:
    sync(database, settings, source(strategy="entity"))
    finish(context_of(database, settings))
    best = Searcher(database, settings).search("Who has bought a Gasket?").results[0]
    assert best.title == "Nordwerk"
    assert "Rotor" in best.content
    assert best.metadata["keys"]["parts"] == ["1", "2"]
    assert best.metadata["counts"]["invoices"] == 2
    assert best.metadata["values"]["is_active"] is True
    assert np.isclose(best.score, sum(detail.contribution for detail in best.details))


def test_rows_that_a_question_names(schema: Schema, source: Source) -> None:
    roots = ["clients", "parts"]
    with reading(open_engine(source()), 5) as connection:
        (only,) = named_rows(connection, schema, "What did Nordwerk buy?", roots)
        assert (only.table, only.keys, only.by_name) == ("clients", ("1",), True)
        first, second = named_rows(connection, schema, "Which clients bought the Rotor?", roots)
        assert (first.table, first.keys) == ("parts", ("2",))
        assert (second.table, second.keys) == ("clients", ("1", "2"))
        assert named_rows(connection, schema, "What is new?", roots) == []
