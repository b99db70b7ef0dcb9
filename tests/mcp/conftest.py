"""The tools over the samples."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_pipeline.settings import Settings
from tests.knowledge import sample_project


@pytest.fixture(scope="session")
def project(
    server_url: str, models_dir: object, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Settings]:
    """A project with the samples in it, in which agents may remember."""
    with sample_project(tmp_path_factory.mktemp("mcp"), server_url, models_dir) as settings:
        rag_toml = "[mcp]\nallow_remember = true\n"
        (settings.project_dir / "rag.toml").write_text(rag_toml, encoding="utf-8")
        yield Settings.load(settings.project_dir, database_url=settings.database_url)
