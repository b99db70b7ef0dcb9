"""`rag inspect`: what the parser and the rules make of one file, without a database."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from rich.table import Table

from rag_pipeline.console.output import out, safe
from rag_pipeline.parsing import parse_file
from rag_pipeline.settings import Settings
from rag_pipeline.structure import infer_structure


@dataclass(frozen=True)
class Inspection:
    """A file's outline and blocks; `headings` are [level from 0, title, page]."""

    file: str
    title: str | None
    language: str
    pages: int
    warnings: list[str]
    seconds: dict[str, float]
    headings: list[tuple[int, str, int]]
    blocks: list[dict[str, Any]]


def inspect_file(file: Path, settings: Settings) -> Inspection:
    """Parse a file and infer its structure. Raises `ParseError`."""
    start = time.perf_counter()
    parsed = parse_file(file, settings.parsing, document=file.name)
    middle = time.perf_counter()
    frame = infer_structure(parsed.blocks, settings.structure)
    end = time.perf_counter()
    columns = zip(
        frame["page_number"],
        frame["role"],
        frame["heading_level"],
        frame["x0"],
        frame["y0"],
        frame["x1"],
        frame["y1"],
        frame["breadcrumb_trail"],
        frame["text"],
        strict=True,
    )
    blocks = [
        {
            "page": int(page),
            "role": role,
            "level": None if pd.isna(level) else int(level),
            "box": [round(float(edge), 4) for edge in (x0, y0, x1, y1)],
            "breadcrumb_trail": trail,
            "text": text,
        }
        for page, role, level, x0, y0, x1, y1, trail, text in columns
    ]
    headings = [
        ((block["level"] or 1) - 1, " ".join(block["text"].split()), block["page"])
        for block in blocks
        if block["role"] == "heading"
    ]
    return Inspection(
        file=file.name,
        title=parsed.title,
        language=parsed.language,
        pages=parsed.page_count,
        warnings=list(parsed.warnings),
        seconds={"parse": middle - start, "structure": end - middle},
        headings=headings,
        blocks=blocks,
    )


def print_inspection(inspection: Inspection) -> None:
    """Print the outline as a tree, and how many blocks have which role."""
    rate = inspection.pages / sum(inspection.seconds.values())
    out.print(
        f"[bold]{safe(inspection.file)}[/]  {safe(inspection.title or 'no title')}  "
        f"[dim]{inspection.language}, {inspection.pages} pages, {rate:,.0f} pages/s[/]"
    )
    for warning in inspection.warnings:
        out.print(f"[yellow]warning[/] {safe(warning)}")
    for level, title, page in inspection.headings:
        out.print(f"{'  ' * level}{safe(title)} [dim]page {page}[/]")
    counts: dict[str, int] = {}
    for block in inspection.blocks:
        counts[block["role"]] = counts.get(block["role"], 0) + 1
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("role")
    table.add_column("blocks", justify="right")
    for role, count in sorted(counts.items(), key=lambda item: -item[1]):
        table.add_row(role, str(count))
    out.print(table)
