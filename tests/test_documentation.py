"""README and docs stay true: every command in them exists, and the short ones are run."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from rag_pipeline.cli.command_reference import COMMANDS_PAGE, commands, commands_table
from rag_pipeline.cli.commands import app
from tests.conftest import PROJECT_DIR

DOCUMENTS = [PROJECT_DIR / "README.md", *sorted((PROJECT_DIR / "docs").glob("*.md"))]
LINK = re.compile(r"\[[^\]]+\]\((?!https?:)([^)#]+)\)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    for target in LINK.findall(document.read_text(encoding="utf-8")):
        assert (document.parent / target).exists(), f"{document.name} links to {target}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_commands_exist(document: Path) -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    for name in re.findall(r"`rag ([a-z]+)", document.read_text(encoding="utf-8")):
        assert name in commands, f"{document.name} speaks of `rag {name}`"


def test_every_command_has_help_with_an_example() -> None:
    for name, command in commands():
        example = rf"Example: (?:{name}\b|psql)"
        assert re.search(example, command.help or ""), f"{name} has no example of itself"


def test_help_shows_text_in_brackets() -> None:
    """Rich takes `[chat]` for markup and drops it, unless help is Markdown."""
    shown = CliRunner().invoke(app, ["ask", "--help"]).output
    assert "[chat]" in shown
    assert "[security]" in shown


def test_the_table_of_commands_is_current() -> None:
    text = COMMANDS_PAGE.read_text(encoding="utf-8")
    assert text.endswith(commands_table()), "run `make docs`"
    for name, _ in commands():
        assert f"| `{name}` |" in text


def test_make_targets_exist() -> None:
    makefile = (PROJECT_DIR / "Makefile").read_text(encoding="utf-8")
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        for target in re.findall(r"(?:^|`)make ([a-z]+)", text, re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"make {target}"


@pytest.mark.parametrize(("target", "program"), [("demo", "rag"), ("dev", "dagster")])
def test_the_demonstration_keeps_its_data_in_the_checkout(
    tmp_path: Path, target: str, program: str
) -> None:
    """Not in a knowledge base of a folder above it; where RAG_HOME is set, that is meant."""
    tell = tmp_path / program
    tell.write_text('#!/bin/sh\necho "$RAG_HOME"\n', encoding="utf-8")
    tell.chmod(0o755)
    command = ["make", "--silent", target, "BASE=", f"BIN={tmp_path}"]
    for home, told in ((None, PROJECT_DIR), ("/elsewhere", "/elsewhere")):
        environment = {**os.environ, **({"RAG_HOME": home} if home else {})}
        done = subprocess.run(
            command, cwd=PROJECT_DIR, env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == str(told)
