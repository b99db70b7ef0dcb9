"""Files whose bytes changed while their size and time stayed the same."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.source_tables import SourceFile, SourceRoot, list_sources, register_roots
from rag_pipeline.sync.planning.refresh import RefreshResult, refresh_sources
from rag_pipeline.sync.sources.scan import due_files

OLD = 1_600_000_000_000_000_000
FILES = 10


def write(path: Path, text: str, modified_ns: int = OLD) -> None:
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(modified_ns, modified_ns))


@pytest.fixture
def folder(tmp_path: Path, database: Database) -> Path:
    """A known folder with `FILES` files of equal size, last written long ago."""
    folder = (tmp_path / "manuals").resolve()
    folder.mkdir()
    for number in range(FILES):
        write(folder / f"{number}.txt", f"text {number}")
    with database.connection() as connection:
        register_roots(connection, [SourceRoot(str(folder))])
    return folder


def every(settings: Settings, syncs: int) -> Settings:
    sync = settings.sync.model_copy(update={"verify_syncs": syncs})
    return settings.model_copy(update={"sync": sync})


def changed(result: RefreshResult) -> list[str]:
    return [Path(file.uri).name for _, file in result.changes.changed]


def test_verify_finds_what_size_and_time_hide(
    settings: Settings, database: Database, folder: Path
) -> None:
    never = every(settings, 0)
    refresh_sources(never, database)
    write(folder / "3.txt", "TEXT 3")
    assert changed(refresh_sources(never, database)) == []
    assert changed(refresh_sources(never, database, verify=True)) == ["3.txt"]
    assert not refresh_sources(never, database, verify=True).changes


def test_each_sync_verifies_a_share_until_all_are(
    settings: Settings, database: Database, folder: Path
) -> None:
    third = every(settings, 3)
    refresh_sources(third, database)
    for number in range(FILES):
        write(folder / f"{number}.txt", f"TEXT {number}")
    found = [changed(refresh_sources(third, database)) for _ in range(3)]
    assert [len(names) for names in found] == [4, 4, 2]
    assert sorted(name for names in found for name in names) == sorted(
        f"{number}.txt" for number in range(FILES)
    )


def test_a_file_that_was_read_while_young_is_read_again(
    settings: Settings, database: Database, folder: Path
) -> None:
    never, now = every(settings, 0), time.time_ns()
    write(folder / "3.txt", "text 3", now)
    refresh_sources(never, database)
    write(folder / "3.txt", "TEXT 3", now)
    assert changed(refresh_sources(never, database)) == ["3.txt"]
    # It is still young, so it is read again, and what was read is remembered.
    refresh_sources(never, database)
    with database.connection() as connection:
        stored = {Path(file.uri).name: file for file in list_sources(connection)}
    assert stored["3.txt"].verified_ns > stored["4.txt"].verified_ns >= now


def test_due_files_are_the_oldest_first() -> None:
    files = [SourceFile(f"/m/{n}", "/m", "h", 1, OLD, verified_ns=10 * OLD - n) for n in range(4)]
    remote = SourceFile("s3://m/4", "s3://m", "h", 1, 0, verified_ns=OLD)
    assert due_files([*files, remote], 2) == {"/m/2", "/m/3"}
    assert due_files([*files, remote], 0) == set()
    assert len(due_files([*files, remote], 1)) == 5
    unknown = SourceFile("/m/5", "/m", "h", 1, OLD)
    assert due_files([*files, unknown], 5) == {"/m/5"}, "files of an older store come first"
