"""What a model thinks is no part of its answer, however the server sends it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_pipeline.chat import ChatModel
from rag_pipeline.chat.thinking import ThoughtFilter
from rag_pipeline.errors import ChatError
from tests.chat.chat_server import END, Answer, ChatServer, chunk, streamed, whole
from tests.chat.conftest import QUESTION

ANSWER = "Turn it to 35 Nm [c1], if x < 5 and <b> is set."
THOUGHTS = [
    f"<think>Chunk 1 says 35.</think>\n\n{ANSWER}",
    f"<think>\nIs it <b>?\n</think>{ANSWER}",
    f"<think></think><thinking>Once more.</THINKING> {ANSWER}",
    "Turn it <think>chunk 1</think>to 35 Nm [c1], if x < 5 and <b> is set.",
    f"{ANSWER}<think>Was that right?",
    ANSWER,
]


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("text", THOUGHTS)
def test_thoughts_in_a_stream_are_left_out(
    server: ChatServer, chat: ChatModel, text: str, size: int
) -> None:
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    server.answers = [Answer(pieces=streamed(*pieces))]
    stream = chat.stream(QUESTION)
    assert "".join(stream) == ANSWER
    assert stream.reply.text == ANSWER


@pytest.mark.parametrize("text", [*THOUGHTS, f"Chunk 1 says 35.\n</think>\n\n{ANSWER}"])
def test_thoughts_in_a_whole_reply_are_left_out(
    server: ChatServer, chat: ChatModel, text: str
) -> None:
    server.answers = [Answer(whole(text))]
    assert chat.complete(QUESTION).text == ANSWER


def test_thoughts_in_fields_and_parts_are_left_out(server: ChatServer, chat: ChatModel) -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "35?"}]}
    reasoned = {"type": "reasoning", "text": "35?"}
    answer = {"type": "text", "text": "35 Nm"}
    server.answers = [
        Answer(whole([thought, reasoned, answer], reasoning_content="35?")),
        Answer(pieces=[chunk(reasoning_content="35?"), chunk(reasoning="35?"), *streamed("35 Nm")]),
    ]
    assert chat.complete(QUESTION).text == "35 Nm"
    assert list(chat.stream(QUESTION)) == ["35 Nm"]


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize(
    ("finish_reason", "said"),
    [("stop", "m thought, and wrote no answer"), ("length", "before the first word")],
)
def test_a_thought_alone_is_no_answer(
    server: ChatServer, chat: ChatModel, streams: bool, finish_reason: str, said: str
) -> None:
    thought = "<think>Let me look at the chunks"
    pieces = [chunk(content=thought), chunk(finish_reason), *END[1:]]
    server.always = Answer(pieces=pieces) if streams else Answer(whole(thought, finish_reason))
    with pytest.raises(ChatError, match=said):
        list(chat.stream(QUESTION)) if streams else chat.complete(QUESTION)
    assert len(server.requests) == 1, "another try would think as long"


@given(st.lists(st.sampled_from(["<think>", "</think>", "<", "th", "a", " ", ">"]), max_size=12))
def test_pieces_do_not_matter(parts: list[str]) -> None:
    def filtered(pieces: list[str]) -> str:
        thoughts = ThoughtFilter()
        return "".join([*map(thoughts.add, pieces), thoughts.rest()])

    assert filtered(parts) == filtered(["".join(parts)]) == filtered(list("".join(parts)))
