"""`rag inspect`: the blocks and outline of one file, without a database."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from rag_pipeline.console.terminal import out, safe
from rag_pipeline.errors import RagError
from rag_pipeline.inspection.block_links import shown_blocks
from rag_pipeline.parsing import parse_file
from rag_pipeline.settings import Settings
from rag_pipeline.structure import headings_of, infer_structure, to_markdown
from rag_pipeline.text import counted, one_line

TEXT_CHARACTERS = 70


@dataclass(frozen=True)
class Inspection:
    """A file's outline, blocks and Markdown; `headings` are [level from 0, title, page]."""

    file: str
    title: str | None
    language: str
    pages: int
    warnings: list[str]
    seconds: dict[str, float]
    headings: list[list[Any]]
    blocks: list[dict[str, Any]]
    markdown: str

    def as_json(self) -> dict[str, Any]:
        """Return everything but the Markdown."""
        return {name: value for name, value in vars(self).items() if name != "markdown"}


def inspect_file(file: Path, settings: Settings, *, keep_furniture: bool = False) -> Inspection:
    """Parse a file and infer its structure. Raises `ParseError`."""
    start = time.perf_counter()
    parsed = parse_file(file, settings.parsing, document=file.name)
    middle = time.perf_counter()
    frame = infer_structure(parsed.blocks, settings.structure)
    end = time.perf_counter()
    return Inspection(
        file=file.name,
        title=parsed.title,
        language=parsed.language,
        pages=parsed.page_count,
        warnings=list(parsed.warnings),
        seconds={"parse": middle - start, "structure": end - middle},
        headings=headings_of(frame),
        blocks=shown_blocks(frame),
        markdown=to_markdown(frame, keep_furniture=keep_furniture),
    )


def write_inspection(inspection: Inspection, folder: Path) -> None:
    """Write NAME.json (headings and blocks) and NAME.md into a folder.

    NAME is the file's, for PDFs without the ending; `pump.docx` and `pump.odt` must not collide.
    """
    path = Path(inspection.file)
    stem = path.stem if path.suffix.lower() == ".pdf" else path.name
    text = json.dumps(inspection.as_json(), ensure_ascii=False, indent=1)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{stem}.json").write_text(text, encoding="utf-8")
        (folder / f"{stem}.md").write_text(inspection.markdown, encoding="utf-8")
    except OSError as error:
        raise RagError(f"{folder} cannot be written: {error.strerror}") from error
    out.print(f"{safe(inspection.file)}: {len(inspection.headings)} headings")


def print_inspection(inspection: Inspection, explain: bool) -> None:
    """Print the outline as a tree and the number of blocks by role; or each block's rule."""
    seconds = sum(inspection.seconds.values())
    out.print(
        f"[bold]{safe(inspection.file)}[/]  {safe(inspection.title or 'no title')}  "
        f"[dim]{inspection.language}, {counted(inspection.pages, 'page')}, {seconds:.1f} s[/]"
    )
    for warning in inspection.warnings:
        out.print(f"[yellow]warning[/] {safe(warning)}")
    if explain:
        _print_rules(inspection)
        return
    for level, title, page in inspection.headings:
        out.print(f"{'  ' * level}{safe(title)} [dim]page {page}[/]")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("role")
    table.add_column("blocks", justify="right")
    for role, count in Counter(block["role"] for block in inspection.blocks).most_common():
        table.add_row(role, str(count))
    out.print(table)


def _print_rules(inspection: Inspection) -> None:
    for block in inspection.blocks:
        text = one_line(block["text"])
        if len(text) > TEXT_CHARACTERS:
            text = text[:TEXT_CHARACTERS] + " …"
        out.print(f"page {block['page']:<3} {safe(text)}\n         [dim]{safe(block['rule'])}[/]")
