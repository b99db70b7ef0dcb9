"""Libraries of an extra: imported where used, with a clear error where one is absent."""

from __future__ import annotations

import importlib
from types import ModuleType

from rag_pipeline.errors import MissingLibraryError

OFFICE, HANGUL = (f"pip install 'rag-pipeline[{extra}]'" for extra in ("office", "hangul"))
"""The lines that install the extras."""


def load_library(name: str, document: str, install: str = OFFICE) -> ModuleType:
    """Import a module of an extra. Raises `MissingLibraryError` with the line that installs it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingLibraryError(
            f"the library that reads it is not installed ({error})",
            document=document,
            hint=f"install it: {install}",
        ) from error
