"""`--as`: every command that reads shows what its principals may read."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rag_pipeline.cli.commands import app
from rag_pipeline.settings import Settings
from tests.commands import Commands
from tests.security.conftest import SECRETS, Stores


def run(stores: Stores, *arguments: str) -> Any:
    """Run a command in the project of the full store; return its JSON."""
    assert stores.settings.database_url is not None
    url = stores.settings.database_url.get_secret_value()
    environment = {"RAG_HOME": str(stores.settings.project_dir), "RAG_DATABASE_URL": url}
    here = Path.cwd()
    try:
        result = CliRunner().invoke(app, [*arguments, "--json"], env=environment)
    finally:
        os.chdir(here)
    assert result.exit_code == 0, (result.output, result.exception)
    return json.loads(result.stdout)


def names(found: Any) -> set[str]:
    return {one["source_path"].rsplit("/", 1)[-1] for one in found["results"]}


def test_search(stores: Stores) -> None:
    query = ("search", "airend of the compressor")
    assert names(run(stores, *query)) >= {"qv40.md", "bulletin.md", "quotation.md"}
    assert names(run(stores, *query, "--as", "user:x")) == {"qv40.md"}
    ours = run(stores, *query, "--as", "user:kim", "--as", "group:service")
    assert names(ours) == {"qv40.md", "bulletin.md", "shared.md"}
    assert not any(secret in json.dumps(ours).lower() for secret in SECRETS)


def test_ask_and_status(stores: Stores) -> None:
    answer = run(stores, "ask", "What does the airend cost?", "--as", "user:lee")
    assert not any(secret in json.dumps(answer["context"]).lower() for secret in SECRETS)
    status = run(stores, "status", "--as", "user:lee")
    assert status["counts"]["documents"] == 3
    assert status["counts"]["database_bytes"] == 0
    assert not any(secret in json.dumps(status).lower() for secret in SECRETS)
    assert run(stores, "status")["counts"]["documents"] == 4


def test_evaluation(stores: Stores, tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    rows = [{"question": "What does the airend cost?", "gold": [{"doc": "quotation.md"}]}]
    questions.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    report = str(tmp_path / "report.html")
    arguments = ("eval", "run", str(questions), "--report", report)
    assert run(stores, *arguments)["settings"][0]["measures"]["all"]["recall@5"] == 1
    ours = run(stores, *arguments, "--as", "user:lee")
    assert ours["settings"][0]["measures"]["all"]["recall@5"] == 0
    assert "Zanzibar" not in Path(report).read_text(encoding="utf-8")


def test_exact_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = tmp_path / "shop.db"
    with sqlite3.connect(shop) as connection:
        connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, city TEXT)")
        connection.execute("INSERT INTO customers (city) VALUES ('Seoul'), ('Busan')")
    (tmp_path / "rag.toml").write_text(
        f'[[relational]]\nname = "shop"\nurl = "sqlite:///{shop}"\nroot = "customers"\n'
        'readers = ["group:sales"]\ntags = ["figures"]\n',
        encoding="utf-8",
    )
    monkeypatch.setenv("RAG_HOME", str(tmp_path))

    def ask(*principals: str) -> Any:
        options = [part for one in principals for part in ("--as", one)]
        question = "How many customers are there?"
        result = CliRunner().invoke(app, ["relational", "ask", question, *options, "--json"])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    assert ask()["rows"] == [[2]]
    assert ask("group:sales")["rows"] == [[2]]
    refused = ask("group:service")
    assert refused["rows"] == []
    assert refused["sql"] is None
    with (tmp_path / "rag.toml").open("a", encoding="utf-8") as file:
        file.write('[security]\nenabled = true\n[security.tags]\nfigures = ["group:service"]\n')
    assert ask("group:service")["rows"] == [[2]]
    assert ask("group:sales")["rows"] == []
    assert ask()["rows"] == []


def test_security_by_environment(stores: Stores, commands: Commands) -> None:
    """In a process of its own, as a user starts it."""
    assert stores.settings.database_url is not None
    environment = {
        **os.environ,
        "RAG_HOME": str(stores.settings.project_dir),
        "RAG_DATABASE_URL": stores.settings.database_url.get_secret_value(),
        "RAG_SECURITY__ENABLED": "true",
    }
    query = ("search", "airend", "--json")
    for principals, expected in (("[]", set()), ('["group:sales"]', {"qv40.md", "quotation.md"})):
        environment["RAG_SECURITY__PRINCIPALS"] = principals
        done = commands.run(*query, folder=Path.cwd(), environment=environment)
        assert done.returncode == 0, done.stderr
        found = names(json.loads(done.stdout))
        assert expected <= found
        assert "bulletin.md" not in found
        assert bool(found) == bool(expected)


def test_rules_reach_relational_sources() -> None:
    settings = Settings.model_validate(
        {
            "relational": [{"name": "shop", "url": "sqlite://", "root": "customers"}],
            "security": {"documents": {"relational:shop/**": ["group:sales"]}},
        }
    )
    assert settings.relational[0].readers == ["group:sales"]
