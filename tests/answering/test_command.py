"""`rag ask` as a user runs it, against a chat server."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from tests.chat.chat_server import Answer, ChatServer, chunk, error, streamed, whole
from tests.commands import Commands

QUESTION = "How often must the oil filter be replaced?"
Ask = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def ask(commands: Commands, project: Settings, base: Database, server: ChatServer) -> Ask:
    def run(*options: str) -> subprocess.CompletedProcess[str]:
        assert project.database_url is not None
        return commands.run(
            *("ask", QUESTION, *options),
            folder=Path.cwd(),
            environment={
                **os.environ,
                "RAG_HOME": str(project.project_dir),
                "RAG_DATABASE_URL": project.database_url.get_secret_value(),
                "RAG_CHAT__MODEL": "m",
                "RAG_CHAT__BASE_URL": server.url,
                "COLUMNS": "200",
            },
        )

    return run


def test_streamed_json_and_extractive(ask: Ask, server: ChatServer) -> None:
    server.answers = [Answer(pieces=streamed("Every \x1b[31m2000 hours ", "[c1]. See [c9]."))]
    ran = ask()
    assert ran.returncode == 0, ran.stderr
    answer, doubt, place, tokens = ran.stdout.splitlines()
    assert answer == "Every [31m2000 hours [c1]. See [c9].", "no control character gets through"
    assert doubt == "doubtful cites c9, a chunk that was not given"
    assert place.startswith("[c1] qv40.md, page 1, box (")
    assert ", chunk " in place
    assert tokens == "chat/m: 11 tokens read, 7 written"
    assert server.requests[0].body["stream"] is True

    server.answers = [Answer(whole("Every 2000 hours [c1]."))]
    found = json.loads(ask("--json").stdout)
    assert (found["kind"], found["status"]) == ("chat", "answered")
    assert found["citations"][0]["document"] == "qv40.md"
    assert found["usage"][0]["tokens"] == 11
    assert "stream" not in server.requests[1].body

    assert "The documents do not say." in ask("--document", "none.pdf").stdout
    assert len(server.requests) == 2, "nothing passes the filter, so the model is not asked"

    ran = ask("--extractive")
    assert ran.stdout.startswith("Extractive answer: sentences of the documents, word for word.")
    assert len(server.requests) == 2


def test_what_goes_wrong_is_shown(ask: Ask, server: ChatServer) -> None:
    server.answers = [Answer(pieces=[chunk(role="assistant"), chunk(content="Every ")], cut=True)]
    ran = ask()
    assert ran.returncode == 1
    assert ran.stdout == "Every \n"
    assert "the answer broke off after 6 characters" in ran.stderr

    server.answers = [
        Answer(pieces=[chunk(role="assistant"), chunk(refusal="I must not."), *streamed()[1:]])
    ]
    ran = ask()
    assert ran.returncode == 0
    assert "doubtful the model did not answer: I must not." in ran.stdout

    server.answers = [Answer(error("Incorrect API key"), status=401)]
    ran = ask()
    assert ran.returncode == 1
    assert "RAG_CHAT__API_KEY" in ran.stderr
