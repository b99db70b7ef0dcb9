"""Tables of real and of made documents against their gold: TEDS, DET and false tables.

    python -m benchmarks.structure_tables [--folds N]

Three sets: `tables_real` (the ICDAR 2013 competition, and tables whose source is known) and
`tables_synth` (styles of tables, and aligned text that is no table). With `--folds`, figures of N
groups of families or documents are printed as well: a rule that helps only the group it was chosen
on is no rule. `RAG_BENCH_PYTHON` names the environment of scorers and peers.
"""

from __future__ import annotations

import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.common import bench_data, print_report
from benchmarks.structure_runs import run_engine, run_scorer

ENGINES = ("rag_pipeline", "liteparse")
SETS = {
    "tables_synth": ("tables_synth/pdf", "tables_synth/gold"),
    "ICDAR 2013": ("tables_real/pdf", "tables_real/gold"),
    "tables from source": ("outlines2/pdf", "tables_real/gold_from_source"),
}
"""Folders of the PDFs and of the gold, by name of the set."""
COLUMNS = ["set", "engine", "TEDS", "DET", "false tables"]
Scores = dict[str, dict[str, Any]]


def tables(
    data: Path, work: Path, figures: dict[str, Any], folds: int = 0
) -> list[tuple[str, list[str], list[list[Any]]]]:
    """Run the engines over all sets of tables; return titled tables of figures.

    `figures` is filled by name. A peer that is not installed is left out.
    """
    rows: list[list[Any]] = []
    by_fold: list[list[Any]] = []
    for name, (pdfs, gold) in SETS.items():
        wanted = [path.stem for path in sorted((data / gold).glob("*.json"))]
        for engine in ENGINES:
            target = work / name.replace(" ", "_") / engine
            if run_engine(engine, data / pdfs, target, wanted) is None:
                continue
            documents = run_scorer(data / "table_score.py", target, data / gold)["documents"]
            found = _means(documents)
            rows.append([name, engine, *found])
            for label, value in zip(("TEDS", "DET", "false"), found, strict=True):
                figures[f"{name}.{engine}.{label}"] = value
            for fold in range(folds):
                part = {one: documents[one] for one in sorted(documents)[fold::folds]}
                by_fold.append([f"{name}, group {fold + 1}", engine, *_means(part)])
    reports = [("Tables", COLUMNS, rows)]
    return [*reports, ("Tables by group", COLUMNS, by_fold)] if folds else reports


def _means(documents: Scores) -> tuple[float, float, int]:
    """TEDS and DET over documents with gold tables; false tables of all."""
    scored = [one for one in documents.values() if one["gold"]]
    false = sum(one["false"] for one in documents.values())
    if not scored:
        return float("nan"), float("nan"), false
    return fmean(one["TEDS"] for one in scored), fmean(one["DET"] for one in scored), false


def main() -> None:
    """Print the figures of all sets."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=0, help="groups of families or documents")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for title, columns, rows in tables(bench_data(), Path(folder), {}, options.folds):
            print_report(title, columns, rows, {}, False)
            print()


if __name__ == "__main__":
    sys.exit(main())
