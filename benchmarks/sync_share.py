"""What Dagster costs: the same documents through its runs, and by the library alone."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import psycopg

from benchmarks.sync_project import Project

LOAD = """
import time, json
start = time.perf_counter()
from rag_pipeline.definitions import defs
repository = defs.get_repository_def()
from rag_pipeline.assets.instances import open_instance
from rag_pipeline.assets.partitions import SOURCE_HASHES
from rag_pipeline.settings import Settings
with open_instance(Settings.load()) as instance:
    keys = SOURCE_HASHES.get_partition_keys(dynamic_partitions_store=instance)
print(time.perf_counter() - start, time.process_time(), len(keys))
"""
FILL = """
import hashlib
from rag_pipeline.assets.instances import open_instance
from rag_pipeline.assets.partitions import align_partitions
from rag_pipeline.settings import Settings
with open_instance(Settings.load()) as instance:
    align_partitions(instance, {hashlib.sha256(str(n).encode()).hexdigest() for n in range(COUNT)})
"""
PLAIN = """
import sys, time
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.source_tables import register_roots
from rag_pipeline.sync.documents.execute import process_documents
from rag_pipeline.sync.finish import finish
from rag_pipeline.sync.sources.places import given_root
from rag_pipeline.sync.planning.refresh import current_plan, refresh_sources
from rag_pipeline.sync.sync_context import SyncContext
settings = Settings.load()
database = Database.open(settings)
context = SyncContext.of(Settings.load(), database)
start = time.perf_counter()
with database.connection() as connection:
    register_roots(connection, [given_root(sys.argv[1])])
refresh_sources(settings, database)
stale = list(current_plan(settings, database).stale)
size = settings.sync.run_size
for first in range(0, len(stale), size):
    for outcome in process_documents(context, stale[first : first + size]):
        assert outcome.error is None
finish(context)
print(time.perf_counter() - start)
"""


def dagster_share(folder: Path, service: str, manuals: Path, count: int) -> tuple[float, float]:
    """Return what Dagster adds to a first sync: wall and CPU milliseconds a document.

    The process's start is not in it; that of the workers is in both.
    """
    seconds: list[float] = []
    cpu: list[float] = []
    for name in ("plain", "dagster"):
        shutil.rmtree(folder / name, ignore_errors=True)
        project = Project(folder / name, service)
        with psycopg.connect(project.url):
            pass  # the server runs before the clock does
        before = sum(os.times()[2:4])
        if name == "plain":
            seconds.append(float(project.python(PLAIN, str(manuals))))
        else:
            seconds.append(project.sync(str(manuals)).summary["seconds"])
        cpu.append(sum(os.times()[2:4]) - before)
        project.stop()
    return 1_000 * (seconds[1] - seconds[0]) / count, 1_000 * (cpu[1] - cpu[0]) / count


def definitions_load(folder: Path, count: int) -> tuple[float, float]:
    """Return wall and CPU seconds up to the partition keys, from the first import, in a process."""
    project = Project(folder, "http://127.0.0.1:1")
    if not (folder / ".rag" / "dagster").is_dir():
        project.python(FILL.replace("COUNT", str(count)))
    seconds, cpu, keys = project.python(LOAD).split()
    assert int(keys) == count
    return float(seconds), float(cpu)
