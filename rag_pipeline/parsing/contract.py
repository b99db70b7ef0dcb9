"""What a parser takes and gives: one contract for every format and every parser."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pandas as pd

from rag_pipeline.usage import Usage


@dataclass(frozen=True)
class ParsedDocument:
    """What a parser made of a file. `blocks` is a checked blocks frame; pickles."""

    blocks: pd.DataFrame
    page_count: int
    title: str | None
    language: str
    """ISO 639-1 code, or `und`."""
    warnings: list[str] = field(default_factory=list)
    """What the reader should know: pages without text, unreadable fonts, hidden text."""
    usage: list[Usage] = field(default_factory=list)
    """What a paid service was asked for; nothing for what came from stored replies."""
    left_out: dict[int, str] = field(default_factory=dict)
    """Text by page (1-based) that is in no block: what a reader does not see, or sees twice."""


class Parser(Protocol):
    """Turns a file into blocks. Raises a `ParseError` that names the document."""

    @property
    def version(self) -> str:
        """Part of the fingerprint of what it parsed."""

    def parse(self, path: Path, *, document: str | None = None) -> ParsedDocument:
        """Read one file; `document` is the name for messages, by default the file's."""
