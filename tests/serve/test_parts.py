"""Marks, pictures whose process dies, and the command itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from rag_pipeline.search.marking import Marker
from rag_pipeline.serve.knowledge import StoredDocument
from rag_pipeline.serve.originals import Originals
from rag_pipeline.serve.pictures import Pictures
from rag_pipeline.serve.problems import ProblemError
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.named_queries import queries, records

RAG = str(Path(sys.executable).parent / "rag")


@pytest.mark.parametrize(
    ("query", "text", "marked"),
    [
        ("oil filters", "Oil the (filter), not oils.", ["Oil", "filter", "oils"]),
        ("how do I replace the seal?", "Replace the seal. Do it.", ["Replace", "seal"]),
        ("QF-1142/B", "filter QF-1142/B.", ["QF-1142/B"]),
        ("필터를 교체", "| 오일필터 교체하십시오 |", ["오일필터", "교체하십시오"]),
        ("밸브를", "커버를 여십시오", []),
        ("the", "the oil", []),
        ("", "oil", []),
    ],
)
def test_marks(query: str, text: str, marked: list[str]) -> None:
    spans = Marker(query, ["en", "ko"]).spans(text)
    assert [text[start:end] for start, end in spans] == marked


def stored(project: Settings, name: str) -> StoredDocument:
    database = Database.open(project)
    with database.connection() as connection:
        found = records(connection, StoredDocument, queries.find_documents, wanted=name)
    database.close()
    return found[0]


def die(path: Path, page: int, width: int, *, document: str) -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


def test_a_page_that_kills_its_process_costs_one_picture(
    project: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = stored(project, "datasheet.pdf")
    pictures = Pictures(Originals(project))
    try:
        with monkeypatch.context() as patch:
            patch.setattr("rag_pipeline.serve.pictures.render_page", die)
            with pytest.raises(ProblemError, match="cannot be rendered") as caught:
                pictures.picture(document, 1, 400)
        assert caught.value.problem.status == 422
        picture = pictures.picture(document, 1, 400)
        assert picture[:4] == b"RIFF"
        assert pictures.picture(document, 1, 300) is picture
    finally:
        pictures.close()


def environment(project: Settings) -> dict[str, str]:
    assert project.database_url is not None
    return {
        **os.environ,
        "RAG_HOME": str(project.project_dir),
        "RAG_DATABASE_URL": project.database_url.get_secret_value(),
    }


def test_the_command_serves_until_it_is_interrupted(project: Settings) -> None:
    command = [RAG, "serve", "--port", "0"]
    with subprocess.Popen(
        command, env=environment(project), stderr=subprocess.PIPE, text=True
    ) as serving:
        assert serving.stderr is not None
        url = serving.stderr.readline().split()[0]
        reply = httpx.get(f"{url}/api/sources", timeout=300).json()
        assert reply["counts"]["documents"] == 5
        serving.send_signal(signal.SIGINT)
        assert serving.wait(300) == 130
        assert "Traceback" not in serving.stderr.read()


def test_the_command_refuses_to_be_open_to_all(project: Settings) -> None:
    ran = subprocess.run(
        [RAG, "serve", "--host", "0.0.0.0", "--port", "0"],
        env=environment(project),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 1
    assert "no token is configured; add [[serve.tokens]] to rag.toml" in ran.stderr.replace(
        "\n", " "
    )
