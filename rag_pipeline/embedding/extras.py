"""Imports the optional libraries where they are used."""

from __future__ import annotations

import importlib
from typing import Any

from rag_pipeline.errors import SettingsError


def import_extra(module: str, extra: str) -> Any:
    """Import a module that an extra installs.

    Raises `SettingsError` with the install line if it is missing.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise SettingsError(
            f"embedding.provider: {module} is not installed",
            hint=f"run `pip install 'rag-pipeline[{extra}]'`",
        ) from error
