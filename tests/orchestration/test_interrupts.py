"""Ctrl-C and SIGTERM, sent to real commands in process groups of their own, as a terminal does."""

from __future__ import annotations

import random
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.interrupted import COMMANDS, half_documents, interrupt, random_moments
from benchmarks.sync_project import DIMENSIONS, Project, make_document, make_documents
from rag_pipeline.store import embedded
from tests.embedding.provider_server import ProviderServer


@pytest.fixture(scope="module")
def synced() -> Iterator[Project]:
    """A project with a server of its own and documents that were synced."""
    folder = Path(tempfile.mkdtemp(prefix="rag-test-interrupts-"))
    folder.chmod(0o755)
    with ProviderServer().serving() as server:
        server.dimensions = DIMENSIONS
        project = Project(folder / "project", server.url)
        make_documents(folder / "manuals", range(20))
        project.sync(str(folder / "manuals"))
        yield project
    embedded.stop(project.settings.data_path)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize("command", COMMANDS)
def test_ctrl_c_is_one_line_and_130_within_a_second(synced: Project, command: str) -> None:
    for one in random_moments(synced, command, 3, random.Random(command)):
        assert one.is_clean, one
    assert half_documents(synced.url) == 0


def test_ctrl_c_while_the_commands_are_imported(synced: Project) -> None:
    manual = synced.folder.parent / "manuals" / "manual_00000.pdf"
    for edition, after in enumerate((0.3, 0.45, 0.6), start=100):
        make_document(manual, 0, edition)  # without work it may have ended by then
        one = interrupt(synced, "sync", after)
        assert one is not None
        assert one.is_clean, one


def test_sigterm_is_one_line_and_143(synced: Project) -> None:
    one = interrupt(synced, "serve", 5.0, signal.SIGTERM)
    assert one is not None
    assert one.status == 143
    assert one.error.splitlines()[-1] == "terminated"
    assert "Traceback" not in one.error
