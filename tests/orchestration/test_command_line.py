"""The command `rag`, as a user runs it: in processes of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

from rag_pipeline.settings import Settings
from tests.orchestration.conftest import Rag
from tests.pdfs import make_damaged_pdfs, make_pdf

HOLD = """
CREATE SEQUENCE first_landing;
CREATE FUNCTION hold_later_landings() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    landing bigint := pg_current_xact_id()::text::bigint;
BEGIN
    IF NOT (SELECT is_called FROM first_landing) THEN
        PERFORM setval('first_landing', landing);
    ELSIF (SELECT last_value FROM first_landing) <> landing THEN
        PERFORM pg_advisory_xact_lock(4711);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER hold_later_landings BEFORE UPDATE ON document FOR EACH ROW
WHEN (NEW.status = 'ready') EXECUTE FUNCTION hold_later_landings();
"""
"""Lets one transaction make documents ready; the next waits for whoever holds the lock 4711."""
COUNT = 60
"""Documents of a sync that is killed: more than land together."""
RELEASE = """
DROP TRIGGER hold_later_landings ON document;
DROP FUNCTION hold_later_landings;
DROP SEQUENCE first_landing;
"""


def test_sync_search_ask_status(rag: Rag, tmp_path: Path) -> None:
    make_damaged_pdfs(tmp_path / "manuals")
    synced = rag("sync", "manuals", "--json")
    assert synced.returncode == 2, synced.stderr
    summary = json.loads(synced.stdout)
    assert summary["documents_done"] == 1
    assert {failure["file"] for failure in summary["failures"]} == {
        "encrypted.pdf",
        "truncated.pdf",
        "empty.pdf",
        "image.pdf",
    }

    again = rag("sync", "--json")
    assert again.returncode == 2, "still failed, though not tried again"
    assert json.loads(again.stdout)["stages"] == {}

    found = json.loads(rag("search", "E-07", "--json").stdout)
    first = found["results"][0]
    assert "intake valve is stuck" in first["content"]
    assert first["score"] == pytest.approx(sum(d["contribution"] for d in first["details"]))
    assert {detail["leg"] for detail in first["details"]} == {"text", "vector"}

    answer = json.loads(rag("ask", "What does error code E-07 mean?", "--json").stdout)
    assert answer["kind"] == "extractive"
    assert "intake valve is stuck" in answer["quotes"][0]["text"]
    assert answer["quotes"][0]["citation"]["document"] == "good.pdf"
    assert answer["quotes"][0]["citation"]["page_start"] == 1

    status = rag("status")
    assert "1 of 5 documents ready" in status.stdout
    assert "encrypted.pdf: the PDF is encrypted" in status.stdout

    explained = rag("search", "oil filter", "--explain")
    assert "contribution" in explained.stdout
    assert "good.pdf, page 1" in explained.stdout


def test_errors_are_one_line_with_the_next_step(rag: Rag) -> None:
    nothing = rag("sync")
    assert nothing.returncode == 1
    assert "there is no folder to sync; run `rag sync FOLDER`" in nothing.stderr
    assert "Traceback" not in nothing.stderr
    absent = rag("sync", "nowhere")
    assert absent.returncode == 1
    assert "nowhere does not exist" in absent.stderr
    unreachable = rag("status", RAG_DATABASE_URL="postgresql://kim:hunter2@127.0.0.1:1/rag")
    assert unreachable.returncode == 1
    assert "hunter2" not in unreachable.stderr
    assert "run `rag doctor`" in unreachable.stderr


def test_forgotten_folders_and_retries(rag: Rag, tmp_path: Path) -> None:
    make_pdf(tmp_path / "a" / "a.pdf", [("Oil", ["Change the oil."])])
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "b.pdf").write_bytes(b"")
    assert rag("sync", "a", "b").returncode == 2
    retried = rag("retry", "b.pdf", "--json")
    assert retried.returncode == 2
    assert json.loads(retried.stdout)["failures"][0]["earlier"] == "no"
    assert rag("retry", "c.pdf").returncode == 1
    assert rag("sources", "remove", "b").returncode == 0
    assert rag("sync").returncode == 0
    counts = json.loads(rag("status", "--json").stdout)["counts"]
    assert (counts["documents"], counts["failed"]) == (1, 0)


def test_doctor_is_content(rag: Rag) -> None:
    checks = json.loads(rag("doctor", "--json").stdout)
    assert {check["name"] for check in checks if not check["passed"]} == set()
    assert "Korean in pg_trgm" in {check["name"] for check in checks}


def test_inspect_needs_no_database(rag: Rag, tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "oil.pdf", [("1 Oil", ["Change it."]), ("1.1 Filter", ["Too."])])
    result = rag("inspect", str(path), "--json", RAG_DATABASE_URL="postgresql://127.0.0.1:1/none")
    assert [heading[:2] for heading in json.loads(result.stdout)["headings"]] == [
        [0, "1 Oil"],
        [1, "1.1 Filter"],
    ]


@pytest.mark.parametrize("further", [[], ["--wait-vectors"]])
def test_a_killed_sync_is_taken_up_again(
    environment: dict[str, str], rag: Rag, tmp_path: Path, settings: Settings, further: list[str]
) -> None:
    for number in range(COUNT):
        lines = [f"Sentence {line} of manual {number} on valves." for line in range(25)]
        make_pdf(tmp_path / "manuals" / f"{number:02}.pdf", [(f"Manual {number}", lines)], pages=3)
    assert settings.database_url is not None
    url = settings.database_url.get_secret_value()

    with psycopg.connect(url, autocommit=True) as holder:
        holder.execute(HOLD)
        holder.execute("SELECT pg_advisory_lock(4711)")
        process = subprocess.Popen(
            [sys.executable, "-m", "rag_pipeline.cli", "sync", "manuals", *further],
            env=environment,
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        landed = 0
        deadline = time.monotonic() + 600
        while landed == 0 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
            row = holder.execute("SELECT count(*) FROM document WHERE status = 'ready'")
            landed = row.fetchone()[0]  # type: ignore[index]
        process.send_signal(signal.SIGKILL)
        process.wait()
        holder.execute("SELECT pg_advisory_unlock(4711)")
        holder.execute(RELEASE)  # waits until what was under way is rolled back

    query = "SELECT source_hash, chunk_id FROM chunk ORDER BY 2"
    with psycopg.connect(url) as connection:
        before = connection.execute(query).fetchall()
    documents = {source_hash for source_hash, _ in before}
    assert 0 < len(documents) < COUNT, "killed in the middle"

    summary = json.loads(rag("sync", "--json").stdout)
    # What had landed by words is not done again, but gets its vectors.
    assert summary["documents_done"] == (COUNT - len(documents) if further else COUNT)
    with psycopg.connect(url) as connection:
        after = connection.execute(query).fetchall()
        doubled = connection.execute(
            "SELECT count(*) FROM (SELECT 1 FROM chunk GROUP BY source_hash, chunk_index "
            "HAVING count(*) > 1) AS d"
        ).fetchone()
        orphans = connection.execute(
            "SELECT count(*) FROM chunk LEFT JOIN chunk_embedding USING (chunk_id) "
            "WHERE embedding IS NULL"
        ).fetchone()
    assert after[: len(before)] == before, "what had landed was not done again"
    assert len({source_hash for source_hash, _ in after}) == COUNT
    assert (doubled, orphans) == ((0,), (0,))
