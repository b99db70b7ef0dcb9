"""One built model for the whole room: building takes seconds, the tests only read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_pipeline.embedding import Embedder, create_embedder
from rag_pipeline.embedding.local.model_files import ModelFiles, model_files
from rag_pipeline.settings import EmbeddingSettings
from tests.chosen_models import FLOAT32, INT8


@pytest.fixture(scope="session")
def cache_dir(models_dir: Path) -> Path:
    return models_dir


@pytest.fixture(scope="session")
def files(cache_dir: Path) -> ModelFiles:
    return model_files(cache_dir)


@pytest.fixture(scope="session")
def float32(cache_dir: Path, files: ModelFiles) -> Embedder:
    return create_embedder(EmbeddingSettings(), cache_dir, FLOAT32)


@pytest.fixture(scope="session")
def int8(cache_dir: Path, files: ModelFiles) -> Embedder:
    return create_embedder(EmbeddingSettings(), cache_dir, INT8)


@pytest.fixture(params=["float32", "int8"])
def each_embedder(request: pytest.FixtureRequest) -> Embedder:
    embedder: Embedder = request.getfixturevalue(request.param)
    return embedder


@pytest.fixture(scope="session")
def embedder(cache_dir: Path, files: ModelFiles) -> Embedder:
    return create_embedder(EmbeddingSettings(), cache_dir)
