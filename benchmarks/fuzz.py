"""Mutants of real PDFs through a whole sync: what crashes, what hangs, what is half-written.

    python -m benchmarks.fuzz                # 2,000 mutants of samples/, about half an hour
    python -m benchmarks.fuzz --quick        # 50

Each mutant is a sample with flipped bytes, cuts, pieces of another sample in it, or numbers that
lie. One worker reads them, under small limits of time and memory; the embedder is a stub. Without
OCR, which would read each page whose text was lost. The same seed gives the same mutants.
"""

from __future__ import annotations

import itertools
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psycopg

from benchmarks.common import PROJECT_DIR, served
from benchmarks.sync_project import Project

SAMPLES = PROJECT_DIR / "samples"
SECONDS = 20
MEGABYTES = 1000
"""Limits of one document (parsing.max_seconds, parsing.max_memory_mb)."""
_STREAM = re.compile(rb"stream\r?\n.*?endstream", re.DOTALL)
_NUMBER = re.compile(rb"\d+")
_LIES = (b"0", b"-1", b"1", b"3", b"65536", b"2147483647", b"4294967296", b"9" * 30)
_KINDS = {
    "crash of a worker": "the process that read it died",
    "over the time": "of processor time|hangs",
    "over the memory": "of memory",
    "over another limit": "parsing.max_",
    "fault of the program": "fault of the program",
    "no text": "has text that can be read",
    "damaged": "damaged|truncated|cannot be opened",
    "encrypted": "encrypted",
    "no PDF any more": "not a PDF|by its content",
}
_HALF_WRITTEN = """
SELECT count(*) FROM document AS d
LEFT JOIN LATERAL (
    SELECT count(*) AS n, count(e.chunk_id) AS vectors FROM chunk AS c
    LEFT JOIN chunk_embedding AS e USING (chunk_id) WHERE c.source_hash = d.source_hash
) AS c ON true
WHERE CASE d.status WHEN 'ready' THEN c.n <> d.chunk_count OR c.vectors <> c.n
    WHEN 'failed' THEN c.n > 0 ELSE true END
"""
Mutation = Callable[[bytearray, Sequence[bytes], random.Random], None]


@dataclass
class FuzzRun:
    """What a sync of mutants came to."""

    mutants: int
    exit_status: int | None
    """Of `rag sync`; None where it hung."""
    error: str
    """What it printed on standard error."""
    seconds: float
    landed: int = 0
    failed: dict[str, int] = field(default_factory=dict)
    """Documents that failed, by kind."""
    unexplained: list[str] = field(default_factory=list)
    """Reasons of no known kind, crashes, and faults of the program."""
    half_written: int = 0
    """Documents whose chunks or vectors are not all there, or of which nothing is told; files."""

    @property
    def parent_is_well(self) -> bool:
        """The sync ended as it does where documents failed, and said nothing else."""
        return self.exit_status in (0, 2) and "Traceback" not in self.error


def fuzz(folder: Path, service: str, count: int, seed: int = 0) -> FuzzRun:
    """Sync mutants in a fresh project under `folder`; look at the store."""
    mutants = folder / "mutants"
    mutants.mkdir(parents=True)
    samples = [file.read_bytes() for file in sorted(SAMPLES.glob("*.pdf"))]
    made: set[bytes] = set(samples)
    for number in range(count):
        data = next(
            data
            for draw in itertools.count()
            if (data := mutant(samples, f"{seed}/{number}/{draw}")) not in made
        )
        made.add(data)
        (mutants / f"mutant_{number:05}.pdf").write_bytes(data)
    project = Project(folder / "project", service)
    project.environment |= {
        "RAG_SYNC__WORKERS": "1",
        "RAG_SYNC__PREVIEW_PAGES": "0",
        "RAG_PARSING__OCR": "off",
        "RAG_PARSING__MAX_SECONDS": str(SECONDS),
        "RAG_PARSING__MAX_MEMORY_MB": str(MEGABYTES),
    }
    try:
        return _sync(project, mutants, count)
    finally:
        project.stop()


