"""A store filled in float32, on a machine whose model now computes in int8."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pydantic import SecretStr

from rag_pipeline import RagSystem
from rag_pipeline.embedding import create_embedder
from rag_pipeline.embedding.local.graph_choice import Arithmetic
from rag_pipeline.search.search_space import SpaceEmbedders
from rag_pipeline.settings import EmbeddingSettings
from rag_pipeline.store.embeddings import EmbeddingSpace, active_space, known_spaces
from rag_pipeline.sync.planning.refresh import current_plan
from tests.chosen_models import FLOAT32, INT8, models_that_chose

QUERY = "How is the filter changed?"
PAGES = {
    "filter.md": "# Filter\n\nStop the engine. Remove the old oil filter and fit a new one.",
    "warranty.md": "# Warranty\n\nDefects are covered for a period of two years.",
}


class Place:
    """A project whose machine may choose the one arithmetic, then the other."""

    def __init__(self, folder: Path, url: str, models_dir: Path) -> None:
        self.folder, self.url, self.models_dir = folder, url, models_dir
        self.manuals = folder / "manuals"
        self.manuals.mkdir()
        for name, text in PAGES.items():
            (self.manuals / name).write_text(text, encoding="utf-8")

    def opened(self, arithmetic: Arithmetic, monkeypatch: pytest.MonkeyPatch) -> RagSystem:
        models = self.folder / arithmetic
        if not models.exists():
            models_that_chose(arithmetic, self.models_dir, models)
        monkeypatch.setenv("RAG_MODELS_DIR", str(models))
        return RagSystem(self.folder / "project", database_url=SecretStr(self.url))


@pytest.fixture
def place(tmp_path: Path, database_url: str, models_dir: Path) -> Place:
    return Place(tmp_path, database_url, models_dir)


def active(system: RagSystem) -> EmbeddingSpace:
    with system.database.connection() as connection:
        space = active_space(connection)
    assert space is not None
    return space


def vectors(system: RagSystem) -> dict[str, np.ndarray]:
    """Return the vectors of the chunk about the filter, by the version of their space."""
    with system.database.connection() as connection:
        rows = connection.execute(
            "SELECT s.version, e.embedding::text FROM chunk_embedding e JOIN chunk c "
            "USING (chunk_id) JOIN embedding_space s USING (space_id) "
            "WHERE c.content LIKE '%oil filter%'"
        ).fetchall()
    return {version: np.array(text.strip("[]").split(","), dtype=float) for version, text in rows}


def test_queries_use_the_arithmetic_of_the_space(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    with place.opened("float32", monkeypatch) as system:
        system.add_directory(place.manuals)
        assert active(system).version == FLOAT32
    with place.opened("int8", monkeypatch) as system:
        space = active(system)
        assert space.version == FLOAT32
        embedders = SpaceEmbedders(system.settings)
        assert embedders.of(None).version == INT8
        float32 = create_embedder(EmbeddingSettings(), system.settings.models_path, FLOAT32)
        np.testing.assert_array_equal(
            embedders.of(space).embed_query(QUERY), float32.embed_query(QUERY)
        )
        best = system.search(QUERY, use_hybrid=False).results[0]
        expected = float32.embed_query(QUERY) @ vectors(system)[FLOAT32]
        assert best.vector_score == pytest.approx(expected, abs=2e-4)


def test_vectors_are_made_anew_beside_the_old_ones(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    with place.opened("float32", monkeypatch) as system:
        system.add_directory(place.manuals)
        old = vectors(system)[FLOAT32]
    with place.opened("int8", monkeypatch) as system:
        plan = current_plan(system.settings, system.database)
        assert set(plan.stale.values()) == {"chunk_embeddings"}, "nothing is parsed again"
        assert len(plan.stale) == len(PAGES)
        system.add_document(place.manuals / "filter.md")
        assert active(system).version == FLOAT32, "the new space is not complete yet"
        assert len(system.search(QUERY, use_hybrid=False).results) == len(PAGES)
        system.add_directory(place.manuals)
        assert active(system).version == INT8
        assert not current_plan(system.settings, system.database)
        made = vectors(system)
        assert made.keys() == {FLOAT32, INT8}
        np.testing.assert_array_equal(made[FLOAT32], old)
        assert 0.997 <= old @ made[INT8] / np.linalg.norm(made[INT8]) < 1 - 1e-5
        with system.database.connection() as connection:
            states = {space.version: space.state for space in known_spaces(connection)}
        assert states == {FLOAT32: "retired", INT8: "active"}
