"""Syncs: how long nothing, one change and everything take, beside four peers; and after kills.

    python -m benchmarks.sync [--quick] [--json] [--only small|many|ingest|share|memory|faults]

`RAG_BENCH_PYTHON` names an environment with the peers (see `benchmarks.sync_peers`); where it is
not set, their rows are left out. The embedder is a stub everywhere. Stores lie in a folder of the
system's temporary one and are used again. CPU seconds stand beside wall seconds: they tell where
other work was running. `--quick`: a thousand documents for ten thousand, the first sync of one
guide, one kill, no memory.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg
import pypdfium2
import pypdfium2.raw as pdfium
from psycopg import sql

from benchmarks.common import PROJECT_DIR, arguments, bench_data, print_report, served
from benchmarks.sync_faults import fault_run
from benchmarks.sync_peers import NOT_INSTALLED, PACKAGES
from benchmarks.sync_project import (
    Measured,
    Project,
    make_document,
    make_documents,
)
from benchmarks.sync_share import dagster_share, definitions_load
from benchmarks.sync_small import library_seconds, small_steps
from benchmarks.sync_store import fill

Rows = list[list[Any]]
Figures = dict[str, Any]
SYNC = """
import sys, time
import openai, psutil
import rag_pipeline.dagster_storage
from rag_pipeline.assets.instances import open_instance
from rag_pipeline.assets.launch import run_sync
from rag_pipeline.definitions import defs
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.source_tables import register_roots
from rag_pipeline.sync.sources.places import given_root
start, cpu = time.perf_counter(), time.process_time()
settings = Settings.load()
database = Database.open(settings)
root = given_root(sys.argv[1])
with database.connection() as connection:
    register_roots(connection, [root])
with open_instance(settings) as instance:
    summary = run_sync(defs, instance, settings, database, [root.root])
assert not summary.aborted and not summary.failures
seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
for process in psutil.Process().children(recursive=True):
    cpu += sum(process.cpu_times()[:4])  # its own, and of the workers that have ended
print(seconds, cpu)
"""
"""What `rag sync` does, timed from after the imports, as the peers are; the workers' own count."""
STEPS = ("first", "edited page", "renamed", "unchanged")
COLUMNS = ["what", "engine", "seconds", "CPU seconds", "figure", "unit", "ratio", "aim"]


def main() -> None:
    """Measure everything and print one table."""
    parts = {
        "small": _small,
        "many": _many,
        "ingest": _first_ingest,
        "share": _share,
        "memory": _memory,
        "faults": _faults,
    }
    options = arguments(__doc__, tuple(parts))
    base = Path(tempfile.gettempdir()) / "rag_benchmark_sync"
    rows: Rows = []
    figures: Figures = {}
    with served("benchmarks.sync_project") as service:
        for name, part in parts.items():
            if options.only in (None, name):
                part(base, service, options.quick, rows, figures)
    print_report("Syncs", COLUMNS, rows, figures, options.json)


def _small(base: Path, service: str, quick: bool, rows: Rows, figures: Figures) -> None:
    """Three hundred one-page documents: all, none, one edited, one deleted."""
    count = 100 if quick else 300
    aims = {"first": "<= 6 s", "nothing changed": "<= 1.2 s", "one edited": "<= 2.5 s"}
    for step in small_steps(base / f"small_{count}", service, count):
        what = f"{step.name}, {count}"
        aim = aims.get(step.name, "<= 2 s")
        rows.append(_row(what, step.measured, step.rows, "rows written", aim))
        rows.append([what, "rag_pipeline", "", "", step.tree_mb, "MB, all processes", "", "<= 500"])
        figures[f"small.{step.name}.seconds"] = step.measured.wall
        figures[f"small.{step.name}.cpu_seconds"] = step.measured.cpu
        figures[f"small.{step.name}.rows_written"] = step.rows
        figures[f"small.{step.name}.peak_mb"] = step.tree_mb
    seconds = library_seconds(base / f"library_{count}", service, count)
    rows.append([f"first, {count}, RagSystem", "rag_pipeline", seconds, "", "", "", "", "<= 3 s"])
    figures["small.library_seconds"] = seconds


