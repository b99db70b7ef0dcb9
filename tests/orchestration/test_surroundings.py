"""Commands in surroundings that are not as they should be: folders, rights, locks, variables."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from rag_pipeline.settings import Settings
from tests.orchestration.conftest import Rag
from tests.pdfs import make_pdf

OIL = [("Oil", ["Change the oil every year."])]
WITHOUT_ROOTS_RIGHTS = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")


@pytest.fixture
def plain_rag(environment: dict[str, str], tmp_path: Path) -> Iterator[Rag]:
    """Run `rag` as an account to which rights of files apply."""
    prefix: tuple[str, ...] = ()
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("setpriv is not installed, and rights of files do not bind root")
        prefix = WITHOUT_ROOTS_RIGHTS
    # The test server's folder belongs to another account then; only its socket is needed.
    sockets = Path(str(conninfo_to_dict(environment["RAG_DATABASE_URL"])["host"]))
    sockets.chmod(0o755)

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*prefix, sys.executable, "-m", "rag_pipeline.cli", *arguments],
            cwd=tmp_path,
            env={**environment, **variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    yield run
    sockets.chmod(0o700)


def test_the_documents_of_the_last_folder_go_with_it(rag: Rag, tmp_path: Path) -> None:
    make_pdf(tmp_path / "manuals" / "oil.pdf", OIL)
    assert rag("sync", "manuals").returncode == 0
    assert rag("sources", "remove", "manuals").returncode == 0
    synced = rag("sync", "--json")
    assert synced.returncode == 0, synced.stderr
    assert json.loads(synced.stdout)["files"]["removed"] == 1
    assert json.loads(rag("search", "oil", "--json").stdout)["results"] == []
    nothing_left = rag("sync")
    assert nothing_left.returncode == 1
    assert "there is no folder to sync" in nothing_left.stderr


def test_what_cannot_be_read_is_told_and_is_in_the_status(plain_rag: Rag, tmp_path: Path) -> None:
    make_pdf(tmp_path / "manuals" / "oil.pdf", OIL)
    closed = make_pdf(tmp_path / "manuals" / "closed.pdf", [("Air", ["Clean the filter."])])
    folder = tmp_path / "manuals" / "shut"
    folder.mkdir()
    closed.chmod(0)
    folder.chmod(0)
    try:
        synced = plain_rag("sync", "manuals", "--json")
        assert synced.returncode == 2, synced.stderr
        summary = json.loads(synced.stdout)
        assert summary["documents_done"] == 1
        assert {Path(note.split(": ")[0]).name for note in summary["unread"]} == {
            "closed.pdf",
            "shut",
        }
        status = plain_rag("status").stdout
        assert f"unreadable {closed}: Permission denied" in status
        assert f"unreadable {folder}: Permission denied" in status
    finally:
        closed.chmod(0o644)
        folder.chmod(0o755)
    assert plain_rag("sync").returncode == 0
    assert "unreadable" not in plain_rag("status").stdout


def test_verify_reads_every_file_again(rag: Rag, tmp_path: Path) -> None:
    folder = tmp_path / "manuals"
    folder.mkdir()
    for text, found in (("The pump is red.", 1), ("The pump is dry.", 0)):
        (folder / "a.txt").write_text(text, encoding="utf-8")
        os.utime(folder / "a.txt", (1, 1))
        changes = json.loads(rag("sync", "manuals", "--json", RAG_SYNC__VERIFY_SYNCS="0").stdout)
        assert changes["files"]["new"] == found
    assert changes["files"]["changed"] == 0
    previewed = json.loads(rag("sync", "--dry-run", "--verify", "--json").stdout)
    assert previewed["files"]["changed"] == 1
    assert json.loads(rag("sync", "--verify", "--json").stdout)["files"]["changed"] == 1
    assert "The pump is dry." in rag("search", "pump").stdout


def test_a_foreign_lock_is_named(rag: Rag, environment: dict[str, str], tmp_path: Path) -> None:
    make_pdf(tmp_path / "manuals" / "oil.pdf", OIL)
    assert rag("sync", "manuals").returncode == 0
    make_pdf(tmp_path / "manuals" / "air.pdf", [("Air", ["Clean the filter."])])
    url = environment["RAG_DATABASE_URL"]
    with psycopg.connect(url, application_name="backup of the night") as holder:
        holder.execute("LOCK TABLE chunk IN ACCESS EXCLUSIVE MODE")
        for command in (("search", "oil"), ("sync",)):
            blocked = rag(*command)
            assert blocked.returncode == 1, blocked.stdout
            (line,) = [text for text in blocked.stderr.splitlines() if text.startswith("error")]
            assert f"process {holder.info.backend_pid} (backup of the night" in line
            assert "on chunk" in line
    assert rag("sync").returncode == 0
    assert "2 of 2 documents ready" in rag("status").stdout


def test_the_locale_changes_nothing(plain_rag: Rag, tmp_path: Path, settings: Settings) -> None:
    folder = tmp_path / "Handbücher"
    folder.mkdir()
    (folder / "Ölfilter.txt").write_text("Der Ölfilter ist 오일 필터.", encoding="utf-8")
    (settings.project_dir / "rag.toml").write_text("# größer\n[search]\nlimit = 7\n", "utf-8")
    assert plain_rag("sync", "Handbücher").returncode == 0
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    again = plain_rag("sync", "--json", **plain)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["files"]["unchanged"] == 1
    found = plain_rag("search", "Ölfilter", **plain)
    assert "Ölfilter.txt" in found.stdout, found.stderr
    assert "오일" in found.stdout


def test_queries_are_read_as_utf8_whatever_the_locale(environment: dict[str, str]) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    code = "from rag_pipeline import RagSystem; print(RagSystem().search('x').results)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**environment, **plain},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


def test_a_home_of_dagster_that_is_not_there(rag: Rag, tmp_path: Path) -> None:
    make_pdf(tmp_path / "manuals" / "oil.pdf", OIL)
    synced = rag("sync", "manuals", DAGSTER_HOME=str(tmp_path / "nowhere"))
    assert synced.returncode == 1
    (line,) = synced.stderr.splitlines()
    assert line.startswith("error DAGSTER_HOME is ")


def test_a_home_folder_without_rights_is_one_line(plain_rag: Rag, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "manuals").mkdir(parents=True)
    home.chmod(0o555)
    for command in (("sync", str(home / "manuals")), ("search", "oil"), ("status",)):
        refused = plain_rag(*command, RAG_HOME=str(home), RAG_DATABASE_URL="")
        assert refused.returncode == 1
        assert "Traceback" not in refused.stderr
        assert "no permission for" in refused.stderr.splitlines()[-1]
    own_server = plain_rag("sync", str(home / "manuals"), RAG_HOME=str(home))
    assert own_server.returncode == 1
    assert "Traceback" not in own_server.stderr
    home.chmod(0o755)


def test_a_full_disk_names_the_document_once(rag: Rag, tmp_path: Path) -> None:
    """A file where a folder is needed: nothing can be written there, as on a full disk."""
    make_pdf(tmp_path / "manuals" / "oil.pdf", OIL)
    artifacts = tmp_path / "artifacts"
    artifacts.mkdir()
    (artifacts / "document_structure").touch()
    synced = rag("sync", "manuals", "--json", RAG_ARTIFACTS_URL=str(artifacts))
    assert synced.returncode == 1
    (line,) = [text for text in synced.stderr.splitlines() if text.startswith("error")]
    assert line.startswith("error oil.pdf: an artifact could not be written: ")
    assert line.count("oil.pdf") == 1
    assert "free space" in line
    (artifacts / "document_structure").unlink()
    assert rag("sync", RAG_ARTIFACTS_URL=str(artifacts)).returncode == 0
