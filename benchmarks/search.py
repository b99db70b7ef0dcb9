"""Search: speed at 200,000 and 1,000,000 chunks beside the naive way, and what it finds.

    python -m benchmarks.search [--quick] [--json] [--only speed|readers|quality]

The corpora are generated with a seed (`benchmarks.search_data`) into an embedded Postgres under
`.rag/benchmarks/search` and kept: the first run takes its time, a million chunks about an hour and
10 GB. `RAG_SEARCH_BENCHMARK` names another folder. `--only readers` gives them to two groups of
readers. `--quick` takes 20,000 chunks and a part of the questions, in under two minutes.

Milliseconds are of the wall clock, warm, without embedding the query; `CPU ms` is the processor
time of this process and of Postgres for one search, which other work hardly disturbs.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from benchmarks import search_quality as quality
from benchmarks.common import PROJECT_DIR, bench_data, print_report
from benchmarks.search_speed import measure_readers, measure_speed, opened
from rag_pipeline.settings import Settings
from rag_pipeline.store import embedded

SIZES = (200_000, 1_000_000)
QUICK_SIZES = (20_000,)
SETS = ("autorag_ko_dev", "chroma_chunking", "debian_guide", "manuals_dev")
COLUMNS = ["chunks", "what", "n", "p50 ms", "p95 ms", "CPU ms"]


def main() -> None:
    """Run what was asked for and print one table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a part of the data, < 2 minutes")
    parser.add_argument("--json", action="store_true", help="figures by name, as JSON")
    parser.add_argument("--only", choices=("speed", "readers", "quality"), help="one part of it")
    options = parser.parse_args()
    folder = Path(
        os.environ.get("RAG_SEARCH_BENCHMARK", PROJECT_DIR / ".rag" / "benchmarks" / "search")
    )
    maintenance = embedded.start(folder)
    rows: list[list[Any]] = []
    figures: dict[str, Any] = {}
    try:
        count = 20 if options.quick else 100
        for size in QUICK_SIZES if options.quick else SIZES:
            if options.only in (None, "speed"):
                measure_speed(maintenance, size, count, rows, figures)
            if options.only in (None, "readers"):
                measure_readers(maintenance, size, count, rows, figures)
        if options.only in (None, "quality"):
            _quality(maintenance, options.quick, rows, figures)
    finally:
        embedded.stop(folder)
    _goals(rows, figures)
    print_report("Search", COLUMNS, rows, figures, options.json)


def _quality(maintenance: str, quick: bool, rows: list[list[Any]], figures: dict[str, Any]) -> None:
    def note(name: str, count: int, value: float) -> None:
        rows.append(["", name, count, value, "", ""])
        figures[name] = value

    folder = bench_data()
    for name in SETS[:2] if quick else SETS:
        pages = quality.read_pages(folder / name)
        questions = quality.read_questions(folder / name)[: 50 if quick else 200]
        with opened(maintenance, f"quality_{name}", fresh=True) as database:
            texts = quality.land_pages(database, name, pages)
            overlap = quality.overlap_with_bm25s(database, pages, questions)
            note(f"overlap@10 with bm25s, {name}", len(questions), overlap)
            if name == SETS[1]:
                count = 200 if quick else 1_000
                note("typing errors corrected in the first 3", count,
                     quality.corrected_typos(database, texts, count))  # fmt: skip
                written = quality.search_while_writing(
                    database, Settings(), texts, 1_000 if quick else 10_000
                )
                for figure, value in written.items():
                    note(f"20 threads while chunks are written: {figure}", 20, value)
    with opened(maintenance, "quality_codes", fresh=True) as database:
        for name, share in quality.found_codes(database).items():
            note(f"part numbers in the first 5, by {name}", 200, share)
    with opened(maintenance, "quality_particles", fresh=True) as database:
        found, total = quality.found_particles(database)
        note("Korean particle pairs found both ways", total, found / total)


def _goals(rows: list[list[Any]], figures: dict[str, Any]) -> None:
    """Add the ratios that the goals are about."""
    fused = {size: figures.get(f"{size}.fused.p95_ms") for size in SIZES}
    for size in SIZES:
        if fused[size] is not None:
            for unit in ("p50_ms", "cpu_ms"):
                ratio = figures[f"{size}.naive fused.{unit}"] / figures[f"{size}.fused.{unit}"]
                rows.append([size, f"naive fused / fused, by {unit}", "", ratio, "", ""])
                figures[f"{size}.naive_ratio.{unit}"] = ratio
    if all(value is not None for value in fused.values()):
        for unit in ("p95_ms", "cpu_ms"):
            growth = figures[f"{SIZES[1]}.fused.{unit}"] / figures[f"{SIZES[0]}.fused.{unit}"]
            rows.append(["", f"fused, growth from {SIZES[0]:,} to {SIZES[1]:,}, by {unit}", "",
                         growth, "", ""])  # fmt: skip
            figures[f"growth.{unit}"] = growth


if __name__ == "__main__":
    main()
