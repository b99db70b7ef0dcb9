"""Whole syncs through Dagster, against a real Postgres and the real local model."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import dagster as dg
import pytest

from rag_pipeline.assets.partitions import SOURCE_HASHES
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import POOL_SIZE, Database
from rag_pipeline.store.documents import list_documents
from rag_pipeline.store.statistics import count_everything
from tests.orchestration.conftest import Sync
from tests.pdfs import make_damaged_pdfs, make_pdf

OIL = [("Oil", ["Change the oil every year."])]
AIR = [("Air", ["Clean the air filter every month."])]


def contents(database: Database) -> list[tuple[str, str]]:
    with database.connection() as connection:
        rows = connection.execute(
            "SELECT s.uri, c.content FROM chunk c JOIN document d USING (source_hash) "
            "JOIN source s ON s.source_hash IN (d.source_hash, d.superseded_by) "
            "ORDER BY s.uri, c.chunk_index"
        ).fetchall()
    return [(Path(uri).name, content) for uri, content in rows]


def writes(database: Database) -> int:
    """Count every row that was ever inserted, updated or deleted, by Postgres' own statistics."""
    with ExitStack() as pool:
        # Each backend of the pool holds counts of its own until it is told to report them.
        for _ in range(POOL_SIZE):
            connection = pool.enter_context(database.connection())
            connection.execute("SELECT pg_stat_force_next_flush()")
    with database.connection() as connection:
        connection.execute("SELECT pg_stat_clear_snapshot()")
        row = connection.execute(
            "SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables "
            "WHERE relname <> 'source_root'"
        ).fetchone()
    assert row is not None
    return int(row[0])


def test_a_second_sync_does_nothing(
    sync: Sync, database: Database, manuals: Path, in_project: Settings
) -> None:
    """But for files whose bytes are due to be read again: when that was is written down."""
    for name, pages in (("oil.pdf", OIL), ("air.pdf", AIR)):
        os.utime(make_pdf(manuals / name, pages), (1, 1))
    first = sync()
    assert (first.files["new"], first.documents_done, first.failures) == (2, 2, [])
    for share, written in ((0, 0), (2, 1)):
        changed = in_project.sync.model_copy(update={"verify_syncs": share})
        before = writes(database)
        second = sync(sync=changed)
        assert second.files["unchanged"] == 2
        assert (second.documents_done, second.documents_current, second.stages) == (0, 2, {})
        assert writes(database) == before + written


def test_rename_copy_and_delete(sync: Sync, database: Database, manuals: Path) -> None:
    make_pdf(manuals / "oil.pdf", OIL)
    sync()
    (manuals / "oil.pdf").rename(manuals / "renamed.pdf")
    summary = sync()
    assert summary.files["renamed"] == 1
    assert summary.documents_done == 0
    assert {name for name, _ in contents(database)} == {"renamed.pdf"}

    (manuals / "copy.pdf").write_bytes((manuals / "renamed.pdf").read_bytes())
    assert sync().documents_done == 0
    with database.connection() as connection:
        assert count_everything(connection).documents == 1
    (manuals / "renamed.pdf").unlink()
    sync()
    assert {name for name, _ in contents(database)} == {"copy.pdf"}
    (manuals / "copy.pdf").unlink()
    sync()
    assert contents(database) == []
    with database.connection() as connection:
        counts = count_everything(connection)
    assert (counts.documents, counts.chunks, counts.vectors) == (0, 0, 0)


def test_a_changed_file_replaces_its_chunks(
    sync: Sync, database: Database, manuals: Path, instance: dg.DagsterInstance
) -> None:
    make_pdf(manuals / "a.pdf", OIL)
    sync()
    make_pdf(manuals / "a.pdf", AIR)
    summary = sync()
    assert summary.files["changed"] == 1
    assert [("Clean the air" in text, "oil" in text) for _, text in contents(database)] == [
        (True, False)
    ]
    assert SOURCE_HASHES.name is not None
    assert len(instance.get_dynamic_partitions(SOURCE_HASHES.name)) == 1


def test_bad_files_fail_alone_and_are_not_tried_again(
    sync: Sync, database: Database, manuals: Path, instance: dg.DagsterInstance
) -> None:
    make_damaged_pdfs(manuals)
    summary = sync()
    assert summary.aborted is None
    assert summary.documents_done == 1
    reasons = {failure["file"]: failure["reason"] for failure in summary.failures}
    assert set(reasons) == {"encrypted.pdf", "truncated.pdf", "empty.pdf", "image.pdf"}
    assert "password" in reasons["encrypted.pdf"]
    assert "zero bytes" in reasons["empty.pdf"]
    assert "a PNG image" in reasons["image.pdf"]
    with database.connection() as connection:
        documents = {Path(d.uris[0]).name: d for d in list_documents(connection)}
    assert documents["good.pdf"].status == "ready"
    assert all(documents[name].failure_count == 1 for name in reasons)

    # Dagster shows exactly the bad ones as failed.
    status = instance.get_status_by_partition(
        dg.AssetKey("document_blocks"),
        [document.source_hash for document in documents.values()],
        SOURCE_HASHES,
    )
    assert status is not None
    by_name = {
        name: status[document.source_hash].name  # type: ignore[union-attr]
        for name, document in documents.items()
    }
    assert by_name == {"good.pdf": "MATERIALIZED", **dict.fromkeys(reasons, "FAILED")}

    second = sync()
    assert second.documents_done == 0
    assert {failure["earlier"] for failure in second.failures} == {"yes"}
    with database.connection() as connection:
        assert {d.failure_count for d in list_documents(connection) if d.status == "failed"} == {1}


