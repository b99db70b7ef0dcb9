"""Whole replies: what is sent, what comes back, and what it costs."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable

import pytest

from rag_pipeline.chat import ChatModel, ChatReply, Message
from rag_pipeline.errors import ChatError
from rag_pipeline.usage import Usage, estimate_usd
from tests.chat.chat_server import Answer, ChatServer, error, whole
from tests.chat.conftest import KEY, QUESTION

USED = Usage("chat", "m", "chat", requests=1, tokens=11, output_tokens=7)


def test_a_reply_with_its_tokens(chat: ChatModel) -> None:
    assert chat.complete(QUESTION) == ChatReply("Open the valve.", "stop", None, USED)
    assert chat.name == "chat/m"


def test_what_is_sent(server: ChatServer, chat_of: Callable[..., ChatModel]) -> None:
    chat_of(temperature=0.5, max_tokens=99).complete(QUESTION)
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Answer briefly."},
            {"role": "user", "content": "밸브를 어떻게 여나요?"},
        ],
        "temperature": 0.5,
        "max_tokens": 99,
    }


def test_no_key_no_header(server: ChatServer, chat_of: Callable[..., ChatModel]) -> None:
    chat_of(api_key=None).complete(QUESTION)
    assert "Authorization" not in server.requests[0].headers


def test_a_key_in_netrc_does_not_go_before_ours(
    server: ChatServer, chat: ChatModel, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login kim password pw\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    chat.complete(QUESTION)
    assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"


def test_what_no_server_takes_is_cleaned_away(server: ChatServer, chat: ChatModel) -> None:
    chat.complete([Message("user", "a\x00b\ud800c\nd")])
    assert server.requests[0].body["messages"][0]["content"] == "ab\ufffdc\nd"


def test_usage_is_summed_until_it_is_taken(chat: ChatModel) -> None:
    chat.complete(QUESTION)
    chat.complete(QUESTION)
    assert chat.take_usage() == [Usage("chat", "m", "chat", 2, 22, 14)]
    assert chat.take_usage() == []


def test_the_cost_has_input_and_output() -> None:
    # 2 million at 0.25 $ and 1 million at 2 $ the million
    usage = Usage("openai", "gpt-5-mini", "chat", 1, 2_000_000, 1_000_000)
    assert estimate_usd(usage) == pytest.approx(2.5)
    own = {"chat/m": 1.0, "chat/m/output": 3.0}
    assert estimate_usd(Usage("chat", "m", "chat", 1, 1_000_000, 1_000_000), own) == 4.0
    assert estimate_usd(Usage("ollama", "qwen3:8b", "chat", 1, 5, 5)) == 0.0


def test_an_answer_cut_at_the_limit_says_so(server: ChatServer, chat: ChatModel) -> None:
    server.answers = [Answer(whole("Open the", "length"))]
    reply = chat.complete(QUESTION)
    assert (reply.text, reply.finish_reason, reply.is_complete) == ("Open the", "length", False)


def test_a_limit_used_up_by_thinking_is_an_error(server: ChatServer, chat: ChatModel) -> None:
    server.answers = [Answer(whole("", "length"))]
    with pytest.raises(ChatError, match=r"chat\.max_tokens"):
        chat.complete(QUESTION)
    assert chat.take_usage() == [USED]  # it was billed all the same


def test_a_refusal_is_a_reply(server: ChatServer, chat: ChatModel) -> None:
    server.answers = [Answer(whole(None, refusal="I can't help with that."))]
    reply = chat.complete(QUESTION)
    assert (reply.text, reply.refusal) == ("", "I can't help with that.")
    assert not reply.is_complete
    assert len(server.requests) == 1


def test_a_filtered_answer_is_a_refusal(server: ChatServer, chat: ChatModel) -> None:
    server.answers = [Answer(whole("Open", "content_filter"))]
    reply = chat.complete(QUESTION)
    assert reply.finish_reason == "content_filter"
    assert reply.refusal == "the provider's content filter withheld the answer"


def test_a_filtered_question_is_a_refusal(server: ChatServer, chat: ChatModel) -> None:
    server.answers = [Answer(error("The prompt was filtered.", "content_filter"), status=400)]
    reply = chat.complete(QUESTION)
    assert (reply.text, reply.finish_reason) == ("", "content_filter")
    assert reply.refusal == "The prompt was filtered."


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ({"choices": []}, "no choice"),
        ({"object": "chat.completion"}, "no choice"),
        (whole(""), "an empty answer"),
        (whole(" \n"), "an empty answer"),
        (b"<html>Welcome</html>", "no JSON"),
        ([1], "JSON of another shape"),
    ],
)
def test_replies_of_the_wrong_shape_are_asked_for_once_more(
    server: ChatServer, chat: ChatModel, body: object, what: str
) -> None:
    server.always = Answer(body)
    with pytest.raises(ChatError, match=what):
        chat.complete(QUESTION)
    assert len(server.requests) == 2


def test_the_second_try_counts(server: ChatServer, chat: ChatModel) -> None:
    server.answers = [Answer({"choices": []})]
    assert chat.complete(QUESTION).text == "Open the valve."


def test_text_in_parts_and_halves_of_letters(server: ChatServer, chat: ChatModel) -> None:
    parts = [{"type": "text", "text": "밸브 \ud83d"}, {"type": "text", "text": "\ude00\x00!"}]
    server.answers = [Answer(whole(parts))]
    assert chat.complete(QUESTION).text == "밸브 \N{GRINNING FACE}!"


def test_a_model_that_takes_no_temperature(server: ChatServer, chat: ChatModel) -> None:
    message = "Unsupported value: 'temperature' does not support 0 with this model."
    server.answers = [Answer(error(message, "unsupported_value", "temperature"), status=400)]
    assert chat.complete(QUESTION).text == "Open the valve."
    chat.complete(QUESTION)
    assert ["temperature" in request.body for request in server.requests] == [True, False, False]


def test_a_model_that_names_its_limit_otherwise(server: ChatServer, chat: ChatModel) -> None:
    message = "Unsupported parameter: 'max_tokens' is not supported with this model. "
    answer = error(message + "Use 'max_completion_tokens'.", "unsupported_parameter", "max_tokens")
    server.answers = [Answer(answer, status=400)]
    chat.complete(QUESTION)
    assert "max_tokens" not in server.requests[1].body
    assert server.requests[1].body["max_completion_tokens"] == 4096


def test_a_limit_that_is_too_high_is_not_dropped(server: ChatServer, chat: ChatModel) -> None:
    message = "max_tokens is too large: 4096. This model supports at most 2048 tokens."
    server.answers = [Answer(error(message, param="max_tokens"), status=400)]
    with pytest.raises(ChatError, match=r"lower chat\.max_tokens"):
        chat.complete(QUESTION)
    assert len(server.requests) == 1


def test_no_more_at_once_than_allowed(
    server: ChatServer, chat_of: Callable[..., ChatModel]
) -> None:
    server.always = Answer(whole("x"), delay=0.05, company=2)
    chat = chat_of(max_concurrent_requests=2)
    threads = [threading.Thread(target=chat.complete, args=(QUESTION,)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.requests) == 6
    assert server.most_running == 2
    assert chat.take_usage()[0].requests == 6


def test_nothing_is_logged_but_the_parameter(
    server: ChatServer, chat: ChatModel, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    answer = error("'temperature' is not supported", param="temperature")
    server.answers = [Answer(answer, status=400), Answer(error("busy"), status=503)]
    chat.complete(QUESTION)
    text = caplog.text + json.dumps([record.__dict__ for record in caplog.records], default=str)
    assert "m does not take temperature" in text
    assert KEY not in text
    assert "Answer briefly" not in text
    assert "밸브" not in text
