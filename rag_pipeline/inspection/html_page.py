"""`rag inspect --html`: a file's pages beside its blocks and chunks, as one HTML file.

The file is self-contained; its policy forbids any request. The document's text is escaped, or JSON
that the script reads as text. Pictures are inert text until their page is near the viewport.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path
from typing import IO, Any

import pandas as pd

from rag_pipeline.console.progress_bars import counting
from rag_pipeline.console.terminal import err
from rag_pipeline.errors import RagError
from rag_pipeline.frames import ROLE_COLORS, ROLES, SECTION
from rag_pipeline.inspection.block_links import chunks_of_blocks, shown_blocks
from rag_pipeline.inspection.chunk_listing import chunk_structured
from rag_pipeline.inspection.page_budget import Picture, pictures_of
from rag_pipeline.parsing import ParsedDocument, parse_file
from rag_pipeline.parsing.pdf.native.page_pictures import has_pictures
from rag_pipeline.settings import Settings
from rag_pipeline.structure import infer_structure
from rag_pipeline.text import counted, one_line

PART = 100
"""Blocks the browser lays out together; formats without pages may have thousands on one."""
_LEADERS = re.compile(r"(?:\s*[.·…]){4,}\s*")


@dataclass(frozen=True)
class Inspected:
    """A file after the stages: StructuredBlocks and Chunks frames, without parents."""

    file: Path
    parsed: ParsedDocument
    structured: pd.DataFrame
    chunks: pd.DataFrame


def write_inspection_page(file: Path, settings: Settings, target: Path) -> int:
    """Inspect a file and write the page; return its size in bytes. Needs no database.

    Raises `DocumentError` if the file cannot be read and `RagError` if the page cannot be written;
    `target` is then unchanged.
    """
    inspected = _inspect(file, settings)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=".inspect-", suffix=".html")
    except OSError as error:
        raise RagError(f"{target} cannot be written: {error.strerror}") from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as page:
            _write(page, inspected)
        # A temporary file is private to its owner; the page gets the usual permissions.
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        size = Path(name).stat().st_size
        Path(name).replace(target)
    except OSError as error:
        raise RagError(f"{target} cannot be written: {error.strerror}") from error
    finally:
        with suppress(FileNotFoundError):
            Path(name).unlink()
    return size


def _inspect(file: Path, settings: Settings) -> Inspected:
    with err.status("reading …"):
        parsed = parse_file(file, settings.parsing, document=file.name)
        structured = infer_structure(parsed.blocks, settings.structure)
        chunks = chunk_structured(structured, settings, parsed.title)
    return Inspected(file, parsed, structured, chunks[chunks["kind"] != SECTION])


def _write(page: IO[str], inspected: Inspected) -> None:
    blocks = _blocks(inspected)
    page.write(_head(inspected, blocks))
    by_page: dict[int, list[dict[str, Any]]] = {}
    for block in blocks:
        by_page.setdefault(block["page"], []).append(block)
    numbers = sorted(set(range(1, inspected.parsed.page_count + 1)) | set(by_page))
    pictures: Iterator[Picture | str | None] = iter([None] * len(numbers))
    if has_pictures(inspected.file):
        pictures = pictures_of(inspected.file, numbers)
    with counting("pages", len(numbers), True) as advance:
        for number, picture in zip(numbers, pictures, strict=True):
            page.writelines(_page(number, by_page.get(number, []), picture))
            advance()
    page.write(_tail(inspected, blocks))


def _blocks(inspected: Inspected) -> list[dict[str, Any]]:
    """Return every block as a dictionary, with the positions of its chunks."""
    frame = inspected.structured
    blocks = shown_blocks(frame)
    links = chunks_of_blocks(frame, inspected.chunks)
    for block, index, cells, chunks in zip(
        blocks, frame["block_index"], frame["table_cells"], links, strict=True
    ):
        block["index"], block["chunks"] = int(index), chunks
        block["cells"] = cells if block["role"] == "table" else None
    return blocks


def _head(inspected: Inspected, blocks: list[dict[str, Any]]) -> str:
    colors = "".join(f".r-{role}{{--role:{color}}}" for role, color in ROLE_COLORS.items())
    style, script = _resource("html_page.css") + colors, _resource("html_page.js")
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; "
        f"script-src '{_digest(script)}'; base-uri 'none'; form-action 'none'"
    )
    parsed = inspected.parsed
    facts = ", ".join(
        [
            parsed.language,
            counted(parsed.page_count, "page"),
            counted(len(blocks), "block"),
            counted(len(inspected.chunks), "chunk"),
        ]
    )
    name = escape(inspected.file.name)
    warnings = "".join(f'<p class="warning">{escape(text)}</p>' for text in parsed.warnings)
    counts = Counter(block["role"] for block in blocks)
    legend = "".join(
        f'<label class="r-{role}"><input type="checkbox" data-role="{role}" checked>'
        f"{role.replace('_', ' ')} <small>{counts[role]}</small></label>"
        for role in ROLES
        if counts[role]
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{name}</title><style>{style}</style></head>
<body class="boxes">
<header>
<div class="line"><h1>{name}</h1><span class="facts">{escape(facts)}</span>
<span class="go">page <input id="page" type="number" min="1" aria-label="page" value="1"></span>
</div>
<div class="line switches">
<label><input type="checkbox" data-switch="boxes" checked>boxes</label>
<label><input type="checkbox" data-switch="order">reading order</label>
<label><input type="checkbox" data-switch="chunks">chunks</label>
<span class="legend">{legend}</span>
<span class="keys"><kbd>j</kbd> <kbd>k</kbd> page, <kbd>n</kbd> <kbd>p</kbd> chunk, \
<kbd>Esc</kbd> close</span>
</div>
</header>
<nav aria-label="Outline and chunks">
<details open><summary>Outline</summary>{_outline(blocks)}</details>
<details id="chunks"><summary>Chunks</summary><ol></ol></details>
</nav>
<main>{warnings}<noscript><p class="warning">Pictures and boxes need JavaScript; text and outline
do not.</p></noscript>
"""


