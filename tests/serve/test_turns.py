"""Slow answers of a chat model, and everything else that goes on meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from rag_pipeline.serve.answer_turns import WAITING
from rag_pipeline.serve.web_server import page_application
from rag_pipeline.settings import ChatSettings, Settings
from tests.chat.chat_server import Answer, ChatServer, streamed
from tests.knowledge import served

RAG = str(Path(sys.executable).parent / "rag")
QUESTION = {"question": "How do I replace the oil filter?"}
SLOW = 300.0
"""Seconds; only a server that hangs takes as long."""


@pytest.fixture
def chat_server() -> Iterator[ChatServer]:
    with ChatServer().serving() as server:
        yield server


@pytest.fixture
def release(chat_server: ChatServer) -> Iterator[threading.Event]:
    """Lets the chat model write on: it has begun every answer, and sent no word of it."""
    event = threading.Event()
    chat_server.always = Answer(pieces=streamed("Turn it ", "by hand [c1]."), until=event)
    yield event
    event.set()


@pytest.fixture
def serve_with(project: Settings, chat_server: ChatServer) -> Iterator[Callable[[int], str]]:
    """Serve with a chat model that takes so many requests at once; return the address."""
    with ExitStack() as running:

        def serve(at_once: int) -> str:
            chat = ChatSettings(
                model="m", base_url=chat_server.url, max_concurrent_requests=at_once
            )
            settings = project.model_copy(update={"chat": chat})
            application = running.enter_context(page_application(settings, "127.0.0.1"))
            return running.enter_context(served(application))

        yield serve


@contextmanager
def streams(url: str, count: int) -> Iterator[list[httpx.Response]]:
    """Open so many streams of answers, and read nothing."""
    limits = httpx.Limits(max_connections=None)
    with httpx.Client(base_url=url, timeout=SLOW, limits=limits) as client, ExitStack() as opened:
        yield [
            opened.enter_context(client.stream("POST", "/api/ask/stream", json=QUESTION))
            for _ in range(count)
        ]


def wait_for(server: ChatServer, running: int) -> None:
    with server._lock:
        assert server._lock.wait_for(lambda: server.running == running, SLOW)


def answer_of(response: httpx.Response) -> str:
    events = "".join(response.iter_text()).split("\n\n")
    name, _, data = events[-2].partition("\ndata: ")
    assert name == "event: answer", events
    return str(json.loads(data)["text"])


@pytest.mark.parametrize("at_once", [3, 12])
def test_slow_answers_hold_nothing_that_others_need(
    serve_with: Callable[[int], str],
    chat_server: ChatServer,
    release: threading.Event,
    at_once: int,
) -> None:
    """Twelve streams, more than the server has threads; those beyond the chat model's wait."""
    url = serve_with(at_once)
    with streams(url, 12) as opened, httpx.Client(base_url=url, timeout=SLOW) as client:
        wait_for(chat_server, at_once)
        assert client.get("/api/health").json()["status"] == "ok"
        assert "<title>Documents</title>" in client.get("/").text
        for _ in range(3):
            found = client.get("/api/search", params={"q": "oil filter"}).json()
            assert len(found["results"]) == 10
        assert client.get("/api/sources").json()["total"] == 5
        source_hash = found["results"][0]["source_hash"]
        assert client.get(f"/api/pages/{source_hash}/1").status_code == 200
        assert chat_server.running == at_once
        release.set()
        assert {answer_of(one) for one in opened} == {"Turn it by hand [c1]."}
    assert chat_server.most_running == at_once
    assert len(chat_server.requests) == 12


def test_too_many_answers_are_refused_with_the_time_to_wait(
    serve_with: Callable[[int], str], chat_server: ChatServer, release: threading.Event
) -> None:
    url = serve_with(1)
    with streams(url, 1 + WAITING) as opened, httpx.Client(base_url=url, timeout=SLOW) as client:
        wait_for(chat_server, 1)
        for path in ("/api/ask", "/api/ask/stream"):
            refused = client.post(path, json=QUESTION)
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
            assert refused.headers["content-type"] == "application/problem+json"
            assert "33 questions are being answered" in refused.json()["title"]
        assert client.get("/api/search", params={"q": "oil filter"}).status_code == 200
        release.set()
        assert {answer_of(one) for one in opened} == {"Turn it by hand [c1]."}
        assert client.post("/api/ask/stream", json=QUESTION).status_code == 200


def test_who_hangs_up_leaves_the_queue(
    serve_with: Callable[[int], str], chat_server: ChatServer, release: threading.Event
) -> None:
    url = serve_with(1)
    with streams(url, 1) as first:
        wait_for(chat_server, 1)
        with streams(url, 5):
            pass
        release.set()
        answer_of(first[0])
    with streams(url, 1) as last:
        answer_of(last[0])
    assert len(chat_server.requests) == 2


def test_an_interrupt_ends_answers_that_wait_for_a_silent_model(
    project: Settings, chat_server: ChatServer, release: threading.Event
) -> None:
    assert project.database_url is not None
    environment = {
        **os.environ,
        "RAG_HOME": str(project.project_dir),
        "RAG_DATABASE_URL": project.database_url.get_secret_value(),
        "RAG_CHAT__MODEL": "m",
        "RAG_CHAT__BASE_URL": chat_server.url,
        "RAG_CHAT__MAX_CONCURRENT_REQUESTS": "2",
        "RAG_CHAT__DEADLINE_SECONDS": str(SLOW),
    }
    command = [RAG, "serve", "--port", "0"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as serving:
        assert serving.stderr is not None
        url = serving.stderr.readline().split()[0]
        with streams(url, 4) as opened:
            wait_for(chat_server, 2)
            serving.send_signal(signal.SIGINT)
            assert ["".join(one.iter_text()) for one in opened] == [""] * 4
            serving.wait(SLOW / 2)
        assert serving.stderr.read() == "interrupted\n"
