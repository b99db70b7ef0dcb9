"""Writes the table of `docs/settings.md` from the settings themselves: `make docs`."""

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


def main() -> None:
    """Replace the table at the end of the page; the text above it stays."""
    text = SETTINGS_PAGE.read_text(encoding="utf-8")
    head = text[: text.index(HEADER.splitlines()[0])]
    SETTINGS_PAGE.write_text(head + settings_table(), encoding="utf-8")


if __name__ == "__main__":
    main()