def _outline(blocks: list[dict[str, Any]]) -> str:
    lines = [
        f'<li class="l{min(6, block["level"] or 1)}"><a href="#b{block["index"]}">'
        f"{escape(one_line(block['text']))}</a> <small>{block['page']}</small></li>\n"
        for block in blocks
        if block["role"] in ("title", "heading")
    ]
    return f"<ul>{''.join(lines)}</ul>" if lines else '<p class="note">no headings</p>'


def _page(
    number: int, blocks: list[dict[str, Any]], picture: Picture | str | None
) -> Iterator[str]:
    """Yield a page's section: a place for the picture, the text, and data for both."""
    yield f'<section id="p{number}" class="{"flow" if picture is None else "sheet"}">\n'
    yield f'<h2><a href="#p{number}">page {number}</a></h2>\n'
    if isinstance(picture, Picture):
        yield (
            f'<svg viewBox="0 0 {picture.width} {picture.height}" role="img" '
            f'preserveAspectRatio="xMinYMin" aria-label="Picture of page {number}"></svg>\n'
            f'<script type="text/plain" data-media="{picture.media_type}">'
            f"{base64.b64encode(picture.data).decode('ascii')}</script>\n"
        )
    elif picture is not None:
        yield f'<p class="warning">{escape(picture)}</p>\n'
    yield '<div class="text">\n'
    for start in range(0, len(blocks), PART):
        yield '<div class="part">\n'
        yield from map(_block, blocks[start : start + PART])
        yield "</div>\n"
    yield "</div>\n"
    data = [
        [
            b["index"],
            ROLES.index(b["role"]),
            *b["box"],
            b["level"],
            b["breadcrumb_trail"],
            b["rule"],
        ]
        for b in blocks
    ]
    yield f'<script type="application/json">{_json(data)}</script>\n</section>\n'


def _block(block: dict[str, Any]) -> str:
    if block["cells"] is not None and len(block["cells"]):
        inner = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in block["cells"]
        )
        inner = f"<table>{inner}</table>"
    else:
        text = block["text"]
        inner = escape(_LEADERS.sub(" … ", text) if block["role"] == "contents_entry" else text)
    chunks = block["chunks"]
    odd = " odd" if chunks and chunks[0] % 2 else ""
    level = f" l{min(6, block['level'])}" if block["level"] else ""
    return (
        f'<div id="b{block["index"]}" class="b r-{block["role"]}{level}{odd}" '
        f'data-chunks="{" ".join(map(str, chunks))}">{inner}</div>\n'
    )


def _tail(inspected: Inspected, blocks: list[dict[str, Any]]) -> str:
    data = {"roles": ROLES, "chunks": _chunks(inspected.chunks, blocks)}
    return f"""</main>
<aside id="details" hidden aria-live="polite"></aside>
<script type="application/json" id="data">{_json(data)}</script>
<script>{_resource("html_page.js")}</script>
</body></html>
"""


def _chunks(chunks: pd.DataFrame, blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what the page shows of each chunk, with its blocks and its boxes on pages."""
    members: dict[int, list[int]] = {}
    for block in blocks:
        for position in block["chunks"]:
            members.setdefault(position, []).append(block["index"])
    names = ("chunk_index", "kind", "breadcrumb_trail", "content", "token_count", "page_start")
    columns = (chunks[name] for name in (*names, "page_end", "regions"))
    return [
        {
            "number": int(number),
            "kind": kind,
            "trail": trail,
            "content": content,
            "tokens": int(tokens),
            "first": int(first),
            "last": int(last),
            "boxes": [[r["page"], r["x0"], r["y0"], r["x1"], r["y1"]] for r in regions],
            "blocks": members.get(position, []),
        }
        for position, (number, kind, trail, content, tokens, first, last, regions) in enumerate(
            zip(*columns, strict=True)
        )
    ]


def _json(value: Any) -> str:
    """Return JSON that can neither end the script element around it nor begin a comment in it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _resource(name: str) -> str:
    return resources.files("rag_pipeline.inspection").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """Return the Content Security Policy (level 3) source expression of an inline element."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
