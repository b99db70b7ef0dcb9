"""The SDK is an optional part; without it the command says what to install."""

from __future__ import annotations

from importlib.util import find_spec

from rag_pipeline.errors import SettingsError


def check_installed() -> None:
    """Raise `SettingsError` where the SDK is not installed."""
    if find_spec("mcp") is None:
        raise SettingsError(
            "`rag mcp` needs the SDK of the Model Context Protocol",
            hint="pip install 'rag-pipeline[mcp]', or `make extras`",
        )
