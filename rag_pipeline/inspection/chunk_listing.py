"""`rag chunk`: the chunks of one file, without a database."""

from __future__ import annotations

import itertools
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from rag_pipeline.chunking import chunk
from rag_pipeline.console.terminal import out, safe
from rag_pipeline.embedding import create_embedder
from rag_pipeline.frames import SECTION
from rag_pipeline.parsing import parse_file
from rag_pipeline.settings import Settings
from rag_pipeline.structure import infer_structure
from rag_pipeline.text import counted


@dataclass(frozen=True)
class Chunking:
    """A file's chunks (a Chunks frame), the strategy used, and the seconds of each stage."""

    file: str
    title: str | None
    language: str
    pages: int
    strategy: str
    seconds: dict[str, float]
    chunks: pd.DataFrame

    def as_json(self) -> dict[str, Any]:
        """Return everything; attributes a chunk lacks are null."""
        rows = json.loads(self.chunks.to_json(orient="records", force_ascii=False))
        return {**vars(self), "chunks": rows}


def chunk_file(file: Path, settings: Settings) -> Chunking:
    """Parse, structure and chunk a file as a sync would. Raises `DocumentError`, `SettingsError`.

    The model only counts tokens; it embeds as well if the strategy is `semantic`.
    """
    marks = [time.perf_counter()]
    parsed = parse_file(file, settings.parsing, document=file.name)
    marks.append(time.perf_counter())
    structured = infer_structure(parsed.blocks, settings.structure)
    marks.append(time.perf_counter())
    chunks = chunk_structured(structured, settings, parsed.title)
    marks.append(time.perf_counter())
    took = [after - before for before, after in itertools.pairwise(marks)]
    return Chunking(
        file=file.name,
        title=parsed.title,
        language=parsed.language,
        pages=parsed.page_count,
        strategy=settings.chunking.strategy,
        seconds=dict(zip(("parse", "structure", "chunk"), took, strict=True)),
        chunks=chunks,
    )


def chunk_structured(
    structured: pd.DataFrame, settings: Settings, title: str | None
) -> pd.DataFrame:
    """Chunk a StructuredBlocks frame with the settings' model; return a Chunks frame."""
    embedder = create_embedder(settings.embedding, settings.models_path)
    return chunk(
        structured,
        settings.chunking,
        embedder.count_tokens,
        title=title,
        embed=embedder.embed_documents,
    )


def print_chunking(chunking: Chunking) -> None:
    """Print every chunk with its trail, pages, kind and tokens; parents as one line."""
    chunks = chunking.chunks
    children = int((chunks["kind"] != SECTION).sum())
    out.print(
        f"[bold]{safe(chunking.file)}[/]  [dim]{counted(chunking.pages, 'page')}, "
        f"{counted(children, 'chunk')} by {chunking.strategy}, "
        f"{counted(len(chunks) - children, 'parent')}[/]"
    )
    for row in chunks.to_dict("records"):
        first, last = row["page_start"], row["page_end"]
        pages = f"page {first}" if first == last else f"pages {first}-{last}"
        parent = "" if pd.isna(row["parent_index"]) else f", in {row['parent_index']}"
        out.print(
            f"\n[bold]{row['chunk_index']}[/] {safe(row['breadcrumb_trail'])} "
            f"[dim]{pages}, {row['kind']}, {row['token_count']} tokens{parent}[/]"
        )
        if row["kind"] != SECTION:
            out.print(safe(row["content"]))
