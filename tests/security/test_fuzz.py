"""Damaged and lying files: no crash of the parent, no hang, no half-written document.

`python -m benchmarks.fuzz` does the same with 2,000 mutants.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.fuzz import fuzz
from benchmarks.sync_project import DIMENSIONS
from rag_pipeline.errors import ParseError
from rag_pipeline.parsing import parse_file
from rag_pipeline.settings import ParsingSettings
from rag_pipeline.sync.workers.worker_pool import WorkerPool
from tests.conftest import PROJECT_DIR
from tests.embedding.provider_server import ProviderServer
from tests.security.mutants import CONTROLS, LIMITS, Mutant, read

FORMATS = PROJECT_DIR / "tests" / "data" / "formats"
MUTANTS = 12
SEEDS = range(4)


def test_mutants_of_the_samples_through_a_sync() -> None:
    # Not under pytest's folder: the server may run under another account.
    with (
        tempfile.TemporaryDirectory(prefix="rag-test-fuzz-", ignore_cleanup_errors=True) as base,
        ProviderServer().serving() as service,
    ):
        Path(base).chmod(0o755)
        service.dimensions = DIMENSIONS
        run = fuzz(Path(base), service.url, MUTANTS, seed=7)
    print(f"{run.mutants} mutants: {run.landed} landed, {run.failed}")
    assert run.parent_is_well, run.error
    assert run.landed + sum(run.failed.values()) == MUTANTS
    assert run.landed > 0
    assert run.failed
    assert (run.half_written, run.unexplained) == (0, [])


def test_mutants_of_every_other_format(tmp_path: Path) -> None:
    samples = [file for file in sorted(FORMATS.iterdir()) if file.is_file()]
    mutants = [Mutant(sample, seed, tmp_path) for sample in samples for seed in SEEDS]
    results = dict(WorkerPool(read, 1, lambda _: LIMITS).run(mutants, len(mutants)))
    assert len(results) == len(mutants) > 60
    assert [wrong for wrong in results.values() if wrong is not None] == []


_MARKS = (
    "# <p> <td> </ - 1. | ``` \\par { } , \" ; From: &lt; <!-- [a](b) \\'e9 \\trowd \\cell $$ > ==="
)
MARKS = st.sampled_from([*_MARKS.split(), "\t", "\n", "\n\n", " "])
TEXTS = st.lists(st.one_of(MARKS, st.text(max_size=8)), max_size=40).map("".join)


@pytest.mark.parametrize("ending", ["md", "html", "rtf", "eml", "csv", "txt", "py"])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=TEXTS, encoding=st.sampled_from(["utf-8", "utf-16", "cp949"]))
def test_any_text_is_read_or_refused(ending: str, text: str, encoding: str) -> None:
    start = {"html": "<!DOCTYPE html><body>", "rtf": r"{\rtf1 ", "eml": "From: a\nSubject: "}
    data = (start.get(ending, "") + text).encode(encoding, "replace")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"a.{ending}"
        file.write_bytes(data)
        try:
            parsed = parse_file(file, ParsingSettings())
        except ParseError as error:
            told = str(error)
        else:
            told = f"a.{ending}: "
            texts = [*parsed.blocks["text"], parsed.title or ""]
            assert not any(CONTROLS.search(text) for text in texts)
        assert told.startswith(f"a.{ending}: ")
