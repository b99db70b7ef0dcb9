"""Square brackets in helps and messages are shown: rich would take them for markup."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from rag_pipeline.cli.command_reference import commands
from rag_pipeline.cli.commands import app
from rag_pipeline.console.terminal import print_error

BRACKETED = re.compile(r"\[+[a-z_.]+\]+")


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_helps_show_their_brackets(name: str) -> None:
    command = dict(commands())[name]
    texts = [command.help or "", *(getattr(one, "help", None) or "" for one in command.params)]
    wanted = {found for text in texts for found in BRACKETED.findall(text)}
    arguments = [*name.split()[1:], "--help"]
    shown = CliRunner().invoke(app, arguments, env={"COLUMNS": "300"}).output
    assert {found for found in wanted if found not in shown} == set()


def test_messages_show_their_brackets(capsys: pytest.CaptureFixture[str]) -> None:
    print_error("set [chat] model in rag.toml, or [[sources]]")
    assert "set [chat] model in rag.toml, or [[sources]]" in capsys.readouterr().err
