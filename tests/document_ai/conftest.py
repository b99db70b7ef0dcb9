"""Settings that point to a server of this machine, and replies kept in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_pipeline.settings import DocumentAiSettings
from tests.conftest import PROJECT_DIR
from tests.document_ai.server import DocumentAiServer


class FolderReplies:
    """A `ReplyCache` in a folder; files are there whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> bytes | None:
        file = self.folder / key
        return file.read_bytes() if file.is_file() else None

    def put(self, key: str, value: bytes) -> None:
        file = self.folder / key
        file.parent.mkdir(parents=True, exist_ok=True)
        beside = file.with_name(f"{file.name}.new")
        beside.write_bytes(value)
        beside.replace(file)

    def names(self) -> list[str]:
        """Last parts of all keys, sorted."""
        return sorted(file.name for file in self.folder.rglob("*.gz"))


@pytest.fixture
def replies(tmp_path: Path) -> FolderReplies:
    """An empty folder of replies."""
    return FolderReplies(tmp_path / "replies")


SettingsMaker = Callable[..., DocumentAiSettings]


@pytest.fixture
def settings_for() -> SettingsMaker:
    """Makes settings for a server; further values as keyword arguments."""

    def make(server: DocumentAiServer, **values: Any) -> DocumentAiSettings:
        given = {"project": "p", "processor": "1f", "timeout_seconds": 120, **values}
        return DocumentAiSettings(endpoint=server.endpoint, **given)

    return make


@pytest.fixture(scope="session")
def recorded() -> Path:
    """The folder of recorded replies; tests that need it are skipped where it is absent."""
    folder = (
        Path(os.environ.get("RAG_BENCH_DATA", PROJECT_DIR.parent / "shared" / "bench")).parent
        / "documentai_samples"
    )
    if not folder.is_dir():
        pytest.skip(f"recorded replies of Document AI not found in {folder} (set RAG_BENCH_DATA)")
    return folder
