"""The only module that relies on openpyxl's internals: the cells that a sheet really has."""

from __future__ import annotations

from typing import Any

from rag_pipeline.errors import MissingLibraryError
from rag_pipeline.parsing.formats.extra_libraries import OFFICE


def stored_cells(sheet: Any, document: str) -> list[tuple[tuple[int, int], Any]]:
    """Return the cells in the file as ((row, column) from 1, cell), sorted by place.

    The public `iter_rows` walks the whole rectangle: up to 17 billion cells where one lies far out.
    Raises `MissingLibraryError` where openpyxl keeps its cells elsewhere.
    """
    cells = getattr(sheet, "_cells", None)
    if not isinstance(cells, dict):
        raise MissingLibraryError(
            "this version of openpyxl keeps its cells elsewhere",
            document=document,
            hint=f"install the version that this package was tested with: {OFFICE}",
        )
    return sorted(cells.items())
