"""Small work: many one-page documents, one of them edited, deleted, and nothing at all.

`rag sync` as a user calls it, from its first import on, and `RagSystem.add_directory` without the
imports. Rows are those that Postgres counts as written; memory is that of all processes of the
command together, each by what it alone holds and its share of what it shares (PSS).
"""

from __future__ import annotations

import shutil
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.sync_project import Measured, Project, make_document, make_documents

LIBRARY = """
import sys, time
from rag_pipeline.system import RagSystem
system = RagSystem()
start = time.perf_counter()
added = system.add_directory(sys.argv[1])
assert not added.failures
print(time.perf_counter() - start)
"""


@dataclass(frozen=True)
class Step:
    """One sync: what was measured, rows written, and the peak of all processes' memory in MB."""

    name: str
    measured: Measured
    rows: int
    tree_mb: float


class TreeWatch(threading.Thread):
    """Samples the memory of a process and all below it, shared pages counted once."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._process = psutil.Process(pid)
        self.megabytes = 0.0
        self.start()

    def run(self) -> None:
        """Sample until the process has ended."""
        while True:
            try:
                family = [self._process, *self._process.children(recursive=True)]
                held = sum(one.memory_full_info().pss for one in family)
                self.megabytes = max(self.megabytes, held / 2**20)
            except psutil.Error:
                if not self._process.is_running():
                    return
            time.sleep(0.1)


def small_steps(folder: Path, service: str, count: int) -> list[Step]:
    """Sync `count` new documents, then after nothing, an edit, a deletion."""
    project, manuals = _project(folder, service, count)
    middle = manuals / f"manual_{count // 2:05}.pdf"
    steps = [_step(project, manuals, "first")]
    steps.append(_step(project, manuals, "nothing changed"))
    make_document(middle, count // 2, edition=2)
    steps.append(_step(project, manuals, "one edited"))
    middle.unlink()
    steps.append(_step(project, manuals, "one deleted"))
    project.stop()
    return steps


def library_seconds(folder: Path, service: str, count: int) -> float:
    """Return the seconds of a first sync by `RagSystem`, after the imports."""
    project, manuals = _project(folder, service, count)
    seconds = float(project.python(LIBRARY, str(manuals)))
    project.stop()
    return seconds


def _project(folder: Path, service: str, count: int) -> tuple[Project, Path]:
    shutil.rmtree(folder, ignore_errors=True)
    project = Project(folder / "project", service)
    make_documents(folder / "manuals", range(count))
    project.open().close()  # Postgres runs, with its tables, before the clock does
    return project, folder / "manuals"


def _step(project: Project, manuals: Path, name: str) -> Step:
    before = project.writes()
    watches: list[TreeWatch] = []
    measured = project.sync(str(manuals), on_start=lambda pid: watches.append(TreeWatch(pid)))
    return Step(name, measured, project.writes() - before, watches[0].megabytes)
