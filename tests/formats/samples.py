"""The documents of `tests/data/formats`, parsed once each."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pandas as pd

from rag_pipeline.parsing import ParsedDocument, parse_file
from rag_pipeline.settings import ParsingSettings, StructureSettings
from rag_pipeline.structure import infer_structure

FORMATS = Path(__file__).parents[1] / "data" / "formats"


@cache
def parsed(name: str) -> ParsedDocument:
    """A sample's blocks."""
    return parse_file(FORMATS / name, ParsingSettings())


@cache
def structured(name: str) -> pd.DataFrame:
    """A sample's structured frame."""
    return infer_structure(parsed(name).blocks, StructureSettings())


def headings(name: str) -> list[tuple[int, str]]:
    """(level, text) of every heading."""
    frame = structured(name)
    rows = frame[frame["role"].isin(["heading", "title"])]
    return [
        (int(level), text) for level, text in zip(rows["heading_level"], rows["text"], strict=True)
    ]


def items(name: str) -> list[tuple[int, str]]:
    """(nesting, text) of every list item and step."""
    frame = structured(name)
    rows = frame[frame["role"].isin(["list_item", "procedure_step"])]
    return [
        (int(level), text) for level, text in zip(rows["list_level"], rows["text"], strict=True)
    ]


def tables(name: str) -> list[tuple[list[list[str]], list[list[tuple[int, int]]]]]:
    """Cells and spans of every table."""
    blocks = parsed(name).blocks
    rows = blocks[blocks["kind"] == "table"]
    return list(zip(rows["table_cells"], rows["table_spans"], strict=True))


def texts(name: str, role: str) -> list[str]:
    """Texts of the blocks of one role."""
    frame = structured(name)
    return frame[frame["role"] == role]["text"].tolist()