def _sync(project: Project, mutants: Path, count: int) -> FuzzRun:
    start = time.perf_counter()
    process = project.start("sync", str(mutants), "--json")
    try:
        _, error = process.communicate(timeout=120 + count * 2 * SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        _, error = process.communicate()
        return FuzzRun(count, None, error, time.perf_counter() - start)
    run = FuzzRun(count, process.returncode, error, time.perf_counter() - start)
    with psycopg.connect(project.url) as connection:
        rows = connection.execute("SELECT status, failure_reason FROM document").fetchall()
        (half,) = connection.execute(_HALF_WRITTEN).fetchone() or (0,)
    run.landed = sum(status == "ready" for status, _ in rows)
    reasons = [reason for status, reason in rows if status == "failed"]
    run.failed = dict(Counter(map(_kind, reasons)).most_common())
    odd = ("another", "crash of a worker", "fault of the program")
    run.unexplained = [reason for reason in reasons if _kind(reason) in odd]
    run.half_written = half + len(list(project.settings.data_path.rglob("*.partial")))
    return run


def _kind(reason: str) -> str:
    return next((kind for kind, text in _KINDS.items() if re.search(text, reason)), "another")


def mutant(samples: Sequence[bytes], seed: str) -> bytes:
    """Return one of the samples after one to four mutations; the same for the same seed."""
    choice = random.Random(seed)
    data = bytearray(choice.choice(samples))
    for _ in range(choice.choice((1, 1, 2, 4))):
        choice.choice(_MUTATIONS)(data, samples, choice)
    return bytes(data)


def _flip(data: bytearray, _: Sequence[bytes], choice: random.Random) -> None:
    """Other bytes at up to 64 places, of the structure or anywhere."""
    spans = _structure(data) if choice.random() < 0.5 else [(0, len(data))]
    for _number in range(choice.choice((1, 4, 16, 64))):
        start, end = choice.choice(spans)
        if start < end:
            data[choice.randrange(start, end)] = choice.randrange(256)


def _cut(data: bytearray, _: Sequence[bytes], choice: random.Random) -> None:
    """The end, or a piece from within, is gone."""
    start = choice.randrange(len(data) + 1)
    length = len(data) if choice.random() < 0.3 else choice.choice((1, 10, 100, 1000, 20_000))
    del data[start : start + length]


def _splice(data: bytearray, samples: Sequence[bytes], choice: random.Random) -> None:
    """A piece of a sample is put in, or put over what is there."""
    other = choice.choice(samples)
    start = choice.randrange(len(other))
    piece = other[start : start + choice.choice((10, 100, 1000, 20_000))]
    at = choice.randrange(len(data) + 1)
    data[at : at + choice.choice((0, len(piece)))] = piece


def _lie(data: bytearray, _: Sequence[bytes], choice: random.Random) -> None:
    """Numbers of the structure become others: sizes, counts, offsets, references."""
    for _number in range(choice.choice((1, 2, 8))):
        start, end = choice.choice(_structure(data) or [(0, len(data))])
        found = list(_NUMBER.finditer(data, start, end))
        if found:
            one = choice.choice(found)
            data[one.start() : one.end()] = choice.choice(_LIES)


_MUTATIONS: tuple[Mutation, ...] = (_flip, _cut, _splice, _lie)


def _structure(data: bytearray) -> list[tuple[int, int]]:
    """Return the spans between streams, which mostly are compressed."""
    ends = [0, *(edge for found in _STREAM.finditer(data) for edge in found.span()), len(data)]
    return [(start, end) for start, end in zip(ends[::2], ends[1::2], strict=True) if start < end]


def main() -> None:
    """Run it, print the figures; ends with status 1 where anything is wrong."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=2000, help="how many; default 2000")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="50 mutants, < 2 minutes")
    parser.add_argument("--json", action="store_true", help="figures by name, as JSON")
    options = parser.parse_args()
    count = 50 if options.quick else options.mutants
    with (
        tempfile.TemporaryDirectory(prefix="rag-fuzz-", ignore_cleanup_errors=True) as base,
        served("benchmarks.sync_project") as service,
    ):
        # Postgres may run under another account, which must reach its folder.
        Path(base).chmod(0o755)
        run = fuzz(Path(base), service, count, options.seed)
    if options.json:
        print(json.dumps(asdict(run), indent=2))
    else:
        print(f"{run.mutants} mutants in {run.seconds:.0f} s: {run.landed} landed")
        for kind, number in run.failed.items():
            print(f"  {number:5} failed: {kind}")
        print("the sync", "ended well" if run.parent_is_well else f"did not end well: {run.error}")
        print(f"half-written documents and files: {run.half_written}")
        for reason in run.unexplained:
            print(f"  {reason}")
    whole = run.landed + sum(run.failed.values()) == run.mutants
    sys.exit(0 if run.parent_is_well and whole and not run.half_written else 1)


if __name__ == "__main__":
    main()
