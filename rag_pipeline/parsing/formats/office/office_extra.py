"""Libraries of the extra `office`: imported where used, with a clear error where one is absent."""

from __future__ import annotations

import importlib
from types import ModuleType

from rag_pipeline.errors import MissingLibraryError

EXTRA = "pip install 'rag-pipeline[office]'"


def load_library(name: str, document: str) -> ModuleType:
    """Import a module of the extra. Raises `MissingLibraryError` with the line that installs it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingLibraryError(
            f"the library that reads it is not installed ({error})",
            document=document,
            hint=f"install it: {EXTRA}",
        ) from error
