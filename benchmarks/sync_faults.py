"""Syncs that are killed at random moments, with Postgres or without, and what is left in the end.

Each kill is followed by a sync that does the rest; the store must then equal, row by row, one that
was built in one go.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg

from benchmarks.sync_project import Project, make_document, make_documents

Rows = list[tuple[object, ...]]
FIRST_SECONDS = 15.0
"""Within which the first sync is killed."""
STORED = {
    "files": "SELECT uri, root, source_hash, size, tags, readers FROM source ORDER BY uri",
    "documents": "SELECT source_hash, title, page_count, language, status, fingerprints::text, "
    "chunk_count, warnings, failure_count, superseded_by FROM document ORDER BY source_hash",
    "chunks": "SELECT source_hash, chunk_index, parent_index, kind, breadcrumb_trail, content, "
    "context, token_count, page_start, page_end, regions::text, content_hash, metadata::text, "
    "language, search_vector::text, lexeme_count FROM chunk ORDER BY 1, 2",
    "vectors": "SELECT source_hash, chunk_index, embedding::text FROM chunk "
    "LEFT JOIN chunk_embedding USING (chunk_id) ORDER BY 1, 2",
    "sections": "SELECT source_hash, section_index, content FROM section ORDER BY 1, 2",
    "lexemes": "SELECT lexeme, document_frequency FROM lexeme ORDER BY 1",
    "statistics": "SELECT chunk_count, lexeme_total, is_stale FROM corpus_statistics",
    "spaces": "SELECT provider, model, dimensions, state FROM embedding_space ORDER BY 1, 2, 3",
}


@dataclass(frozen=True)
class FaultRun:
    """What a run of faults came to."""

    kills: int
    in_the_middle: int
    """Kills that hit a sync which was still running."""
    differing: list[str]
    """Tables that differ from those of the store built without faults."""


def fault_run(base: Path, service: str, count: int, kills: int, seed: int = 1) -> FaultRun:
    """Kill `kills` syncs of `count` documents, every second time Postgres as well.

    Before each sync a few documents are changed, added, renamed or deleted, so that there is always
    something to do.
    """
    moments = random.Random(seed)
    manuals = base / "manuals"
    make_documents(manuals, range(count))
    project = Project(base / "project", service)
    hit, length = 0, FIRST_SECONDS
    for kill in range(kills):
        _change(manuals, count, kill, moments)
        process = project.start("sync", str(manuals), "--json")
        # The moments spread over the whole sync, which takes about as long as the last one.
        time.sleep(moments.uniform(1.0, length))
        hit += process.poll() is None
        if kill % 2:
            kill_postgres(project)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        length = _sync_until_whole(project, manuals)
        print(f"kill {kill + 1} of {kills}, {hit} while it ran", file=sys.stderr)
    faulty = stored_rows(project.url)
    project.stop()
    fresh = Project(base / "fresh", service)
    _sync_until_whole(fresh, manuals)
    whole = stored_rows(fresh.url)
    fresh.stop()
    return FaultRun(kills, hit, [name for name in STORED if faulty[name] != whole[name]])


def stored_rows(url: str) -> dict[str, Rows]:
    """Return what a store holds, but for times and numbers that the database gives out."""
    with psycopg.connect(url) as connection:
        return {name: connection.execute(query).fetchall() for name, query in STORED.items()}


def kill_postgres(project: Project) -> None:
    """Kill the project's server and all its processes as a power cut would."""
    pid_file = project.settings.data_path / "postgres" / "postmaster.pid"
    if not pid_file.exists():
        return
    try:
        postmaster = psutil.Process(int(pid_file.read_text(encoding="utf-8").split()[0]))
        family = [postmaster, *postmaster.children(recursive=True)]
    except (psutil.NoSuchProcess, IndexError, ValueError):
        return
    for process in family:
        try:
            os.kill(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    psutil.wait_procs(family, timeout=10)


def _change(manuals: Path, count: int, kill: int, moments: random.Random) -> None:
    files = sorted(manuals.glob("*.pdf"))
    changed, renamed, deleted = moments.sample(files, 3)
    make_document(changed, moments.randrange(count), edition=kill + 2)
    renamed.rename(renamed.with_name(f"renamed_{kill}_{renamed.name}"))
    deleted.unlink()
    make_documents(manuals, range(count * (kill + 2), count * (kill + 2) + max(2, count // 20)))


def _sync_until_whole(project: Project, manuals: Path) -> float:
    """Sync; return the seconds that it took."""
    start = time.perf_counter()
    process = project.start("sync", str(manuals), "--json")
    _, err = process.communicate()
    if process.returncode != 0:
        sys.exit(f"the sync after a kill ended with {process.returncode}: {err}")
    return time.perf_counter() - start
