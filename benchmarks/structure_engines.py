"""One engine over a folder of PDFs: Markdown and headings per document, CPU time, peak memory.

    python -m benchmarks.structure_engines ENGINE IN_DIR OUT_DIR furniture|plain [NAME …]

Run as a process of its own by `benchmarks.structure`, so that memory and time are the engine's. The
peers are optional and are installed by whoever measures: `pip install liteparse`,
`opendataloader-pdf` (needs Java), `pymupdf4llm`. Prints one JSON object; exit status 3 says that
the engine is not installed.
"""

from __future__ import annotations

import importlib.util
import json
import re
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

NOT_INSTALLED = 3
PACKAGES = {
    "rag_pipeline": "rag_pipeline",
    "rag_pipeline, gold as bookmarks": "rag_pipeline",
    "liteparse": "liteparse",
    "opendataloader-pdf": "opendataloader_pdf",
    "pymupdf4llm": "pymupdf4llm",
}
PEERS = ("liteparse", "opendataloader-pdf", "pymupdf4llm")
PAGE_MARK = "@@page %page-number%@@"
Heading = list[object]
Result = tuple[str, list[Heading], int]
_ATX = re.compile(r"^(#{1,6})\s+(.*)$", re.MULTILINE)


def main() -> None:
    """Run the engine over the files and print what it took."""
    engine, source, target, furniture, *names = sys.argv[1:]
    if importlib.util.find_spec(PACKAGES[engine]) is None:
        sys.exit(NOT_INSTALLED)
    out = Path(target)
    out.mkdir(parents=True, exist_ok=True)
    files = [path for path in sorted(Path(source).glob("*.pdf")) if not names or path.stem in names]
    run = ENGINES[engine]
    keep = furniture == "furniture"
    documents: dict[str, dict[str, float]] = {}
    for path, (markdown, headings, pages), seconds in run(files, keep):
        (out / f"{path.stem}.md").write_text(markdown, encoding="utf-8")
        (out / f"{path.stem}.json").write_text(json.dumps(headings), encoding="utf-8")
        documents[path.stem] = {"pages": pages, "seconds": seconds}
    peak = max(
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    print(json.dumps({"documents": documents, "peak_mb": peak / 1024}))


def _timed(
    files: list[Path], read: Callable[[Path], Result]
) -> Iterator[tuple[Path, Result, float]]:
    """CPU seconds of this process per file. A file that fails counts as empty."""
    for path in files:
        start = time.process_time()
        try:
            result = read(path)
        except Exception as error:
            print(f"{path.name}: {type(error).__name__}: {error}", file=sys.stderr)
            result = ("", [], 1)
        yield path, result, time.process_time() - start


def _ours(
    files: list[Path], keep: bool, gold: Path | None = None
) -> Iterator[tuple[Path, Result, float]]:
    from rag_pipeline.parsing import parse_file
    from rag_pipeline.parsing.pdf.native.bookmarks import Entry, add_level_hints
    from rag_pipeline.settings import ParsingSettings, StructureSettings
    from rag_pipeline.structure import headings_of, infer_structure, to_markdown

    settings = ParsingSettings(ignore_outline=True)

    def read(path: Path) -> Result:
        document = parse_file(path, settings)
        blocks = document.blocks
        if gold is not None:
            marks = json.loads((gold / f"{path.stem}.json").read_text(encoding="utf-8"))
            entries = [Entry(level + 1, title, page) for level, title, page in marks]
            blocks, _ = add_level_hints(blocks, entries, settings.outline_min_agreement)
        structured = infer_structure(blocks, StructureSettings())
        markdown = to_markdown(structured, keep_furniture=keep)
        return markdown, headings_of(structured), document.page_count

    if files:  # imports and lazily built tables are no part of the work
        read(files[0])
    return _timed(files, read)


def _with_gold(files: list[Path], keep: bool) -> Iterator[tuple[Path, Result, float]]:
    return _ours(files, keep, files[0].parent.parent / "gold" if files else None)


def _liteparse(files: list[Path], keep: bool) -> Iterator[tuple[Path, Result, float]]:
    from liteparse import LiteParse

    parser = LiteParse(
        output_format="markdown",
        ocr_enabled=False,
        quiet=True,
        keep_headers_footers=keep,
        num_workers=1,
    )

    def read(path: Path) -> Result:
        pages = parser.parse(str(path)).pages
        parts = [(page.page_num, page.markdown or "") for page in pages]
        return "\n\n".join(part for _, part in parts), _atx_headings(parts), len(parts)

    return _timed(files, read)


def _pymupdf4llm(files: list[Path], _keep: bool) -> Iterator[tuple[Path, Result, float]]:
    import pymupdf4llm

    def read(path: Path) -> Result:
        pages = pymupdf4llm.to_markdown(str(path), page_chunks=True, show_progress=False)
        parts = [(number, page["text"]) for number, page in enumerate(pages, start=1)]
        return "\n\n".join(part for _, part in parts), _atx_headings(parts), len(parts)

    return _timed(files, read)


def _opendataloader(files: list[Path], keep: bool) -> Iterator[tuple[Path, Result, float]]:
    """A Java program: one call for all files, its CPU time shared out by pages."""
    import tempfile

    import opendataloader_pdf

    with tempfile.TemporaryDirectory() as folder:
        start = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        opendataloader_pdf.convert(
            [str(path) for path in files],
            output_dir=folder,
            format="markdown",
            quiet=True,
            include_header_footer=keep,
            markdown_page_separator=PAGE_MARK,
        )
        seconds = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - start
        results = {path: _split_pages(Path(folder) / f"{path.stem}.md") for path in files}
    total = sum(pages for _, _, pages in results.values()) or 1
    for path, result in results.items():
        yield path, result, seconds * result[2] / total


def _split_pages(path: Path) -> Result:
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    pieces = re.split(r"@@page (\d+)@@", text)
    parts = [(1, pieces[0])] if pieces[0].strip() else []
    parts += [(int(number), part) for number, part in zip(pieces[1::2], pieces[2::2], strict=True)]
    pages = max((number for number, _ in parts), default=1)
    return "\n\n".join(part for _, part in parts), _atx_headings(parts), pages


def _atx_headings(parts: list[tuple[int, str]]) -> list[Heading]:
    return [
        [len(match[1]) - 1, match[2].strip("*_ #"), page]
        for page, text in parts
        for match in _ATX.finditer(text)
    ]


ENGINES: dict[str, Callable[[list[Path], bool], Iterator[tuple[Path, Result, float]]]] = {
    "rag_pipeline": _ours,
    "rag_pipeline, gold as bookmarks": _with_gold,
    "liteparse": _liteparse,
    "opendataloader-pdf": _opendataloader,
    "pymupdf4llm": _pymupdf4llm,
}

if __name__ == "__main__":
    main()
