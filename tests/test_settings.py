"""Settings: defaults < rag.toml < environment; mistakes are named; documentation is complete."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from rag_pipeline.console.setting_reference import SETTINGS_PAGE, settings_table
from rag_pipeline.errors import SettingsError
from rag_pipeline.settings import Settings, find_project_dir


def write(folder: Path, text: str) -> Path:
    (folder / "rag.toml").write_text(text, encoding="utf-8")
    return folder


def test_nothing_needs_to_be_set(tmp_path: Path) -> None:
    settings = Settings.load(tmp_path)
    assert settings.data_path == tmp_path.resolve() / ".rag"
    assert settings.database_url is None
    assert (settings.search.weights.text, settings.search.weights.vector) == (0.7, 0.3)


def test_environment_wins_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "[search]\nlimit = 7\n[search.weights]\ntext = 3\n")
    assert Settings.load(tmp_path).search.limit == 7
    monkeypatch.setenv("RAG_SEARCH__LIMIT", "9")
    settings = Settings.load(tmp_path)
    assert (settings.search.limit, settings.search.weights.text) == (9, 3.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[search]\nlimt = 7\n", "search.limt"),
        ("[search]\nlimit = 0\n", "search.limit"),
        ("[search\n", "not valid TOML"),
        ('database_url = "postgresql://a:b@c/d"\n', "RAG_DATABASE_URL"),
        ('[embedding]\napi_key = "k"\n', "RAG_EMBEDDING__API_KEY"),
        ('[search.reranker]\napi_key = "k"\n', "RAG_SEARCH__RERANKER__API_KEY"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        Settings.load(write(tmp_path, text))


def test_the_password_is_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_DATABASE_URL", "postgresql://kim:hunter2@db/rag")
    assert "hunter2" not in repr(Settings.load(tmp_path))


def test_the_project_is_found_from_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = write(tmp_path, "") / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    assert find_project_dir().resolve() == tmp_path.resolve()


def test_every_setting_is_documented() -> None:
    text = SETTINGS_PAGE.read_text(encoding="utf-8")
    assert text.endswith(settings_table()), "run `make docs`"


def test_what_a_caller_gives_wins_and_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rag.toml").write_text("[parsing]\nmax_pages = 9\nmax_seconds = 7\n")
    monkeypatch.setenv("RAG_PARSING__MAX_PAGES", "8")
    given = Settings.load(tmp_path, parsing={"max_pages": 3}, database_url="postgresql://x/y")
    assert (given.parsing.max_pages, given.parsing.max_seconds) == (3, 7)
    assert isinstance(given.database_url, SecretStr)
    assert Settings.load(tmp_path, parsing=given.parsing).parsing.max_pages == 3
    for wrong, word in [
        ({"parsing": {"max_pagez": 3}}, "max_pagez"),
        ({"parsing": {"max_pages": "many"}}, "max_pages"),
        ({"parsing": 3}, "parsing"),
        ({"pasing": {}}, "there is no setting 'pasing'"),
    ]:
        with pytest.raises(SettingsError, match=word):
            Settings.load(tmp_path, **wrong)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("[sync]\nworkerz = 2", "did you mean sync.workers?"),
        ("[serch]\nlimit = 3", "did you mean search?"),
        ("[chunking]\nworkers = 2", "did you mean sync.workers?"),
        ('[[sources]]\npath = "x"\nincldue = ["a"]', "did you mean sources.include?"),
        ("[sync]\nqqqqqq = 1", "see docs/settings.md"),
    ],
)
def test_a_misspelt_setting_is_told_what_it_means(tmp_path: Path, text: str, meant: str) -> None:
    (tmp_path / "rag.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match="there is no such setting") as caught:
        Settings.load(tmp_path)
    assert meant in str(caught.value)


def test_a_misspelt_variable_is_told_what_it_means(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_SYNCC__WORKERS", "1")
    with pytest.raises(SettingsError, match=r"did you mean RAG_SYNC__WORKERS\?"):
        Settings.load(tmp_path)