def test_rows_deleted_by_hand_are_repaired_without_embedding(
    sync: Sync, database: Database, manuals: Path
) -> None:
    make_pdf(manuals / "oil.pdf", OIL)
    sync()
    expected = contents(database)
    with database.connection() as connection:
        connection.execute("DELETE FROM chunk")
        cached = connection.execute("SELECT count(*) FROM embedding_cache").fetchone()
    summary = sync()
    assert set(summary.stages) == {"chunk_embeddings"}
    assert contents(database) == expected
    with database.connection() as connection:
        assert connection.execute("SELECT count(*) FROM embedding_cache").fetchone() == cached


def test_a_missing_folder_keeps_its_documents(
    sync: Sync, database: Database, manuals: Path
) -> None:
    make_pdf(manuals / "oil.pdf", OIL)
    sync()
    manuals.rename(manuals.with_name("unmounted"))
    summary = sync(only_roots=[])
    assert "is not there, its documents were kept" in summary.problems[0]
    assert len(contents(database)) == 1


def test_a_damaged_new_version_leaves_the_old_one_searchable(
    sync: Sync, database: Database, manuals: Path
) -> None:
    make_pdf(manuals / "oil.pdf", OIL)
    sync()
    (manuals / "oil.pdf").write_bytes(b"%PDF-1.4 half copied")
    summary = sync()
    assert len(summary.failures) == 1
    assert ["Change the oil" in text for _, text in contents(database)] == [True]


def test_a_sync_killed_before_its_end_is_finished_by_the_next(
    sync: Sync, database: Database, manuals: Path
) -> None:
    make_pdf(manuals / "oil.pdf", OIL)
    sync()
    with database.connection() as connection:
        # What a kill between the last landing and the statistics leaves behind.
        connection.execute("DELETE FROM lexeme")
        connection.execute("UPDATE corpus_statistics SET is_stale = true")
    assert sync().documents_done == 0
    with database.connection() as connection:
        assert connection.execute("SELECT count(*) > 0 FROM lexeme").fetchone() == (True,)


def test_a_chunking_setting_does_not_parse_again(
    sync: Sync,
    database: Database,
    manuals: Path,
    in_project: object,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_pdf(manuals / "oil.pdf", OIL)
    sync()
    monkeypatch.setenv("RAG_CHUNKING__TARGET_TOKENS", "200")
    from rag_pipeline.settings import Settings

    summary = sync(chunking=Settings.load().chunking)
    assert set(summary.stages) == {"contextual_chunks", "chunk_embeddings"}


def test_lost_artifacts_are_made_again(sync: Sync, database: Database, manuals: Path) -> None:
    import shutil

    make_pdf(manuals / "oil.pdf", OIL)
    sync()
    expected = contents(database)
    shutil.rmtree(manuals.parent / "project" / ".rag" / "artifacts")
    with database.connection() as connection:
        connection.execute("DELETE FROM chunk")
    sync()
    assert contents(database) == expected


def test_a_reversed_range_is_an_error(
    sync: Sync, manuals: Path, instance: dg.DagsterInstance
) -> None:
    from rag_pipeline.definitions import defs

    make_pdf(manuals / "oil.pdf", OIL)
    make_pdf(manuals / "air.pdf", AIR)
    sync()
    assert SOURCE_HASHES.name is not None
    first, last = instance.get_dynamic_partitions(SOURCE_HASHES.name)
    result = defs.resolve_job_def("documents_job").execute_in_process(
        instance=instance,
        tags={
            "dagster/asset_partition_range_start": last,
            "dagster/asset_partition_range_end": first,
        },
        raise_on_error=False,
    )
    assert not result.success


def test_nothing_looks_stale_in_the_ui(
    sync: Sync, manuals: Path, instance: dg.DagsterInstance
) -> None:
    from dagster._core.definitions.data_version import (
        CachingStaleStatusResolver,
        StaleStatus,
    )

    from rag_pipeline.definitions import defs

    make_pdf(manuals / "oil.pdf", OIL)
    sync()
    sync()
    assert SOURCE_HASHES.name is not None
    (key,) = instance.get_dynamic_partitions(SOURCE_HASHES.name)
    graph = defs.resolve_asset_graph()
    from dagster._core.loader import LoadingContextForTest

    resolver = CachingStaleStatusResolver(instance, graph, LoadingContextForTest(instance))
    for stage in ("document_blocks", "document_structure", "contextual_chunks", "chunk_embeddings"):
        assert resolver.get_status(dg.AssetKey(stage), key) == StaleStatus.FRESH
