"""Logical forms by a chat model: a real client against a local server of OpenAI's protocol."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from rag_pipeline.chat import ChatModel, create_chat
from rag_pipeline.relational.databases import Databases
from rag_pipeline.settings import ChatSettings
from tests.chat.chat_server import Answer, ChatServer, whole
from tests.relational.conftest import Source

UNUSUAL = "What is the total revenue over all clients but the best one?"
"""A question for a number that the rules refuse."""


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer().serving() as server:
        yield server


@pytest.fixture
def chat(server: ChatServer) -> ChatModel:
    settings = ChatSettings(model="m", base_url=server.url, api_key="sk-test", deadline_seconds=60)
    chat = create_chat(settings)
    assert chat is not None
    return chat


@pytest.fixture
def databases(source: Source) -> Databases:
    return Databases([source()])


Say = Callable[..., None]


@pytest.fixture
def say(server: ChatServer) -> Say:
    def queue(*texts: str) -> None:
        server.answers += [Answer(whole(text)) for text in texts]

    return queue


REVENUE = {
    "measure": "sum",
    "table": "invoice_lines",
    "column": "revenue",
    "filters": [{"column": "clients.name", "operator": "!=", "values": ["Hansol Works"]}],
}


def test_the_form_is_checked_compiled_and_shown(
    databases: Databases, chat: ChatModel, server: ChatServer, say: Say
) -> None:
    words = {"but the best one": "clients.name != Hansol Works", "over": "all"}
    say("```json\n" + json.dumps(REVENUE | {"words": words}) + "\n```")
    answer = databases.answer(UNUSUAL, chat)
    # 10 + 60 + 30 of Nordwerk
    assert (answer.text, answer.method, answer.source) == ("100", "chat", "workshop")
    assert answer.sql is not None
    assert answer.sql.startswith("SELECT sum(")
    assert "clients (client_id).name ≠ Hansol Works" in answer.form
    told = server.requests[0].body["messages"][0]["content"]
    assert "table invoice_lines (" in told
    assert "invoice_id refers to invoices (invoice_id)" in told
    assert "revenue of a row: price * quantity * (1 - discount)" in told
    assert "values of country: Germany, South Korea" in told
    assert server.requests[0].body["messages"][1]["content"] == UNUSUAL


def test_a_refused_form_is_written_once_more(
    databases: Databases, chat: ChatModel, server: ChatServer, say: Say
) -> None:
    words = {"but the best one": "clients"}
    count = {"measure": "count", "table": "clients", "words": words}
    say("SELECT count(*) FROM clients", json.dumps(count))
    assert databases.answer(UNUSUAL, chat).text == "3"
    complaint = server.requests[1].body["messages"][-1]["content"]
    assert complaint.startswith("That form was refused: it is no such object")
    secret = {"measure": "sum", "table": "clients", "column": "clients.secret", "words": words}
    say(json.dumps(count | {"table": "pg_shadow"}), json.dumps(secret))
    answer = databases.answer(UNUSUAL, chat)
    assert not answer.is_computed
    assert "form was refused: there is no column clients.secret" in answer.text
    assert answer.sql is None


def test_an_unknown_word_must_have_its_place(
    databases: Databases, chat: ChatModel, say: Say
) -> None:
    say(*[json.dumps(REVENUE)] * 2)
    answer = databases.answer(UNUSUAL, chat)
    assert not answer.is_computed
    assert "does not say what" in answer.text or "it leaves out" in answer.text


def test_values_of_the_question_must_be_in_the_form(
    databases: Databases, chat: ChatModel, say: Say
) -> None:
    say(*[json.dumps({"measure": "count", "table": "clients", "words": {"pleasant": "any"}})] * 2)
    answer = databases.answer("How many pleasant clients are in Bremen?", chat)
    assert "it leaves out “Bremen”" in answer.text


def test_no_form_no_number(databases: Databases, chat: ChatModel, say: Say) -> None:
    say('{"measure": "none"}')
    assert databases.answer(UNUSUAL, chat).reason == "the data does not tell"


def test_rules_go_first(databases: Databases, chat: ChatModel, server: ChatServer) -> None:
    answer = databases.answer("How many clients are there?", chat)
    assert (answer.text, answer.method) == ("3", "rules")
    assert server.requests == []


@pytest.mark.parametrize(
    "question",
    ["How do I replace the rotor?", "What is the torque of bolt 7?", "밸브를 어떻게 여나요?", ""],
)
def test_other_questions_are_left_to_documents(
    databases: Databases, chat: ChatModel, server: ChatServer, question: str
) -> None:
    assert not databases.answer(question, chat).is_computed
    assert server.requests == []


def test_more_rows_than_the_limit_are_no_answer(source: Source, chat: ChatModel, say: Say) -> None:
    words = {"but the best one": "clients"}
    say(
        json.dumps({"measure": "count", "table": "invoices", "group_by": "clients", "words": words})
    )
    answer = Databases([source(row_limit=2)]).answer(UNUSUAL, chat)
    assert answer.reason == "it has more than 2 rows"
