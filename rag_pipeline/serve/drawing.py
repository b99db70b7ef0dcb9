"""Runs in the process that renders pages. Imports little, so that it starts fast."""

from __future__ import annotations

import contextlib
from importlib import import_module

from rag_pipeline.sync.documents.workers import die_with_parent

MEMORY = 2 * 2**30
"""Bytes that the process may allocate."""


def begin() -> None:
    """Limit the memory of the process, where the platform can, and tie its life to its parent."""
    die_with_parent()
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def prepare() -> None:
    """Import the renderer before a page is requested."""
    import_module("rag_pipeline.parsing.pdf.native.page_pictures")
    import_module("rag_pipeline.parsing.pdf.native.word_places")
