"""Structure of real documents: breadcrumbs, headings, reading order, tables; speed and memory.

    python -m benchmarks.structure [--quick] [--json]

`manuals_outline`: headings against the bookmarks that were taken out of the PDFs (R, P, F1, and BC:
share of headings whose whole breadcrumb trail is right). `odl_bench`: Markdown of single pages (NID
reading order, TEDS tables, MHS headings). The scorers come with the data. Peers run beside, each in
a process of its own, where they are installed; all times are CPU seconds of one process.

The scorers need `pip install --group bench`. Peers and scorers may live in another environment:
`RAG_BENCH_PYTHON=/path/to/python`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.common import PROJECT_DIR, arguments, bench_data, print_report
from benchmarks.structure_engines import NOT_INSTALLED, PEERS

OURS = "rag_pipeline"
WITH_GOLD = "rag_pipeline, gold as bookmarks"
QUICK_MANUALS = ("nrpe", "simh-faq", "cdhit", "gpredict", "debinst-zh")
QUICK_PAGES = 30
LONG_PAGES = 2000


def main() -> None:
    """Run all engines over both sets, score, print one table a set."""
    options = arguments(__doc__)
    data = bench_data()
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        manuals = _manuals(data / "manuals_outline", work / "manuals", options.quick, figures)
        pages = _single_pages(data / "odl_bench", work / "pages", options.quick, figures)
        if not options.quick:
            figures["memory.2000_pages_mb"] = _memory(data / "manuals_outline", work)
    if options.json:
        print_report("structure", [], [], figures, True)
        return
    for title, columns, rows in (*manuals, *pages):
        print_report(title, columns, rows, {}, False)
        print()
    if "memory.2000_pages_mb" in figures:
        print(f"Peak memory on {LONG_PAGES:,} pages: {figures['memory.2000_pages_mb']:.0f} MB")


Table = tuple[str, list[str], list[list[Any]]]


def _manuals(data: Path, work: Path, quick: bool, figures: dict[str, Any]) -> list[Table]:
    manifest = {entry["name"]: entry for entry in _read(data / "manifest.json")}
    names = list(QUICK_MANUALS) if quick else []
    gold = _subset(data / "gold", work / "gold", names, "json")
    rows: list[list[Any]] = []
    documents: dict[str, dict[str, Any]] = {}
    for engine in (OURS, WITH_GOLD, *PEERS):
        run = _run(engine, data / "pdf", work / engine, names)
        if run is None:
            rows.append([engine, *["not installed"] * 6])
            continue
        scores = _score(data.parent / "outline_score.py", work / engine, gold)
        macro = scores["macro"]
        speed = _speed(run)
        if engine == OURS:
            documents = scores["documents"]
        values = [macro["R"], macro["P"], macro["F1"], macro["BC"], speed, run["peak_mb"]]
        rows.append([engine, *values])
        for name, value in zip(
            ("R", "P", "F1", "BC", "pages_per_second", "peak_mb"), values, strict=True
        ):
            figures[f"manuals.{engine}.{name}"] = value
    ratios = _ratios(figures, "manuals")
    detail = [
        [
            name,
            manifest[name]["language"],
            manifest[name]["producer"],
            manifest[name]["pages"],
            score["gold"],
            score["R"],
            score["F1"],
            score["BC"],
        ]
        for name, score in documents.items()
    ]
    for name, score in documents.items():
        figures[f"manuals.document.{name}.BC"] = score["BC"]
    return [
        ("manuals_outline, blind", ["engine", "R", "P", "F1", "BC", "pages/s", "peak MB"], rows),
        ("Ratios to peers in this run", ["peer", "pages/s", "peak memory"], ratios),
        (
            "By document",
            ["manual", "language", "producer", "pages", "gold", "R", "F1", "BC"],
            detail,
        ),
        ("By language", ["language", "documents", "F1", "BC"], _grouped(detail, 1)),
        ("By producer", ["producer", "documents", "F1", "BC"], _grouped(detail, 2)),
    ]


def _single_pages(data: Path, work: Path, quick: bool, figures: dict[str, Any]) -> list[Table]:
    names = sorted(path.stem for path in (data / "pdf").glob("*.pdf"))
    names = names[:: len(names) // QUICK_PAGES] if quick else []
    gold = _subset(data / "ground_truth", work / "gold", names, "md")
    rows: list[list[Any]] = []
    for engine in (OURS, *PEERS):
        run = _run(engine, data / "pdf", work / engine, names, furniture=True)
        if run is None:
            rows.append([engine, *["not installed"] * 4])
            continue
        mean = _score(data.parent / "markdown_score.py", work / engine, gold)["mean"]
        values = [mean[key] for key in ("overall", "nid", "teds", "mhs")]
        rows.append([engine, *values])
        for name, value in zip(("overall", "NID", "TEDS", "MHS"), values, strict=True):
            figures[f"odl_bench.{engine}.{name}"] = value
    return [("odl_bench", ["engine", "overall", "NID", "TEDS", "MHS"], rows)]


def _memory(data: Path, work: Path) -> float:
    """Peak memory of parsing and structure on one document of 2,000 pages, made of a manual."""
    import pypdfium2 as pdfium

    source = pdfium.PdfDocument(data / "pdf" / "hackrf.pdf")
    long = pdfium.PdfDocument.new()
    while len(long) < LONG_PAGES:
        long.import_pages(source, list(range(min(len(source), LONG_PAGES - len(long)))))
    (work / "long").mkdir()
    long.save(work / "long" / "long.pdf")
    run = _run(OURS, work / "long", work / "long_out", [])
    return float(run["peak_mb"]) if run else 0.0


def _python(engine: str) -> str:
    own = engine.startswith(OURS)
    return sys.executable if own else os.environ.get("RAG_BENCH_PYTHON", sys.executable)


def _run(
    engine: str, source: Path, target: Path, names: list[str], *, furniture: bool = False
) -> dict[str, Any] | None:
    """Run an engine in a process of its own; None where it is not installed.

    With `furniture` running heads and page numbers stay in the Markdown, as in the gold of pages.
    """
    command = [_python(engine), "-m", "benchmarks.structure_engines", engine]
    kept = "furniture" if furniture else "plain"
    process = subprocess.run(
        [*command, str(source), str(target), kept, *names],
        cwd=PROJECT_DIR,
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode == NOT_INSTALLED:
        return None
    if process.returncode:
        print(f"{engine} failed:\n{process.stderr[-2000:]}", file=sys.stderr)
        return None
    result: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return result


def _score(scorer: Path, predicted: Path, gold: Path) -> dict[str, Any]:
    """Run a scorer of the data set as it is."""
    out = predicted / "scores"
    python = os.environ.get("RAG_BENCH_PYTHON", sys.executable)
    process = subprocess.run(
        [python, str(scorer), str(predicted), str(gold), "--json", str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode:
        last = process.stderr.strip().splitlines()[-1:]
        sys.exit(f"{scorer.name} failed: {' '.join(last)}\n(pip install --group bench)")
    scores: dict[str, Any] = _read(out)
    return scores


def _subset(source: Path, target: Path, names: list[str], extension: str) -> Path:
    """The gold of some documents only, so that the others do not count as missing."""
    if not names:
        return source
    target.mkdir(parents=True)
    for name in names:
        (target / f"{name}.{extension}").symlink_to(source / f"{name}.{extension}")
    return target


def _speed(run: dict[str, Any]) -> float:
    documents = run["documents"].values()
    seconds = sum(document["seconds"] for document in documents)
    pages: float = sum(document["pages"] for document in documents)
    return pages / seconds if seconds else 0.0


def _ratios(figures: dict[str, Any], name: str) -> list[list[Any]]:
    """Our speed and memory over each peer's of the same run."""
    rows: list[list[Any]] = []
    for peer in PEERS:
        row: list[Any] = [peer]
        for figure in ("pages_per_second", "peak_mb"):
            theirs = figures.get(f"{name}.{peer}.{figure}")
            if theirs:
                ratio = figures[f"{name}.{OURS}.{figure}"] / theirs
                figures[f"{name}.ratio_to_{peer}.{figure}"] = ratio
                row.append(ratio)
        if len(row) > 1:
            rows.append(row)
    return rows


def _grouped(rows: list[list[Any]], column: int) -> list[list[Any]]:
    groups: dict[str, list[list[Any]]] = defaultdict(list)
    for row in rows:
        groups[row[column].split(" (")[0][:40]].append(row)
    return [
        [name, len(found), fmean(row[6] for row in found), fmean(row[7] for row in found)]
        for name, found in sorted(groups.items())
    ]


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
