"""Stage frames as Parquet: whole or not at all, never of another making."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from rag_pipeline.frames import Blocks, blocks_frame, check
from rag_pipeline.store.artifacts import ArtifactStore

HASH = "ab" * 32


@pytest.fixture
def frame() -> pd.DataFrame:
    return blocks_frame(
        [
            {"page_number": 1, "text": "제목", "level_hint": 1},
            {
                "page_number": 2,
                "text": "a b",
                "kind": "table",
                "table_cells": [["a", "b"], ["1", "2"]],
            },
        ]
    )


@pytest.mark.parametrize("location", ["folder", "memory://artifacts"])
def test_a_frame_comes_back_as_it_was(tmp_path: Path, frame: pd.DataFrame, location: str) -> None:
    if location == "folder":
        location = str(tmp_path / "artifacts")
    store = ArtifactStore(location)
    assert store.write("document_blocks", HASH, frame, "f1", {"title": "제목"}) > 0
    found = store.read("document_blocks", HASH, "f1")
    assert found is not None
    pd.testing.assert_frame_equal(check(found[0], Blocks), frame)
    assert found[1] == {"title": "제목"}
    assert store.has("document_blocks", HASH, "f1")


def test_a_frame_of_another_making_is_not_there(tmp_path: Path, frame: pd.DataFrame) -> None:
    store = ArtifactStore(str(tmp_path))
    store.write("document_blocks", HASH, frame, "f1", {})
    assert store.read("document_blocks", HASH, "f2") is None
    assert not store.has("document_blocks", HASH, "f2")


def test_a_file_of_another_layout_is_not_there(
    tmp_path: Path, frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ArtifactStore(str(tmp_path))
    with monkeypatch.context() as older:
        older.setattr("rag_pipeline.store.artifacts.FORMAT", b"0")
        store.write("document_blocks", HASH, frame, "f1", {})
    assert store.read("document_blocks", HASH, "f1") is None
    assert not store.has("document_blocks", HASH, "f1")


def test_a_damaged_file_is_not_there(tmp_path: Path, frame: pd.DataFrame) -> None:
    store = ArtifactStore(str(tmp_path))
    store.write("document_blocks", HASH, frame, "f1", {})
    (path,) = tmp_path.rglob("*.parquet")
    path.write_bytes(path.read_bytes()[:100])
    assert store.read("document_blocks", HASH, "f1") is None
    assert not store.has("document_blocks", HASH, "f1")


def test_deleting_twice_is_no_error(tmp_path: Path, frame: pd.DataFrame) -> None:
    store = ArtifactStore(str(tmp_path))
    store.write("document_blocks", HASH, frame, "f1", {})
    for _ in range(2):
        store.delete([HASH], ("document_blocks",))
    assert store.read("document_blocks", HASH, "f1") is None
    assert list(tmp_path.rglob("*.p*")) == []
