"""Generates the table of `docs/settings.md` from the settings: `make docs`."""

from __future__ import annotations

from pathlib import Path

from rag_pipeline.settings import describe_settings

SETTINGS_PAGE = Path(__file__).parents[2] / "docs" / "settings.md"
HEADER = "| setting | default | what it does |\n|---|---|---|\n"


def settings_table() -> str:
    """Return a Markdown table of every setting."""
    return HEADER + "".join(
        f"| `{setting.name}` | `{setting.default}` | {setting.description} |\n"
        for setting in describe_settings()
    )


def replace_table(page: Path, table: str) -> None:
    """Replace the table at the end of a page, keeping the text above it."""
    text = page.read_text(encoding="utf-8")
    head = text[: text.index(table.splitlines()[0])]
    page.write_text(head + table, encoding="utf-8")


def main() -> None:
    """Renew the page's table."""
    replace_table(SETTINGS_PAGE, settings_table())


if __name__ == "__main__":
    main()
