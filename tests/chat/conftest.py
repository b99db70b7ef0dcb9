"""A server for each test, and a model that asks it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rag_pipeline.chat import ChatModel, Message, create_chat
from rag_pipeline.remote import Patience
from rag_pipeline.settings import ChatSettings
from tests.chat.chat_server import ChatServer
from tests.clock import skip_time

QUESTION = [Message("system", "Answer briefly."), Message("user", "밸브를 어떻게 여나요?")]
KEY = "sk-test-0123456789"


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeat after hundredths of a second."""
    monkeypatch.setattr(Patience, "first_wait", 0.02)


@pytest.fixture
def pass_deadline(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Let the deadline pass as the server gets a request of this number, however long it took."""
    return lambda number: skip_time(
        monkeypatch, lambda: 60 if len(server.requests) >= number else 0
    )


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer().serving() as server:
        yield server


@pytest.fixture
def chat_of(server: ChatServer) -> Callable[..., ChatModel]:
    """Make a model with some settings of its own."""

    def make(**settings: Any) -> ChatModel:
        values = {"model": "m", "base_url": server.url, "api_key": KEY, "deadline_seconds": 60}
        chat = create_chat(ChatSettings.model_validate(values | settings))
        assert chat is not None
        return chat

    return make


@pytest.fixture
def chat(chat_of: Callable[..., ChatModel]) -> ChatModel:
    return chat_of()
