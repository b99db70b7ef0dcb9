"""Mutants of real PDFs through the parser and its witness: what crashes, hangs or loses in silence.

    python -m benchmarks.loss_mutants [--quick] [--json]

The mutants are those of `benchmarks.fuzz` (flipped bytes, cuts, pieces of other files, numbers that
lie), of the samples and of the cases of the benchmark data, which lose nothing. A mutant may fail
with a clear error, or warn of what is missing. It must not end the process, take longer than the
limit, raise an error of the program, or lose words that both engines of the witness still read, or
change numbers, without a warning. The share of words from which that counts is the one that other
formats warn from. 300 mutants; with `--quick` 60.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.common import PROJECT_DIR, arguments, bench_data, print_report
from benchmarks.fuzz import mutant
from rag_pipeline.errors import ParseError
from rag_pipeline.parsing import parse_file
from rag_pipeline.parsing.local_parser import pdf_losses
from rag_pipeline.settings import ParsingSettings

SAMPLES = PROJECT_DIR / "samples"
SECONDS = 60
"""For one mutant: the parser, and two engines that read it again."""
WORKER = "worker"
SAID = (
    "cannot be loaded", "without text", "end is missing", "no Unicode value", "may be garbled",
    "not read", "another engine reads",
)  # fmt: skip
"""Parts of warnings that say that text is missing."""


def main() -> None:
    """Make the mutants, read each in a process that is watched, count what became of them."""
    if sys.argv[1:] == [WORKER]:
        _work()
        return
    options = arguments(__doc__)
    files = [*sorted((bench_data() / "cases_pdf").glob("*.pdf")), *sorted(SAMPLES.glob("*.pdf"))]
    samples = [file.read_bytes() for file in files]
    counts: Counter[str] = Counter()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        worker = _Worker()
        for number in range(60 if options.quick else 300):
            file = Path(folder) / f"mutant_{number}.pdf"
            file.write_bytes(mutant(samples, f"losses/{number}"))
            what, detail = worker.read(file)
            counts[what] += 1
            if detail:
                print(f"{file.name}: {what}: {detail}", file=sys.stderr)
            file.unlink()
        worker.stop()
    rows = [[what, count] for what, count in counts.most_common()]
    figures = {**counts, "seconds": time.perf_counter() - start}
    print_report("Mutants", ["what became of it", "mutants"], rows, figures, options.json)
    sys.exit(1 if counts.keys() & {"crash", "hang", "error of the program", "silent loss"} else 0)


class _Worker:
    """A process that reads mutants one after another, and is replaced when one ends it."""

    def __init__(self) -> None:
        self._process = self._started()

    def _started(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "benchmarks.loss_mutants", WORKER]
        return subprocess.Popen(
            command,
            cwd=PROJECT_DIR,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def read(self, file: Path) -> tuple[str, str]:
        """What became of a mutant, and more on it where that is wrong."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{file}\n")
        self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], SECONDS)[0]:
            self._restart()
            return "hang", f"over {SECONDS} s"
        line = self._process.stdout.readline()
        if not line:
            status = self._process.wait()
            self._restart()
            return "crash", f"status {status}"
        what, detail = json.loads(line)
        return what, detail

    def _restart(self) -> None:
        self.stop()
        self._process = self._started()

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()


def _work() -> None:
    for line in sys.stdin:
        print(json.dumps(_outcome(Path(line.strip()))), flush=True)


def _outcome(file: Path) -> tuple[str, str]:
    try:
        parsed = parse_file(file, ParsingSettings(ocr="off"))
    except ParseError:
        return "failed with a reason", ""
    except Exception as error:
        return "error of the program", repr(error)
    losses = pdf_losses(file, parsed)
    is_said = any(part in warning for warning in parsed.warnings for part in SAID)
    if losses.warning is None and not losses.changed:
        return "read", ""
    if is_said:
        return "read, with a warning of what is missing", ""
    return "silent loss", f"{losses.warning}; numbers changed: {dict(losses.changed)}"


if __name__ == "__main__":
    main()
