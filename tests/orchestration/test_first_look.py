"""A sync with nothing to do is done by the library alone; Dagster starts where there is work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest

from rag_pipeline.assets.instances import open_instance
from rag_pipeline.assets.partitions import SOURCE_HASHES
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.system import RagSystem
from tests.orchestration.conftest import Rag
from tests.pdfs import make_pdf

HEAVY = {
    "dagster",
    "matplotlib",
    "onnxruntime",
    "pandas",
    "pandera",
    "pyarrow",
    "pypdfium2",
    "sqlalchemy",
}
OIL = [("Oil", ["Change the oil every year."])]


def imported(environment: dict[str, str], *arguments: str) -> tuple[int, set[str]]:
    """Return a command's exit status and the packages that it imported, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "rag_pipeline.cli", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return done.returncode, {line.split("|")[-1].strip().split(".")[0] for line in lines}


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        (["sync", "--dry-run"], {"pandas", "pandera", "pyarrow", "pypdfium2"}),
        (["sync", "--json"], set()),
        (["status"], set()),
        # The query's vector, and numbers of databases by SQLAlchemy.
        (["search", "oil"], {"onnxruntime", "sqlalchemy"}),
    ],
)
def test_what_commands_import(
    rag: Rag,
    environment: dict[str, str],
    manuals: Path,
    arguments: list[str],
    allowed: set[str],
) -> None:
    make_pdf(manuals / "oil.pdf", OIL)
    assert rag("sync", str(manuals)).returncode == 0
    status, packages = imported(environment, *arguments)
    assert status == 0
    assert "psycopg" in packages, "the list of imports was read"
    assert packages & HEAVY <= allowed


def test_dagster_hears_of_what_the_library_did(
    rag: Rag, in_project: Settings, manuals: Path, tmp_path: Path
) -> None:
    """Partitions follow the store, also where a scan was not Dagster's; then there is nothing."""

    def scans(*options: str) -> int:
        """Sync; return how many scans Dagster has heard of."""
        done = rag("sync", *options, "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["runs"] == [], "no document is done again"
        with open_instance(in_project) as instance:
            found = instance.fetch_materializations(dg.AssetKey("sources"), limit=9).records
        return len(found)

    def partitions() -> int:
        with open_instance(in_project) as instance:
            return len(instance.get_dynamic_partitions(str(SOURCE_HASHES.name)))

    make_pdf(manuals / "oil.pdf", OIL)
    with RagSystem(in_project) as system:
        assert system.add_directory(manuals).done == ["oil.pdf"]
    assert (scans(), partitions()) == (1, 1), "the library's scan is shown"
    assert scans() == 1
    os.utime(manuals / "oil.pdf")
    assert scans() == 1, "touched, and read again, but the same"
    assert scans("--dagster") == 2
    (manuals / "oil.pdf").unlink()
    assert (scans(), partitions()) == (3, 0)


def test_an_idle_sync_finishes_what_a_killed_one_left(
    rag: Rag, manuals: Path, database: Database
) -> None:
    make_pdf(manuals / "oil.pdf", OIL)
    assert rag("sync", str(manuals)).returncode == 0
    with database.connection() as connection:
        connection.execute("UPDATE corpus_statistics SET is_stale = true")
        connection.execute("DELETE FROM lexeme")
    done = rag("sync", "--json")
    assert json.loads(done.stdout)["runs"] == []
    with database.connection() as connection:
        assert connection.execute("SELECT count(*) > 0 FROM lexeme").fetchone() == (True,)


def test_explain_says_what_is_embedded_again_and_why(rag: Rag, manuals: Path) -> None:
    sections = {name: f"The {name} is checked every week by hand. " * 9 for name in ("oil", "air")}

    def write(title: str, **texts: str) -> None:
        body = "".join(f"## {name}\n\n{text}\n\n" for name, text in (sections | texts).items())
        (manuals / "manual.md").write_text(f"# {title}\n\n{body}", encoding="utf-8")

    write("Pump")
    assert rag("sync", str(manuals)).returncode == 0
    write("Pump", oil="The oil is new. " * 20)
    told = " ".join(rag("sync", "--explain").stdout.split())
    assert "manual.md 1 of 2 chunks embedded again: 1 with other text" in told
    write("Valve", oil="The oil is new. " * 20)
    told = " ".join(rag("sync", "--explain").stdout.split())
    # The first chunk repeats the title in its text.
    assert (
        "2 of 2 chunks embedded again: 1 with other text, 1 under another heading, which is" in told
    )
