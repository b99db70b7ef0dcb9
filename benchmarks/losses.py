"""Words that no block, no furniture and no warning holds, and numbers that changed, by format.

    python -m benchmarks.losses [--quick] [--json]

Every document of the benchmark data, and the samples of the tests, is read a second time: PDFs by
engines other than the parser's, other formats by plain readers (`rag_pipeline.parsing.witness`).
Without OCR: no witness reads pictures. A number counts where the second reading has one that no
block holds, or a block of a PDF one that no engine finds. `--quick` takes short PDFs, 60 at most.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pypdfium2 as pdfium

from benchmarks.common import PROJECT_DIR, arguments, bench_data, print_report
from rag_pipeline.errors import ParseError
from rag_pipeline.parsing.file_type import file_type
from rag_pipeline.parsing.local_parser import audit_file
from rag_pipeline.parsing.witness.losses import Losses
from rag_pipeline.settings import ParsingSettings

SETTINGS = ParsingSettings(ocr="off")
PDF_SETS = (
    *("cases_pdf", "adversarial", "manuals_outline", "outlines2", "tables_real", "tables_synth"),
    *("odl_bench", "manuals_dev", "financebench_dev", "debian_guide"),
)
OTHER_SETS = ("cases_formats", "autorag_ko_dev", "chroma_chunking")
SAMPLES = PROJECT_DIR / "tests" / "data" / "formats"
QUICK_PAGES, QUICK_FILES = 60, 6
"""Pages of a PDF, and PDFs of a set, in a quick run at most."""
SHOWN = 12
"""Lost words of a document that are printed."""


@dataclass
class Tally:
    """What was lost of the documents of a format or a set."""

    files: int = 0
    failed: int = 0
    words: int = 0
    lost: Counter[str] = field(default_factory=Counter)
    numbers: Counter[str] = field(default_factory=Counter)
    """Numbers lost or changed."""

    def add(self, losses: Losses) -> None:
        """Count one document."""
        self.files += 1
        self.words += losses.words
        self.lost += losses.lost
        numbers = {word: count for word, count in losses.lost.items() if word.isdigit()}
        self.numbers += losses.changed + Counter(numbers)

    @property
    def share(self) -> float:
        """Percent of the words that are lost."""
        return 100 * self.lost.total() / self.words if self.words else 0.0


def main() -> None:
    """Audit all documents, print one row a format and one a set of PDFs."""
    options = arguments(__doc__)
    data = bench_data()
    tallies: dict[str, Tally] = {}
    start = time.perf_counter()
    for folder in (SAMPLES, *(data / name for name in OTHER_SETS)):
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            kind = _format(file)
            if kind not in (None, "pdf", "python"):
                _audit(file, [tallies.setdefault(str(kind), Tally())])
    for name in PDF_SETS:
        files = sorted((data / name).rglob("*.pdf"))
        for file in _short(files) if options.quick else files:
            _audit(file, [tallies.setdefault("pdf", Tally()), tallies.setdefault(name, Tally())])
    rows = [
        [name, one.files, one.failed, one.words, one.lost.total(), one.share, one.numbers.total()]
        for name, one in tallies.items()
    ]
    figures = {
        f"{name}.{key}": value
        for name, one in tallies.items()
        for key, value in (
            *(("words", one.words), ("percent_lost", one.share)),
            ("numbers_changed", one.numbers.total()),
        )
    }
    figures["seconds"] = time.perf_counter() - start
    columns = ["format or set", "files", "not read", "words", "lost", "lost, %", "numbers changed"]
    print_report("Words lost and numbers changed", columns, rows, figures, options.json)


def _format(file: Path) -> str | None:
    try:
        return file_type(file, file.name).format
    except ParseError:
        return None


def _audit(file: Path, tallies: list[Tally]) -> None:
    """Count a document in all tallies, and print what it loses on standard error."""
    try:
        losses = audit_file(file, SETTINGS)
    except ParseError:
        for tally in tallies:
            tally.failed += 1
        return
    for tally in tallies:
        tally.add(losses)
    if losses.lost or losses.changed:
        words = ", ".join(list(losses.lost)[:SHOWN])
        numbers = ", ".join(list(losses.changed)[:SHOWN])
        print(f"{file.name}: lost {words or '–'}; changed {numbers or '–'}", file=sys.stderr)


def _short(files: list[Path]) -> list[Path]:
    found: list[Path] = []
    for file in files:
        if len(found) < QUICK_FILES and _pages(file) <= QUICK_PAGES:
            found.append(file)
    return found


def _pages(file: Path) -> int:
    try:
        with pdfium.PdfDocument(file) as pdf:
            return len(pdf)
    except pdfium.PdfiumError:
        return 0


if __name__ == "__main__":
    main()
