"""Faults: what is tried again, what ends everything, and what the user is told."""

from __future__ import annotations

import pickle
import socket
import time
import traceback
from collections.abc import Callable
from itertools import pairwise

import pytest

from rag_pipeline.chat import ChatModel
from rag_pipeline.chat.endpoint import Endpoint
from rag_pipeline.errors import ChatError, ProviderError
from rag_pipeline.remote import HttpFault
from rag_pipeline.remote.retrying import SHORTEST_WAIT_SECONDS
from rag_pipeline.settings import ChatSettings
from tests.chat.chat_server import Answer, ChatServer, error
from tests.chat.conftest import KEY, QUESTION


def ask(chat: ChatModel, streamed: bool) -> str:
    return "".join(chat.stream(QUESTION)) if streamed else chat.complete(QUESTION).text


BUSY = error("Rate limit reached", "rate_limit_exceeded")


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_what_passes_is_tried_again(
    server: ChatServer, chat: ChatModel, status: int, streamed: bool
) -> None:
    server.answers = [Answer(BUSY, status=status)] * 2
    assert ask(chat, streamed) == "Open the valve."
    assert len(server.requests) == 3


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("headers", [{"Retry-After": "1"}, {"retry-after-ms": "1000"}])
def test_a_wait_that_is_asked_for_is_kept(
    server: ChatServer, chat: ChatModel, headers: dict[str, str], streamed: bool
) -> None:
    server.answers = [Answer(BUSY, status=429, headers=headers)]
    assert ask(chat, streamed) == "Open the valve."
    first, second = server.requests
    assert second.time - first.time >= 1.0


def test_a_wait_beyond_the_deadline_is_not_begun(server: ChatServer, chat: ChatModel) -> None:
    server.always = Answer(BUSY, status=429, headers={"Retry-After": "90"})
    began = time.monotonic()
    with pytest.raises(ChatError, match=r"tried once, asked to wait 90 s; deadline 60 s"):
        chat.complete(QUESTION)
    assert time.monotonic() - began < 30
    assert len(server.requests) == 1


def test_a_wait_of_nothing_is_no_hammering(server: ChatServer, chat: ChatModel) -> None:
    server.answers = [Answer(BUSY, status=429, headers={"Retry-After": "0"})] * 4
    assert chat.complete(QUESTION).text == "Open the valve."
    times = [request.time for request in server.requests]
    assert len(times) == 5
    assert min(later - earlier for earlier, later in pairwise(times)) >= SHORTEST_WAIT_SECONDS


def test_a_server_that_stays_broken(
    server: ChatServer, chat: ChatModel, pass_deadline: Callable[[int], None]
) -> None:
    server.always = Answer(error("out of memory"), status=500)
    pass_deadline(4)
    with pytest.raises(ChatError, match=r"answered 500: out of memory \(tried 4 times; deadline"):
        chat.complete(QUESTION)
    assert len(server.requests) == 4


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (401, error("Incorrect key"), "RAG_CHAT__API_KEY"),
        (403, error("Not allowed"), "RAG_CHAT__API_KEY"),
        (400, error("API key not valid."), "RAG_CHAT__API_KEY"),
        (402, {"detail": "pay"}, "your account"),
        (429, error("You exceeded your current quota", "insufficient_quota"), "your account"),
        (404, error("The model `m` does not exist", "model_not_found"), r"chat\.model"),
        (404, b"<html>Not found</html>", r"chat\.base_url"),
        (405, b"", r"chat\.base_url"),
        (307, b"", r"chat\.base_url"),
        (400, {"object": "error", "message": "The model `m` does not exist."}, r"chat\.model"),
    ],
)
def test_what_would_fail_every_time_ends_at_once(
    server: ChatServer, chat: ChatModel, status: int, body: object, message: str, streamed: bool
) -> None:
    server.answers = [Answer(body, status=status, headers={"Location": f"{server.url}/other"})]
    with pytest.raises(ProviderError, match=message):
        ask(chat, streamed)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (400, error("maximum context length is 8192 tokens", "context_length_exceeded"), "to read"),
        (413, b"", "to read"),
        (400, error("messages must alternate"), "messages must alternate"),
        (422, {"detail": [{"loc": ["body", "n"], "msg": "bad", "input": "밸브"}]}, r"body\.n: bad"),
    ],
)
def test_what_fails_this_question_only(
    server: ChatServer, chat: ChatModel, status: int, body: object, message: str
) -> None:
    server.answers = [Answer(body, status=status)]
    with pytest.raises(ChatError, match=message) as caught:
        chat.complete(QUESTION)
    assert "밸브" not in str(caught.value)
    assert len(server.requests) == 1
    assert chat.complete(QUESTION).text == "Open the valve."


def test_a_cut_reply_is_asked_for_again(server: ChatServer, chat: ChatModel) -> None:
    server.answers = [Answer({"choices": [], "padding": "x" * 1000}, cut=True)]
    assert chat.complete(QUESTION).text == "Open the valve."


@pytest.mark.parametrize("streamed", [False, True])
def test_a_slow_reply_ends_at_the_deadline(
    server: ChatServer, chat_of: Callable[..., ChatModel], streamed: bool
) -> None:
    server.always = Answer({}, delay=60)
    began = time.monotonic()
    with pytest.raises(ChatError, match=r"too slow \(tried once; deadline 0\.3 s\)") as caught:
        ask(chat_of(deadline_seconds=0.3), streamed)
    assert 0.25 < time.monotonic() - began < 30
    assert caught.value.text == ""


def test_nobody_listens(chat_of: Callable[..., ChatModel]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}/v1"
    # It gives up by the number of tries, and says nothing of a deadline.
    with pytest.raises(ChatError, match=rf"does not answer at {url} \(tried 4 times\)"):
        chat_of(base_url=url).complete(QUESTION)


def test_ollama_is_told_by_its_own_commands() -> None:
    url = "http://localhost:11434/v1"
    endpoint = Endpoint.of(ChatSettings(base_url=url, model="qwen3:8b"))
    missing = HttpFault(404, "model 'qwen3:8b' not found").meaning(endpoint.service)
    assert isinstance(missing, ProviderError)
    assert "ollama pull qwen3:8b" in str(missing)
    assert "ollama serve" in endpoint.start_hint


def test_a_key_that_the_server_quotes_is_blotted_out(server: ChatServer, chat: ChatModel) -> None:
    server.answers = [Answer(error(f"Received API Key = {KEY}"), status=401)]
    with pytest.raises(ProviderError) as caught:
        chat.complete(QUESTION)
    shown = "".join(traceback.format_exception(caught.value))
    assert "Received API Key = ***" in shown
    assert KEY not in shown
    assert KEY not in repr(vars(chat))


def test_the_error_crosses_processes_whole() -> None:
    copy = pickle.loads(pickle.dumps(ChatError("broke off", hint="ask again", text="Open")))
    assert (str(copy), copy.text) == ("broke off; ask again", "Open")
