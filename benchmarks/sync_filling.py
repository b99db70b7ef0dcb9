"""A first sync with the local model: how soon words are searched, and kills while vectors are made.

    python -m benchmarks.sync_filling [--kills N] [--files N] [FOLDER]

FOLDER holds PDFs (default: debian_guide of the benchmark data), of which the smallest are taken.
With `--kills`, N syncs are killed at random moments after their first vectors; the store must then
equal, row by row, one that was built in one go. Without, one first sync is timed.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psycopg

from benchmarks.common import bench_data
from benchmarks.sync_faults import stored_rows
from benchmarks.sync_project import Project

COUNTS = """
SELECT count(*) FILTER (WHERE d.status = 'ready'), count(*), (SELECT count(*) FROM chunk),
    (SELECT count(*) FROM chunk_embedding)
FROM document AS d"""
LATEST = 2.0
"""Seconds from a sync's first new vectors to its kill, at most: about as long as a batch takes."""


@dataclass(frozen=True)
class Counts:
    """What a store holds: documents that are searchable, and all; chunks, and their vectors."""

    ready: int
    documents: int
    chunks: int
    vectors: int

    @property
    def is_filling(self) -> bool:
        """Whether every document can be searched and some chunks have no vector."""
        return 0 < self.documents == self.ready and self.vectors < self.chunks


def local_project(folder: Path) -> Project:
    """Return a project that embeds on this machine."""
    project = Project(folder, "")
    for name in [name for name in project.environment if name.startswith("RAG_EMBEDDING")]:
        del project.environment[name]
    return project


def counts(url: str) -> Counts:
    """Return what the store holds."""
    with psycopg.connect(url) as connection:
        row = connection.execute(COUNTS).fetchone()
    assert row is not None
    return Counts(*row)


def first_sync(project: Project, manuals: Path) -> tuple[float, float, Counts]:
    """Sync; return the seconds until all documents are searchable by words, and in all."""
    project.open().close()  # Postgres is running, with its tables
    url = project.url
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "rag_pipeline.cli", "sync", str(manuals), "--json"],
        env=project.environment,
        cwd=project.folder,
        stdout=subprocess.DEVNULL,
    )
    by_words = 0.0
    while process.poll() is None:
        time.sleep(0.2)
        found = counts(url)
        if not by_words and 0 < found.documents == found.ready:
            by_words = time.perf_counter() - start
    total = time.perf_counter() - start
    if process.returncode != 0:
        sys.exit(f"rag sync ended with {process.returncode}")
    return by_words or total, total, counts(url)


def kill_syncs(project: Project, manuals: Path, kills: int, moments: random.Random) -> int:
    """Kill syncs at random moments; return how many were filling in vectors."""
    project.open().close()
    hit = before = 0
    for number in range(kills):
        process = project.start("sync", str(manuals), "--json")
        while process.poll() is None and counts(project.url).vectors == before:
            time.sleep(0.1)
        time.sleep(moments.uniform(0.0, LATEST))
        was_running = process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.communicate()
        found = counts(project.url)
        before = found.vectors
        hit += was_running and found.is_filling
        print(f"kill {number + 1} of {kills}: {found}", file=sys.stderr)
    return hit


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--files", type=int, default=None)
    options = parser.parse_args()
    folder = options.folder or bench_data() / "debian_guide" / "corpus"
    base = Path(tempfile.mkdtemp(prefix="rag-filling-"))
    base.chmod(0o755)
    manuals = base / "manuals"
    manuals.mkdir()
    for path in sorted(folder.glob("*.pdf"), key=lambda one: one.stat().st_size)[: options.files]:
        shutil.copy(path, manuals)
    whole, killed = local_project(base / "whole"), local_project(base / "killed")
    try:
        if options.kills:
            hit = kill_syncs(killed, manuals, options.kills, random.Random(1))
            killed.sync(str(manuals))
        by_words, total, found = first_sync(whole, manuals)
        print(f"searchable by words after {by_words:.1f} s, complete after {total:.1f} s: {found}")
        if options.kills:
            one, other = stored_rows(whole.url), stored_rows(killed.url)
            differing = [name for name in one if one[name] != other[name]]
            print(
                f"{options.kills} kills, {hit} while vectors were filled in; differing: "
                f"{', '.join(differing) or 'none'}"
            )
    finally:
        for project in (whole, killed):
            project.stop()
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