def _many(base: Path, service: str, quick: bool, rows: Rows, figures: Figures) -> None:
    """Nothing changed, one document changed, among ten thousand; what 300 cost beyond the start."""
    count = 1_000 if quick else 10_000
    folder = base / f"many_{count}"
    manuals, project = folder / "manuals", Project(folder / "project", service)
    fill(project, manuals, count)
    before = project.writes()
    nothing = project.sync(str(manuals))
    written = project.writes() - before
    number = count // 2
    make_document(manuals / f"manual_{number:05}.pdf", number, edition=int(time.time()))
    one = project.sync(str(manuals))
    project.stop()
    for name, measured, aim in (("nothing changed", nothing, 10), ("one changed", one, 15)):
        done = measured.summary["documents_done"]
        rows.append(_row(f"{name} of {count:,}", measured, done, "documents done", f"<= {aim} s"))
    rows.append([f"rows written, nothing of {count:,}", "rag_pipeline", "", "", written, "", "", 0])
    figures |= {
        "no_op_seconds": nothing.wall,
        "no_op_cpu_seconds": nothing.cpu,
        "no_op_rows_written": written,
        "no_op_peak_mb": nothing.main_mb,
        "one_changed_seconds": one.wall,
        "one_changed_cpu_seconds": one.cpu,
    }
    if quick:
        return
    start, some = (_no_op(base / f"no_op_{n}", service, n) for n in (1, 300))
    beyond = some.summary["seconds"] - start.summary["seconds"]
    rows.append(
        ["300 unchanged, beyond Dagster's start", "rag_pipeline", beyond, "", "", "", "", 0.5]
    )
    figures["unchanged_300_seconds_beyond_start"] = beyond


def _no_op(folder: Path, service: str, count: int) -> Measured:
    project = Project(folder / "project", service)
    fill(project, folder / "manuals", count)
    measured = project.sync(str(folder / "manuals"))
    project.stop()
    return measured


def _first_ingest(base: Path, service: str, quick: bool, rows: Rows, figures: Figures) -> None:
    """A first sync of debian_guide; then an edited page, a renamed file, and nothing."""
    corpus = sorted((bench_data() / "debian_guide" / "corpus").glob("*.pdf"))
    corpus = corpus[:1] if quick else corpus
    pages = sum(len(pypdfium2.PdfDocument(path)) for path in corpus)
    results: dict[str, dict[str, dict[str, float]]] = {}
    folder = base / "ingest"
    shutil.rmtree(folder, ignore_errors=True)
    project = Project(folder / "rag_pipeline" / "project", service)
    for engine in ("rag_pipeline", *PACKAGES):
        manuals = folder / engine / "manuals"
        manuals.mkdir(parents=True)
        for path in corpus:
            shutil.copy(path, manuals)
        steps: dict[str, dict[str, float]] = {}
        for step in STEPS[:1] if quick else STEPS:
            if step == "edited page":
                edit_page(manuals / corpus[0].name)
            elif step == "renamed":
                (manuals / corpus[0].name).rename(manuals / "renamed.pdf")
            found = (
                _ours(project, manuals)
                if engine == "rag_pipeline"
                else _peer(engine, manuals, project.url, folder / engine / "state")
            )
            if found is None:
                break
            steps[step] = found
            print(f"{engine}, {step}: {found['seconds']:.1f} s", file=sys.stderr)
        if steps:
            results[engine] = steps
    project.stop()
    best = max(
        (pages / steps["first"]["seconds"] for name, steps in results.items() if name in PACKAGES),
        default=None,
    )
    for engine, steps in results.items():
        for step, found in steps.items():
            rate = pages / found["seconds"]
            is_first = step == "first"
            ratio = rate / best if best and is_first and engine == "rag_pipeline" else ""
            rows.append(
                [
                    f"{pages} pages, {step}",
                    engine,
                    found["seconds"],
                    found["cpu"],
                    rate if is_first else found["embedded"],
                    "pages/s" if is_first else "texts embedded",
                    ratio,
                    {"first": ">= 3 x", "edited page": "<= 1", "renamed": 0}.get(step, ""),
                ]
            )
            figures[f"{engine}.{step}.seconds"] = found["seconds"]
            figures[f"{engine}.{step}.cpu_seconds"] = found["cpu"]
            figures[f"{engine}.{step}.texts_embedded"] = found["embedded"]
    if best:
        ours = pages / results["rag_pipeline"]["first"]["seconds"]
        figures["pages_per_second_to_best_peer"] = ours / best


def _ours(project: Project, manuals: Path) -> dict[str, float]:
    before = _cached(project.url)
    seconds, cpu = (float(figure) for figure in project.python(SYNC, str(manuals)).split())
    return {"seconds": seconds, "cpu": cpu, "embedded": _cached(project.url) - before}


