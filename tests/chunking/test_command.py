"""`rag chunk`, without a database."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rag_pipeline.cli.commands import app

SAMPLE = Path(__file__).parents[2] / "samples" / "datasheet.pdf"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("RAG_HOME", str(folder))
    monkeypatch.setenv("RAG_DATABASE_URL", "postgresql://127.0.0.1:1/none")
    return folder


def test_chunks_as_json(home: Path) -> None:
    result = CliRunner().invoke(
        app, ["chunk", str(SAMPLE), "--strategy", "recursive", "--target-tokens", "100", "--json"]
    )
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["file"], found["pages"], found["strategy"]) == ("datasheet.pdf", 3, "recursive")
    assert max(c["token_count"] for c in found["chunks"] if c["kind"] != "section") <= 100
    assert found["chunks"][0]["regions"][0]["page"] == 1
    assert {c["parent_index"] for c in found["chunks"]} >= {None, len(found["chunks"]) - 1}


def test_chunks_for_people(home: Path) -> None:
    result = CliRunner().invoke(app, ["chunk", str(SAMPLE)])
    assert result.exit_code == 0, result.output
    assert "datasheet.pdf  3 pages" in result.stdout
    assert "Technical Data > Performance and Dimensions page 1, table" in result.stdout


def test_an_unknown_strategy_is_named(home: Path) -> None:
    result = CliRunner().invoke(app, ["chunk", str(SAMPLE), "--strategy", "bogus"])
    assert result.exit_code == 2
    assert "bogus" in result.output


def test_nothing_is_made_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments in (["--help"], ["chunk", str(SAMPLE)], ["inspect", str(SAMPLE)]):
        assert CliRunner().invoke(app, arguments).exit_code == 0
    assert list(tmp_path.iterdir()) == []
