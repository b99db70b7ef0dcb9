"""Ctrl-C at random moments of `sync`, `search`, `ask` and `serve`: what is said, and what is left.

The signal goes to the whole process group, as a terminal sends it. After each interrupted sync the
store must hold whole documents only; in the end it must equal one that was built in one go.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psycopg

from benchmarks.sync_faults import stored_rows
from benchmarks.sync_project import Project, make_document, make_documents

COMMANDS = {
    "sync": ("sync",),
    "search": ("search", "which screws hold the cover"),
    "ask": ("ask", "How often is the pump XJ-0 checked?"),
    "serve": ("serve", "--port", "0"),
}
FIRST_SECONDS = 0.2
"""Before that the interpreter is starting, which no program can answer for."""
LONGEST_SECONDS = 8.0
"""After which `serve`, which does not end by itself, is interrupted at the latest."""
HALF_DOCUMENTS = """
SELECT count(*) FROM document AS d WHERE d.status = 'ready' AND d.chunk_count <> (
    SELECT count(*) FROM chunk AS c WHERE c.source_hash = d.source_hash
)"""
"""Documents that are ready although chunks of theirs are missing; vectors may follow."""


ENDING = 0.1
"""Seconds within which a command that ends as if nothing had come was at its end already."""


@dataclass(frozen=True)
class Interrupted:
    """How a command answered a signal."""

    command: str
    after: float
    """Seconds from its start to the signal."""
    status: int
    seconds: float
    """From the signal to its end."""
    error: str

    @property
    def is_clean(self) -> bool:
        """Whether it ended in time, with one line and the right status."""
        lines = self.error.splitlines()
        last = lines[-1] if lines else ""
        return (
            self.status == 128 + signal.SIGINT
            and self.seconds <= 1.0
            and last.startswith("interrupted")
            and sum("interrupted" in line for line in lines) == 1
            and "Traceback" not in self.error
            and "Exception" not in self.error
        )


def interrupt(
    project: Project, command: str, after: float, number: signal.Signals = signal.SIGINT
) -> Interrupted | None:
    """Start a command and send it a signal; None where it had ended by itself."""
    process = subprocess.Popen(
        [sys.executable, "-m", "rag_pipeline.cli", *COMMANDS[command]],
        env=project.environment,
        cwd=project.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        _, error = process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        if process.poll() == 0:  # its pipe is still held by a child that is ending
            process.communicate()
            return None
        sent = time.monotonic()
        os.killpg(process.pid, number)
        # Its end, and not that of its pipe, which a child may hold.
        status = process.wait(30)
        seconds = time.monotonic() - sent
        _, error = process.communicate()
        if status == 0 and seconds < ENDING and "interrupted" not in error:
            return None
        return Interrupted(command, after, status, seconds, error)
    if process.returncode != 0:
        sys.exit(f"{command} ended with {process.returncode}: {error}")
    return None


def half_documents(url: str) -> int:
    """Return how many documents count as ready without being whole."""
    with psycopg.connect(url) as connection:
        row = connection.execute(HALF_DOCUMENTS).fetchone()
    assert row is not None
    return int(row[0])


def random_moments(
    project: Project, command: str, count: int, moments: random.Random
) -> list[Interrupted]:
    """Interrupt a command `count` times, at moments spread over as long as it takes."""
    manuals = project.folder.parent / "manuals"
    longest = LONGEST_SECONDS
    found: list[Interrupted] = []
    edition = 2
    while len(found) < count:
        if command == "sync":
            for number in moments.sample(range(20), 12):
                make_document(manuals / f"manual_{number:05}.pdf", number, edition)
            edition += 1
        after = moments.uniform(FIRST_SECONDS, longest)
        one = interrupt(project, command, after)
        if one is None:
            longest = max(0.5, after)
            continue
        found.append(one)
        told = "" if one.is_clean else f"  {one.error!r}"
        print(f"{command} {after:.2f} s: {one.status}, {one.seconds:.2f} s{told}", file=sys.stderr)
        if command == "sync" and (half := half_documents(project.url)):
            sys.exit(f"{half} documents are ready and not whole")
    return found


def main() -> None:
    """Interrupt each command; print how many answered as they should, and what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("commands", nargs="*", default=list(COMMANDS))
    chosen = parser.parse_args()
    service = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.sync_project"], stdout=subprocess.PIPE, text=True
    )
    assert service.stdout is not None
    base = Path(tempfile.mkdtemp(prefix="rag-interrupted-"))
    base.chmod(0o755)
    project = Project(base / "project", service.stdout.readline().strip())
    try:
        make_documents(base / "manuals", range(20))
        project.sync(str(base / "manuals"))
        moments = random.Random(chosen.seed)
        for command in chosen.commands:
            found = random_moments(project, command, chosen.count, moments)
            clean = sum(one.is_clean for one in found)
            slowest = max(one.seconds for one in found)
            print(f"{command}: {clean} of {len(found)} clean, slowest {slowest:.2f} s")
        project.sync()
        interrupted = stored_rows(project.url)
        fresh = Project(base / "fresh", project.service)
        fresh.sync(str(base / "manuals"))
        whole = stored_rows(fresh.url)
        fresh.stop()
        print("differing:", [name for name in whole if whole[name] != interrupted[name]] or "none")
    finally:
        project.stop()
        service.terminate()


if __name__ == "__main__":
    main()
