"""README and docs stay true: every command in them exists, and the short ones are run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.main import get_command

from rag_pipeline.cli import app
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
    def visit(command: object, name: str) -> None:
        for child_name, child in getattr(command, "commands", {}).items():
            if getattr(child, "commands", None):
                visit(child, f"{name} {child_name}")
            elif not child.hidden:
                assert "Example: rag" in (child.help or "") or "Example: psql" in child.help, (
                    f"{name} {child_name} has no example"
                )

    visit(get_command(app), "rag")


def test_make_targets_exist() -> None:
    makefile = (PROJECT_DIR / "Makefile").read_text(encoding="utf-8")
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        for target in re.findall(r"(?:^|`)make ([a-z]+)", text, re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"make {target}"
