"""The examples of docs/serving.md are run as they stand there, against the tests' server."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import tomllib
from typing import Any

import httpx
import pytest

from rag_pipeline.settings import Settings
from tests.conftest import PROJECT_DIR

DOCUMENT = (PROJECT_DIR / "docs" / "serving.md").read_text(encoding="utf-8")
DOCUMENTED = "http://127.0.0.1:8321"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", DOCUMENT, re.DOTALL)


@pytest.mark.parametrize("line", [line for block in blocks("sh") for line in block.splitlines()])
def test_each_curl_line_gives_what_it_is_for(url: str, line: str) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    command = [*shlex.split(line.replace(DOCUMENTED, url)), "--fail-with-body"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stdout
    reply = json.loads(ran.stdout)
    assert reply.get("results") or reply.get("citations") or reply.get("chunks")


def test_the_python_block_runs(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = blocks("python")
    exec(compile(block.replace(DOCUMENTED, url), "serving.md", "exec"), {})
    assert "service-manual-en.pdf 1" in capsys.readouterr().out


def test_the_settings_are_settings(tmp_path: Any) -> None:
    tables = [tomllib.loads(block) for block in blocks("toml")]
    (tmp_path / "rag.toml").write_text("".join(blocks("toml")), encoding="utf-8")
    settings = Settings.load(tmp_path)
    assert [token.name for token in settings.serve.tokens] == ["kim"]
    assert settings.mcp.allow_remember is True
    assert {name for table in tables for name in table} == {"serve", "mcp"}


def test_the_table_lists_every_operation(client: httpx.Client) -> None:
    for path in client.get("/api/openapi.json").json()["paths"]:
        shown = path.replace("source_hash", "hash").replace("/api/evaluation/report", "…/report")
        assert shown in DOCUMENT, path


def test_every_tool_is_documented() -> None:
    for tool in ("search", "ask", "outline", "read_section", "sources", "remember"):
        assert f"| `{tool}` |" in DOCUMENT
    (configuration,) = blocks("json")
    assert json.loads(configuration)["mcpServers"]["manuals"]["command"] == "rag"
