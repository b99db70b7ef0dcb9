"""Streamed replies: pieces as they come, the whole at the end, and never a half for a whole."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from rag_pipeline.chat import ChatModel, ChatReply
from rag_pipeline.errors import ChatError, ProviderError
from rag_pipeline.usage import Usage
from tests.chat.chat_server import END, Answer, ChatServer, chunk, error, event, streamed
from tests.chat.conftest import QUESTION

USED = Usage("chat", "m", "chat", requests=1, tokens=11, output_tokens=7)


def test_pieces_and_then_the_reply(server: ChatServer, chat: ChatModel) -> None:
    stream = chat.stream(QUESTION)
    assert server.requests == []  # the request leaves with the first piece
    assert list(stream) == ["Open ", "the valve."]
    assert stream.reply == ChatReply("Open the valve.", "stop", None, USED)
    assert list(stream) == []
    assert stream.reply.text == "Open the valve."
    assert chat.take_usage() == [USED]
    assert server.requests[0].body["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize("chunked", [True, False])
def test_pieces_come_while_the_server_still_writes(
    server: ChatServer, chat: ChatModel, chunked: bool
) -> None:
    pieces = [chunk(content="a"), chunk(content="b"), *END]
    was_read = threading.Event()
    server.answers = [Answer(pieces=pieces, until=was_read, chunked=chunked)]
    with chat.stream(QUESTION) as stream:
        assert next(stream) == "a"
        was_read.set()  # what comes after it is written only now
        assert list(stream) == ["b"]
    assert stream.reply.text == "ab"


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
def test_letters_and_line_ends_split_anywhere(
    server: ChatServer, chat: ChatModel, size: int, newline: bytes
) -> None:
    texts = ["밸브를 ", "열고 \N{GRINNING FACE}", "é\u2028\x85 끝"]
    comment = b": keep-alive\n\nevent: message\nid: 7\n"
    first = chunk(content=texts[0])
    data = b"\xef\xbb\xbf" + first + comment + b"".join(streamed(*texts[1:]))
    data = data.replace(b"\n", newline)
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    server.answers = [Answer(pieces=pieces)]
    stream = chat.stream(QUESTION)
    assert list(stream) == texts
    assert stream.reply.usage == USED


def test_data_without_a_space_and_over_two_lines(server: ChatServer, chat: ChatModel) -> None:
    data = b'data:{"choices": [{"index": 0,\ndata: "delta": {"content": "x"}}]}\n\n'
    server.answers = [Answer(pieces=[data, *END])]
    assert list(chat.stream(QUESTION)) == ["x"]


def test_an_emoji_in_two_escaped_halves(server: ChatServer, chat: ChatModel) -> None:
    data = b'data: {"choices": [{"index": 0, "delta": {"content": "%b"}}]}\n\n'
    pieces = [data % rb"a\ud83d", data % rb"\ude00b", *END]
    server.answers = [Answer(pieces=pieces)]
    assert list(chat.stream(QUESTION)) == ["a", "\N{GRINNING FACE}b"]


@pytest.mark.parametrize("chunked", [True, False])
def test_a_cut_stream_is_no_answer(server: ChatServer, chat: ChatModel, chunked: bool) -> None:
    pieces = [chunk(content="Open "), chunk(content="the")]
    server.answers = [Answer(pieces=pieces, cut=True, chunked=chunked)]
    stream = chat.stream(QUESTION)
    assert [next(stream), next(stream)] == ["Open ", "the"]
    with pytest.raises(ChatError, match="broke off after 8 characters") as caught:
        next(stream)
    assert caught.value.text == "Open the"
    with pytest.raises(ChatError):
        _ = stream.reply
    assert len(server.requests) == 1
    assert chat.take_usage() == [Usage("chat", "m", "chat", requests=1)]


def test_done_without_a_reason_is_no_answer(server: ChatServer, chat: ChatModel) -> None:
    server.answers = [Answer(pieces=[chunk(content="Open"), b"data: [DONE]\n\n"])]
    with pytest.raises(ChatError, match="before the end of the answer"):
        list(chat.stream(QUESTION))


def test_a_stream_cut_before_its_first_piece_is_tried_again(
    server: ChatServer, chat: ChatModel
) -> None:
    server.answers = [Answer(pieces=[chunk(role="assistant", content="")], cut=True)]
    assert "".join(chat.stream(QUESTION)) == "Open the valve."
    assert len(server.requests) == 2


def test_a_line_cut_behind_the_last_word_loses_nothing(server: ChatServer, chat: ChatModel) -> None:
    server.answers = [Answer(pieces=[chunk(content="Done."), chunk("stop")], cut=True)]
    stream = chat.stream(QUESTION)
    assert list(stream) == ["Done."]
    assert stream.reply.is_complete


@pytest.mark.parametrize("bad", [b"data: {not json\n\n", b"data: 7\n\n"])
def test_malformed_events(server: ChatServer, chat: ChatModel, bad: bytes) -> None:
    server.answers = [Answer(pieces=[chunk(content="Open"), bad, *END])]
    with pytest.raises(ChatError, match="JSON") as caught:
        list(chat.stream(QUESTION))
    assert caught.value.text == "Open"
    server.always = Answer(pieces=[bad, *END])
    with pytest.raises(ChatError, match="tried 2 times"):
        list(chat.stream(QUESTION))


def test_what_is_no_event_stream(server: ChatServer, chat: ChatModel) -> None:
    server.always = Answer(b"<html>Welcome</html>")
    with pytest.raises(ChatError, match="no choice"):
        list(chat.stream(QUESTION))


def test_an_error_within_a_stream(server: ChatServer, chat: ChatModel) -> None:
    failed = event(error("The engine died", "500"))
    server.answers = [Answer(pieces=[chunk(content="Open"), failed, b"data: [DONE]\n\n"])]
    with pytest.raises(ChatError, match="The engine died") as caught:
        list(chat.stream(QUESTION))
    assert caught.value.text == "Open"
    server.answers = [Answer(pieces=[failed])]  # before the first piece it is tried again
    assert "".join(chat.stream(QUESTION)) == "Open the valve."
    server.answers = [Answer(pieces=[event(error("No credit", "insufficient_quota"))])]
    with pytest.raises(ProviderError, match="No credit"):
        list(chat.stream(QUESTION))


def test_no_choices_in_a_stream(server: ChatServer, chat: ChatModel) -> None:
    server.always = Answer(pieces=[event({"choices": []}), b"data: [DONE]\n\n"])
    with pytest.raises(ChatError, match="no choice"):
        list(chat.stream(QUESTION))
    assert len(server.requests) == 2


def test_a_refusal_in_pieces(server: ChatServer, chat: ChatModel) -> None:
    server.answers = [Answer(pieces=[chunk(refusal="I can't "), chunk(refusal="do that."), *END])]
    stream = chat.stream(QUESTION)
    assert list(stream) == []
    assert stream.reply.refusal == "I can't do that."


def test_a_limit_in_a_stream(server: ChatServer, chat: ChatModel) -> None:
    server.answers = [Answer(pieces=[chunk(content="Open"), chunk("length"), b"data: [DONE]\n\n"])]
    stream = chat.stream(QUESTION)
    assert list(stream) == ["Open"]
    assert (stream.reply.finish_reason, stream.reply.is_complete) == ("length", False)


def test_a_server_that_counts_no_tokens(server: ChatServer, chat: ChatModel) -> None:
    refused = {"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs not permitted"}]}
    plain = [chunk(content="x"), chunk("stop")]
    server.answers = [Answer(refused, status=422), Answer(pieces=plain)]
    stream = chat.stream(QUESTION)
    assert list(stream) == ["x"]
    assert stream.reply.usage == Usage("chat", "m", "chat", requests=1)
    assert "stream_options" not in server.requests[1].body


@pytest.mark.parametrize("chunked", [True, False])
@pytest.mark.parametrize("dribble", [True, False])
def test_a_stream_that_stalls_ends_at_the_deadline(
    server: ChatServer, chat_of: Callable[..., ChatModel], chunked: bool, dribble: bool
) -> None:
    # Silence, or bytes that never make a piece, each of which comes in time.
    pieces = [chunk(content="a"), chunk(content="b")]
    until = None if dribble else server.ended
    server.answers = [Answer(pieces=pieces, until=until, dribble=dribble, chunked=chunked)]
    given: list[str] = []
    began = time.monotonic()
    with pytest.raises(ChatError, match="too slow") as caught:
        given.extend(chat_of(deadline_seconds=0.5).stream(QUESTION))
    assert 0.45 < time.monotonic() - began < 30
    assert given == ["a", "b"][: len(given)]
    assert caught.value.text == "".join(given)


def test_letters_that_trickle_end_at_the_deadline(
    server: ChatServer, chat_of: Callable[..., ChatModel]
) -> None:
    server.answers = [Answer(pieces=[b":\n"] * 1200, pause=0.05)]
    began = time.monotonic()
    with pytest.raises(ChatError, match=r"too slow .*deadline 0\.4 s"):
        list(chat_of(deadline_seconds=0.4).stream(QUESTION))
    assert time.monotonic() - began < 30


def test_closing_hangs_up_and_makes_room(
    server: ChatServer, chat_of: Callable[..., ChatModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = chat_of(max_concurrent_requests=1, deadline_seconds=600)
    server.answers = [Answer(pieces=[chunk(content="a")] * 6000, pause=0.02)]
    stream = chat.stream(QUESTION)
    next(stream)
    with monkeypatch.context() as patched:
        patched.setattr(chat, "_deadline", 0.3)  # the waiting is for a turn that cannot come
        with pytest.raises(ChatError, match=r"no turn came within 0\.3 s"):
            chat.complete(QUESTION)
    assert not server.hung_up.is_set()
    stream.close()
    assert server.hung_up.wait(60)
    assert chat.complete(QUESTION).text == "Open the valve."
    with pytest.raises(ChatError, match="not read to its end"):
        _ = stream.reply
