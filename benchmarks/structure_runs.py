"""Runs of the engines and of the scorers, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.common import PROJECT_DIR
from benchmarks.structure_engines import NOT_INSTALLED

OURS = "rag_pipeline"


def run_engine(
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


def _python(engine: str) -> str:
    own = engine.startswith(OURS)
    return sys.executable if own else os.environ.get("RAG_BENCH_PYTHON", sys.executable)


def run_scorer(scorer: Path, predicted: Path, gold: Path) -> dict[str, Any]:
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
    scores: dict[str, Any] = read_json(out)
    return scores


def read_json(path: Path) -> Any:
    """Return what a JSON file holds."""
    return json.loads(path.read_text(encoding="utf-8"))
