"""What every benchmark needs: its data, the machine it ran on, its commit, and a way to print."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROJECT_DIR = Path(__file__).parents[1]


def bench_data() -> Path:
    """Return the folder of the benchmark data (`RAG_BENCH_DATA`); exit with advice if absent."""
    folder = Path(os.environ.get("RAG_BENCH_DATA", PROJECT_DIR.parent / "shared" / "bench"))
    if not folder.is_dir():
        sys.exit(f"benchmark data not found in {folder}: set RAG_BENCH_DATA")
    return folder


@contextmanager
def served(module: str) -> Iterator[str]:
    """Run a module that prints its URL and serves, in a process of its own; lend the URL."""
    process = subprocess.Popen([sys.executable, "-m", module], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def arguments(
    description: str | None, parts: Sequence[str] = (), switches: Sequence[str] = ()
) -> Namespace:
    """Parse `--quick` and `--json`, which every benchmark takes; `--only` where it has parts.

    `switches` are further options of a benchmark, on or off.
    """
    parser = ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="a part of the data, < 2 minutes")
    parser.add_argument("--json", action="store_true", help="figures by name, as JSON")
    if parts:
        parser.add_argument("--only", choices=parts, help="one part of it")
    for switch in switches:
        parser.add_argument(f"--{switch}", action="store_true", help="see above")
    return parser.parse_args()


def machine() -> dict[str, str]:
    """Describe where the figures were measured: processor, cores, system, Python, commit."""
    processor = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                processor = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=PROJECT_DIR,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    return {
        "processor": processor,
        "cores": str(cores),
        "system": platform.system(),
        "python": platform.python_version(),
        "commit": commit or "unknown",
    }


def print_report(
    title: str, columns: list[str], rows: list[list[Any]], figures: dict[str, Any], as_json: bool
) -> None:
    """Print a Markdown table with the machine above it, or the figures by name as JSON."""
    where = machine()
    if as_json:
        print(json.dumps({"benchmark": title, "machine": where, **figures}, indent=2))
        return
    print(f"## {title}\n")
    print(", ".join(f"{name} {value}" for name, value in where.items()) + "\n")
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(_cell(value) for value in row) + " |")


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 10 else f"{value:,.1f}"
    return str(value)
