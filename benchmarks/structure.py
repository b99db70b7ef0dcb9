"""Structure of real documents: breadcrumbs, headings, reading order, tables; speed and memory.

    python -m benchmarks.structure [--quick] [--folds] [--json]

`manuals_outline` and `outlines2`: headings against the bookmarks that were taken out of the PDFs
(R, P, F1; Pl: precision down to the gold's depth; BC: share of headings whose whole breadcrumb
trail is right), publishers' books apart. `odl_bench`: Markdown of single pages (NID reading order,
TEDS tables, MHS headings). `tables_real`, `tables_synth`: cells and spans of tables
(`structure_tables`). The scorers come with the data. Peers run beside, each in a process of
its own, where they are installed; all times are CPU seconds of one process.

`--folds` scores both sets of outlines by five folds over their template families: settings are
chosen on four folds and scored on the fifth (`structure_outlines.held_out`), beside the plain
figures. `structure_worst` draws where the worst documents go wrong.

The scorers need `pip install --group bench`. Peers and scorers may live in another environment:
`RAG_BENCH_PYTHON=/path/to/python`; `--folds` runs the scorer in this one. `RAG_BENCH_CACHE` keeps
the parsed blocks of the outlines between runs.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.common import arguments, bench_data, print_report
from benchmarks.structure_engines import PEERS
from benchmarks.structure_outlines import BOOKS, FIGURES, groups, held_out, means, scores
from benchmarks.structure_runs import OURS, read_json, run_engine, run_scorer
from benchmarks.structure_steps import step_rows
from benchmarks.structure_tables import tables as table_sets

WITH_GOLD = "rag_pipeline, gold as bookmarks"
QUICK_OUTLINES = (
    *("nrpe", "simh-faq", "cdhit", "gpredict", "debinst-zh"),
    *("groff-mom", "muttprint-de", "top10-2007-en", "china-competition"),
)
QUICK_PAGES = 30
LONG_PAGES = 2000


def main() -> None:
    """Run all engines over both sets, score, print one table a set."""
    options = arguments(__doc__, switches=["folds"])
    data = bench_data()
    figures: dict[str, Any] = {}
    if options.folds:
        tables = _folds(data, figures)
        _print(tables, figures, options.json)
        return
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        outlines = [
            *_outlines(data / "manuals_outline", work / "manuals", options.quick, figures),
            *_outlines(data / "outlines2", work / "outlines2", options.quick, figures),
        ]
        pages = _single_pages(data / "odl_bench", work / "pages", options.quick, figures)
        if not options.quick:
            pages += table_sets(data, work / "tables", figures)
            figures["memory.2000_pages_mb"] = _memory(data / "manuals_outline", work)
    steps = step_rows(data)
    figures["steps.counted"], figures["steps.found"] = steps[-1][1:]
    tables = [*outlines, *pages, ("Steps", ["manual", "counted", "found"], steps)]
    _print(tables, figures, options.json)
    if not options.json and "memory.2000_pages_mb" in figures:
        print(f"Peak memory on {LONG_PAGES:,} pages: {figures['memory.2000_pages_mb']:.0f} MB")


Table = tuple[str, list[str], list[list[Any]]]


def _print(tables: list[Table], figures: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_report("structure", [], [], figures, True)
        return
    for title, columns, rows in tables:
        print_report(title, columns, rows, {}, False)
        print()


def _folds(data: Path, figures: dict[str, Any]) -> list[Table]:
    """Plain figures and those by folds, a row a group of documents."""
    plain = scores(data)
    kept, folds = held_out(data)
    rows: list[list[Any]] = []
    for how, found in (("plain", plain), ("by folds", kept)):
        for name, members in groups(found):
            values = means(members)
            rows.append([name, how, len(members), *values])
            for figure, value in zip(FIGURES, values, strict=True):
                figures[f"{name}.{how}.{figure}"] = value
    return [
        ("Outlines, plain and by folds", ["set", "how", "documents", *FIGURES], rows),
        ("Folds", ["fold", "families", "documents", "setting", "F1", "BC"], folds),
    ]


def _outlines(data: Path, work: Path, quick: bool, figures: dict[str, Any]) -> list[Table]:
    """All engines over one set of documents with bookmarks; publishers' books apart."""
    manifest = {entry["name"]: entry for entry in read_json(data / "manifest.json")}
    names = [name for name in QUICK_OUTLINES if name in manifest] if quick else []
    gold = _subset(data / "gold", work / "gold", names, "json")
    rows: list[list[Any]] = []
    documents: dict[str, dict[str, Any]] = {}
    for engine in (OURS, WITH_GOLD, *PEERS):
        run = run_engine(engine, data / "pdf", work / engine, names)
        if run is None:
            rows.append([engine, "", *["not installed"] * 7])
            continue
        scored = run_scorer(data.parent / "outline_score.py", work / engine, gold)["documents"]
        if engine == OURS:
            documents = scored
        books = [n for n in scored if manifest[n].get("family", "").startswith(BOOKS)]
        others = [n for n in scored if n not in books]
        parts = (
            {"": [*scored]} if not books else {"": [*scored], "no books": others, "books": books}
        )
        for part, members in parts.items():
            values = [fmean(scored[n][figure] for n in members) for figure in FIGURES]
            run_figures = [_speed(run), run["peak_mb"]] if not part else ["", ""]
            rows.append([engine, part, *values, *run_figures])
            key = ".".join(filter(None, (data.name, engine, part)))
            for name, value in zip(FIGURES, values, strict=True):
                figures[f"{key}.{name}"] = value
        figures[f"{data.name}.{engine}.pages_per_second"] = _speed(run)
        figures[f"{data.name}.{engine}.peak_mb"] = run["peak_mb"]
    for name, score in documents.items():
        figures[f"{data.name}.document.{name}.BC"] = score["BC"]
    detail = [
        [
            name,
            manifest[name]["language"],
            manifest[name].get("family", manifest[name]["producer"]),
            manifest[name]["pages"],
            score["gold"],
            score["R"],
            score["F1"],
            score["BC"],
        ]
        for name, score in documents.items()
    ]
    columns = ["engine", "part", *FIGURES, "pages/s", "peak MB"]
    return [
        (f"{data.name}, blind", columns, rows),
        (
            "Ratios to peers in this run",
            ["peer", "pages/s", "peak MB"],
            _ratios(figures, data.name),
        ),
        (
            "By document",
            ["document", "language", "family", "pages", "gold", "R", "F1", "BC"],
            detail,
        ),
        ("By language", ["language", "documents", "F1", "BC"], _grouped(detail, 1)),
        ("By family", ["family", "documents", "F1", "BC"], _grouped(detail, 2)),
    ]


def _single_pages(data: Path, work: Path, quick: bool, figures: dict[str, Any]) -> list[Table]:
    names = sorted(path.stem for path in (data / "pdf").glob("*.pdf"))
    names = names[:: len(names) // QUICK_PAGES] if quick else []
    gold = _subset(data / "ground_truth", work / "gold", names, "md")
    rows: list[list[Any]] = []
    for engine in (OURS, *PEERS):
        run = run_engine(engine, data / "pdf", work / engine, names, furniture=True)
        if run is None:
            rows.append([engine, *["not installed"] * 4])
            continue
        mean = run_scorer(data.parent / "markdown_score.py", work / engine, gold)["mean"]
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
    run = run_engine(OURS, work / "long", work / "long_out", [])
    return float(run["peak_mb"]) if run else 0.0


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


if __name__ == "__main__":
    main()