def _cached(url: str) -> int:
    """Texts that were ever embedded: each is kept."""
    with psycopg.connect(url) as connection:
        if connection.execute("SELECT to_regclass('embedding_cache')").fetchone() == (None,):
            return 0
        return int(connection.execute("SELECT count(*) FROM embedding_cache").fetchone()[0])  # type: ignore[index]


def _peer(engine: str, manuals: Path, url: str, state: Path) -> dict[str, float] | None:
    python = os.environ.get("RAG_BENCH_PYTHON")
    if not python:
        return None
    name = f"peer_{engine}"
    own = url.replace("/rag?", f"/{name}?")
    if not state.exists():
        with psycopg.connect(url, autocommit=True) as connection:
            for command in ("DROP DATABASE IF EXISTS {}", "CREATE DATABASE {}"):
                connection.execute(sql.SQL(command).format(sql.Identifier(name)))
        with psycopg.connect(own) as connection:
            connection.execute("CREATE EXTENSION vector")
    done = subprocess.run(
        [python, "-m", "benchmarks.sync_peers", engine, str(manuals), own, str(state)],
        cwd=PROJECT_DIR,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == NOT_INSTALLED:
        return None
    if done.returncode != 0:
        print(f"{engine}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return dict(json.loads(done.stdout.splitlines()[-1]))


def edit_page(path: Path) -> None:
    """Write a sentence onto a page in the middle of a PDF."""
    document = pypdfium2.PdfDocument(path.read_bytes())
    page = document[len(document) // 2]
    text = pdfium.FPDFPageObj_NewTextObj(document.raw, b"Helvetica", 10.0)
    letters = "A sentence that was not here before.\0".encode("utf-16-le")
    wide = (pdfium.FPDF_WCHAR * (len(letters) // 2)).from_buffer_copy(letters)
    pdfium.FPDFText_SetText(text, wide)
    pdfium.FPDFPageObj_Transform(text, 1, 0, 0, 1, 72, 60)
    pdfium.FPDFPage_InsertObject(page.raw, text)
    pdfium.FPDFPage_GenerateContent(page.raw)
    document.save(path)


def _share(base: Path, service: str, quick: bool, rows: Rows, figures: Figures) -> None:
    """Dagster's own share, and the time to load its definitions with many partitions."""
    count = 100 if quick else 1_000
    manuals = base / f"share_{count}" / "manuals"
    make_documents(manuals, range(count))
    share = dagster_share(base / f"share_{count}", service, manuals, count)
    loads = [definitions_load(base / "load", 20_000) for _ in range(1 if quick else 3)]
    load, load_cpu = (statistics.median(times) for times in zip(*loads, strict=True))
    rows.append(
        [f"Dagster's share, {count} documents", "", *share, "", "ms a document", "", "<= 60"]
    )
    rows.append(["definitions with 20,000 partitions", "", load, load_cpu, "", "", "", "<= 5 s"])
    figures |= {
        "dagster_ms_a_document": share[0],
        "dagster_cpu_ms_a_document": share[1],
        "definitions_load_seconds": load,
        "definitions_load_cpu_seconds": load_cpu,
    }


def _memory(base: Path, service: str, quick: bool, rows: Rows, figures: Figures) -> None:
    """The peak of memory in first syncs of few and of many documents of one page."""
    for count in () if quick else (500, 2_000):
        folder = base / "memory"
        shutil.rmtree(folder, ignore_errors=True)
        make_documents(folder / "manuals", range(count))
        project = Project(folder / "project", service)
        measured = project.sync(str(folder / "manuals"))
        project.stop()
        for what, megabytes in (("process", measured.main_mb), ("worker", measured.worker_mb)):
            row = _row(
                f"first sync of {count:,}, {what}", measured, megabytes, "MB at most", "flat"
            )
            rows.append(row)
            figures[f"peak_mb_{what}_{count}_documents"] = megabytes


def _faults(base: Path, service: str, quick: bool, rows: Rows, figures: Figures) -> None:
    folder = base / "faults"
    shutil.rmtree(folder, ignore_errors=True)
    run = fault_run(folder, service, *((40, 1) if quick else (200, 20)))
    differing = ", ".join(run.differing) or "none"
    what = f"{run.kills} kills, {run.in_the_middle} while it ran"
    rows.append([what, "rag_pipeline", "", "", differing, "tables that differ", "", "none"])
    figures |= {"kills": run.kills, "tables_differing_after_kills": len(run.differing)}


def _row(what: str, measured: Measured, figure: Any, unit: str, aim: str) -> list[Any]:
    return [what, "rag_pipeline", measured.wall, measured.cpu, figure, unit, "", aim]


if __name__ == "__main__":
    main()
