"""Text to SQL by a chat model: a real client against a local server of OpenAI's protocol."""

from __future__ import annotations

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


def test_the_statement_is_checked_run_and_shown(
    databases: Databases, chat: ChatModel, server: ChatServer, say: Say
) -> None:
    say(
        "```sql\nSELECT round(sum(price * quantity * (1 - discount)) - 135, 2)\n"
        "FROM invoice_lines\n```"
    )
    answer = databases.answer(UNUSUAL, chat)
    # 10 + 60 + 30 of Nordwerk; 135 of Hansol Works is the best one
    assert (answer.text, answer.method, answer.source) == ("100", "chat", "workshop")
    assert answer.sql is not None
    assert answer.sql.startswith("SELECT ROUND(")
    assert answer.sql.endswith("LIMIT 101")
    told = server.requests[0].body["messages"][0]["content"]
    assert "table invoice_lines (" in told
    assert "invoice_id refers to invoices (invoice_id)" in told
    assert "revenue of a row: price * quantity * (1 - discount)" in told
    assert "values of country: Germany, South Korea" in told
    assert server.requests[0].body["messages"][1]["content"] == UNUSUAL


def test_a_refused_statement_is_written_once_more(
    databases: Databases, chat: ChatModel, server: ChatServer, say: Say
) -> None:
    say("DELETE FROM clients", "SELECT count(*) FROM clients")
    assert databases.answer(UNUSUAL, chat).text == "3"
    complaint = server.requests[1].body["messages"][-1]["content"]
    assert complaint == "That statement was refused: it must be a SELECT. Write another one."
    say("DROP TABLE clients", "SELECT secret FROM clients")
    answer = databases.answer(UNUSUAL, chat)
    assert not answer.is_computed
    assert "SQL was refused" in answer.text
    assert answer.sql is None


def test_no_sql_no_number(databases: Databases, chat: ChatModel, say: Say) -> None:
    say("NO_SQL")
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
    say("SELECT name FROM clients")
    answer = Databases([source(row_limit=2)]).answer(UNUSUAL, chat)
    assert answer.reason == "it has more than 2 rows"
