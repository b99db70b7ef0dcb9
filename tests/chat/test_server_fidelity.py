"""The tests' server is what OpenAI's own library takes for OpenAI."""

from __future__ import annotations

import openai
import pytest

from tests.chat.chat_server import Answer, ChatServer, error


@pytest.fixture
def client(server: ChatServer) -> openai.OpenAI:
    return openai.OpenAI(api_key="sk-test", base_url=server.url, max_retries=0)


def test_whole_replies(client: openai.OpenAI) -> None:
    reply = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "?"}])
    assert reply.choices[0].message.content == "Open the valve."
    assert reply.usage is not None
    assert reply.usage.total_tokens == 18


def test_streamed_replies(client: openai.OpenAI) -> None:
    chunks = list(
        client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "?"}], stream=True
        )
    )
    texts = [choice.delta.content or "" for chunk in chunks for choice in chunk.choices]
    assert "".join(texts) == "Open the valve."
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens == 7


def test_errors(server: ChatServer, client: openai.OpenAI) -> None:
    server.answers = [Answer(error("No credit", "insufficient_quota"), status=429)]
    with pytest.raises(openai.RateLimitError) as caught:
        client.chat.completions.create(model="m", messages=[])
    assert caught.value.code == "insufficient_quota"
