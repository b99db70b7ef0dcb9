"""Full results under row-level security: small groups, filters, and the indexes that serve them."""

from __future__ import annotations

import numpy as np
import pytest

from rag_pipeline.search.filters import Filters, MetadataFilter, Scope, resolve
from rag_pipeline.search.legs.vector_leg import vector_leg
from rag_pipeline.search.visibility import Visible, visible_chunks
from rag_pipeline.store.database import Database
from rag_pipeline.store.embeddings import ensure_index
from tests.search.conftest import DIMENSIONS, land_document, source_hash_of, space_of


def test_filters_on_metadata_see_visible_chunks_only(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, group in (("one", "group:a"), ("two", "group:b")):
        years = [{"year": 2000 + i} for i in range(10)]
        land_document(database, name, ["alpha"] * 10, readers=[group], metadata=years)
    ours = database.for_readers(["group:a"])

    def found(filters: Filters) -> Scope:
        with ours.connection() as connection:
            return resolve(connection, filters, is_restricted=True)

    late = MetadataFilter("year", low=2006)
    scope = found(Filters(metadata=[late]))
    assert scope.chunk_ids is not None
    with ours.connection() as connection:
        rows = connection.execute(
            "SELECT source_hash, page_start FROM chunk WHERE chunk_id = ANY(%s) ORDER BY 2",
            (scope.chunk_ids,),
        ).fetchall()
    assert rows == [(source_hash_of("one"), page) for page in (7, 8, 9, 10)]
    assert len(found(Filters(metadata=[late], first_page=9)).chunk_ids or ()) == 2
    assert found(Filters(metadata=[late], documents=["two"])).is_nothing
    monkeypatch.setattr("rag_pipeline.search.filters.SELECTIVE", 3)
    assert found(Filters(metadata=[late], first_page=9)).chunk_ids is None, "cut: not all are known"


@pytest.fixture
def two_groups(database: Database) -> tuple[Database, np.ndarray]:
    """Q10: 99 : 1, with vectors of the small group far from every query."""
    generator = np.random.default_rng(1)
    many = generator.standard_normal((1980, DIMENSIONS)) + np.array([4, 0, 0, 0])
    few = generator.standard_normal((20, DIMENSIONS)) - np.array([4, 0, 0, 0])
    land_document(database, "many", [f"pump m{i}" for i in range(1980)], readers=["group:many"],
                  vectors=many)  # fmt: skip
    land_document(database, "few", [f"pump f{i}" for i in range(20)], readers=["group:few"],
                  vectors=few)  # fmt: skip
    with database.connection() as connection:
        ensure_index(connection, space_of(database))
        connection.execute("ANALYZE")
    return database, few


@pytest.mark.parametrize("is_few", [True, False], ids=["exact", "index"])
def test_a_small_group_gets_its_rows(
    two_groups: tuple[Database, np.ndarray],
    is_few: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    database, few = two_groups
    space = space_of(database)
    monkeypatch.setattr(Visible, "is_few", lambda *_: is_few)
    query = np.asarray([1, 0.1, 0, 0], dtype=np.float32)
    cosines = few @ query / np.linalg.norm(few, axis=1) / np.linalg.norm(query)
    with database.for_readers(["group:few"]).connection() as connection:
        visible = visible_chunks(connection)
        assert (visible.chunk_count, visible.stored_count) == (20, 2000)
        hits = vector_leg(connection, space, query, 10, visible=visible)
        everything = vector_leg(connection, space, query, 50, visible=visible)
    assert [hit.raw_score for hit in hits] == pytest.approx(sorted(cosines)[::-1][:10], abs=2e-3)
    assert len(everything) == 20


def test_the_index_is_used_under_row_level_security(
    two_groups: tuple[Database, np.ndarray],
) -> None:
    database, _ = two_groups
    with database.for_readers(["group:many"]).connection() as connection:
        # The tables are small: only so does the planner show that it may.
        connection.execute("SET LOCAL enable_sort = off")
        connection.execute("SET LOCAL enable_seqscan = off")
        plans = {
            name: "\n".join(row[0] for row in connection.execute(f"EXPLAIN {statement}"))
            for name, statement in {
                "chunk_embedding_hnsw_1": "SELECT chunk_id FROM chunk_embedding WHERE space_id = 1 "
                "ORDER BY embedding::halfvec(4) <=> '[1,0,0,0]'::halfvec(4) LIMIT 10",
                "chunk_pkey": "SELECT content FROM chunk WHERE chunk_id = ANY('{1,2,3}')",
                "posting_pkey": "SELECT * FROM posting WHERE lexeme = ANY('{pump,m7}')",
                "document_pkey": "SELECT * FROM document WHERE source_hash = 'x'",
                "source_by_hash": "SELECT * FROM source WHERE source_hash = 'x'",
            }.items()
        }
    for index, plan in plans.items():
        assert index in plan, plan
    assert "hashed SubPlan" in plans["chunk_embedding_hnsw_1"]


def test_when_comparing_all_is_cheaper() -> None:
    def visible(count: int, stored: int) -> bool:
        return Visible(count, stored, [0], [1]).is_few(100)

    assert visible(200, 20_000)
    assert visible(10_000, 1_000_000)
    assert visible(20_000, 0)
    assert not visible(19_800, 20_000)
    assert not visible(20_000, 1_000_000)
    assert not visible(20_001, 0)
