"""The README's session on the samples, run as one user would, and what it makes searchable."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_pipeline.answering import Answerer
from rag_pipeline.embedding import create_embedder
from rag_pipeline.search import Searcher
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from tests.commands import Commands
from tests.conftest import PROJECT_DIR, SAMPLES_DIR, fresh_database, make_settings

CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)
DOCUMENTS = ("README.md", "docs/dagster.md")
BIN = Path(sys.executable).parent
Session = dict[str, subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def project(
    server_url: str, models_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Settings]:
    """An empty project with a database of its own."""
    with fresh_database(server_url) as url:
        yield make_settings(tmp_path_factory.mktemp("readme") / "project", url, models_dir)


@pytest.fixture(scope="module")
def session(
    project: Settings, commands: Commands, tmp_path_factory: pytest.TempPathFactory
) -> Session:
    """Run every command of the console blocks, in order; return the results by command.

    `make` is left out: it would call the tests again, and the demonstration is these commands.
    """
    assert project.database_url is not None
    dagster_home = tmp_path_factory.mktemp("dagster")
    (dagster_home / "dagster.yaml").write_text("telemetry: {enabled: false}\n", encoding="utf-8")
    environment = {
        **os.environ,
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "RAG_HOME": str(project.project_dir),
        "RAG_DATABASE_URL": project.database_url.get_secret_value(),
        "DAGSTER_HOME": str(dagster_home),
        "COLUMNS": "200",
    }
    texts = [(PROJECT_DIR / name).read_text(encoding="utf-8") for name in DOCUMENTS]
    blocks = [block for text in texts for block in CONSOLE.findall(text)]
    lines = [line for block in blocks for line in block.strip().splitlines()]

    def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        if program == "rag":
            return commands.run(*arguments, folder=PROJECT_DIR, environment=environment)
        return subprocess.run(
            [program, *arguments],
            cwd=PROJECT_DIR,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return {
        line: run(*shlex.split(line)) for line in lines if not line.startswith(("make ", "source "))
    }


def test_every_command_of_the_readme_runs(session: Session) -> None:
    failed = {line: result.stderr for line, result in session.items() if result.returncode}
    assert failed == {}
    ran = {shlex.split(line)[1] for line in session if line.startswith("rag ")}
    assert ran >= {"sync", "search", "ask", "inspect", "status"}


def test_the_samples_are_all_there(session: Session) -> None:
    assert "4 of 4 documents ready, 63 pages" in session["rag status"].stdout


def test_sample_questions_find_their_pages(session: Session, project: Settings) -> None:
    """In both languages, at least nine of ten questions find the page among five results.

    Questions in the other language than their answer are counted apart.
    """
    assert session
    database = Database.open(project)
    embedder = create_embedder(project.embedding, project.models_path)
    searcher = Searcher(database, project, embedder=embedder)
    found: dict[str, list[bool]] = {"en": [], "ko": [], "cross-language": []}
    for line in (SAMPLES_DIR / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        gold = {(item["doc"], item["page"]) for item in question["gold"]}
        if not gold:
            continue
        results = searcher.search(question["question"], limit=5).results
        pages = {
            (result.document, page)
            for result in results
            for page in range(result.page_start, result.page_end + 1)
        }
        kind = question["kind"]
        found[kind if kind in found else question["lang"]].append(bool(gold & pages))
    database.close()
    for language, least in {"en": 0.9, "ko": 0.9, "cross-language": 0.4}.items():
        hits = found[language]
        assert len(hits) >= (20 if language in ("en", "ko") else 5)
        assert sum(hits) / len(hits) >= least, language


ASKED = {
    "replace the air filter": ("5.5 Replacing the Air Filter Cartridge", "6. Press the button"),
    "How often must the oil be changed?": ("5.2 Changing the Oil", "Interval: 4000 h"),
    "how do I change the oil": ("5.2 Changing the Oil", "3. Put the vessel under the drain"),
    "torque of the oil drain plug": (None, "Oil drain plug · Thread: G½ · Torque: 40 N·m"),
    "What does error code E-07 mean?": ("6.3 List of Codes", "Airend temperature too high"),
    "How do I replace the oil filter?": ("5.3 Replacing the Oil Filter", "7. Reset the counter"),
    "오일필터는 어떻게 교체합니까?": ("5.3 오일필터 교체", "3. 필터 헤드의 밀봉면"),
    "E-07 코드는 무엇을 뜻합니까?": ("6.3 코드 목록", "에어엔드 온도 과다"),
}
"""The heading of the first result, and a part of the answer without a chat model."""
UNANSWERED = ["What is the capital of France?", "How do I cook rice?", "zzqqxx blorf"]


@pytest.fixture(scope="module")
def answerer(session: Session, project: Settings) -> Iterator[Answerer]:
    assert session
    database = Database.open(project)
    embedder = create_embedder(project.embedding, project.models_path)
    yield Answerer(database, project, Searcher(database, project, embedder=embedder))
    database.close()


@pytest.mark.parametrize("question", ASKED)
def test_the_first_result_and_the_answer(answerer: Answerer, question: str) -> None:
    heading, part = ASKED[question]
    answer = answerer.ask(question)
    assert answer.status == "answered"
    assert part in answer.text
    if heading:
        assert answer.citations[0].breadcrumb_trail.endswith(heading)


@pytest.mark.parametrize("question", UNANSWERED)
def test_what_the_documents_do_not_say(answerer: Answerer, question: str) -> None:
    answer = answerer.ask(question)
    assert (answer.status, answer.citations) == ("not_found", [])
