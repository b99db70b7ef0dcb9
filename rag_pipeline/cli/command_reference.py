"""Generates the table of `docs/commands.md` from the commands: `make docs`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from rag_pipeline.cli.commands import app
from rag_pipeline.console.setting_reference import replace_table

COMMANDS_PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
HEADER = "| command | what it does | example |\n|---|---|---|\n"
_EXAMPLE = re.compile(r"Example: (.+)")


def commands(command: Any = None, name: str = "rag") -> Iterator[tuple[str, Any]]:
    """Yield every visible command with its name as typed."""
    for child, found in getattr(command or get_command(app), "commands", {}).items():
        if getattr(found, "commands", None):
            yield from commands(found, f"{name} {child}")
        elif not found.hidden:
            yield f"{name} {child}", found


def commands_table() -> str:
    """Return a Markdown table of every command: name, first paragraph of its help, example."""
    rows = [(name, found.help or "") for name, found in commands()]
    return HEADER + "".join(
        f"| `{name}` | {_cell(_purpose(text))} | `{_cell(_example(text))}` |\n"
        for name, text in rows
    )


def _purpose(text: str) -> str:
    return " ".join(text.split("\n\n", maxsplit=1)[0].split())


def _example(text: str) -> str:
    found = _EXAMPLE.search(text)
    return found[1].strip() if found else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> None:
    """Renew the page's table."""
    replace_table(COMMANDS_PAGE, commands_table())


if __name__ == "__main__":
    main()
