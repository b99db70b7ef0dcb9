"""Every tool, called by the SDK's own client over standard input and over HTTP."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from rag_pipeline.agents.mcp_server import http_application
from rag_pipeline.agents.notes import Notes
from rag_pipeline.errors import SettingsError
from rag_pipeline.serve.access_tokens import Bearer
from rag_pipeline.serve.readers import KnowledgeBases
from rag_pipeline.settings import (
    ChatSettings,
    SecuritySettings,
    ServeSettings,
    Settings,
    TokenSettings,
)
from rag_pipeline.store.source_tables import list_roots
from tests.chat.chat_server import Answer, ChatServer, whole
from tests.knowledge import served

RAG = str(Path(sys.executable).parent / "rag")
MANUAL = "service-manual-en.pdf"
KIM, LEE = "kim-0123456789abcdef", "lee-0123456789abcdef"
TOOLS = ["search", "ask", "outline", "read_section", "sources", "remember"]
Connect = Callable[[], AbstractAsyncContextManager[Client]]


def environment(project: Settings) -> dict[str, str]:
    assert project.database_url is not None
    return {
        **os.environ,
        "RAG_HOME": str(project.project_dir),
        "RAG_DATABASE_URL": project.database_url.get_secret_value(),
    }


def over_pipe(project: Settings, *arguments: str) -> Connect:
    parameters = StdioServerParameters(
        command=RAG, args=["mcp", *arguments], env=environment(project)
    )

    @asynccontextmanager
    async def connect() -> AsyncIterator[Client]:
        async with Client(stdio_client(parameters)) as client:
            yield client

    return connect


def over_http(url: str, token: str | None = None) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=300) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
        ):
            yield client

    return connect


@pytest.fixture(scope="module")
def http_url(project: Settings) -> Iterator[str]:
    with http_application(project, "127.0.0.1") as application, served(application) as url:
        yield url


@pytest.fixture(params=["pipe", "http"])
def connect(request: pytest.FixtureRequest, project: Settings) -> Connect:
    if request.param == "pipe":
        return over_pipe(project)
    return over_http(request.getfixturevalue("http_url"))


def run(connect: Connect, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """List the tools and make some calls in one session; return the names and the results."""

    async def session() -> list[Any]:
        async with connect() as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            return [names, *[await client.call_tool(name, given) for name, given in calls]]

    return anyio.run(session)


def test_every_tool_is_listed_and_called(connect: Connect) -> None:
    serial = f"ZX-{uuid.uuid4().hex[:8].upper()}"  # another one over each transport
    names, found, answer, outline, section, sources, kept, again = run(
        connect,
        ("search", {"query": "replacing the oil filter", "limit": 2, "documents": [MANUAL]}),
        ("ask", {"question": "What is the part number of the oil filter?"}),
        ("outline", {"document": MANUAL}),
        ("read_section", {"document": MANUAL, "section": "5.3 Replacing the Oil Filter"}),
        ("sources", {"name": "manual"}),
        ("remember", {"title": "Pump of hall 3", "text": f"Its serial number is {serial}."}),
        ("search", {"query": serial, "tags": ["notes"], "limit": 1}),
    )
    assert names == TOOLS
    for result in (found, answer, outline, section, sources, kept, again):
        assert not result.is_error, result.content
    best = found.structured_content["results"][0]
    citation = best["citation"]
    assert (citation["document"], citation["page_start"]) == (MANUAL, 2)
    assert citation["breadcrumb_trail"].endswith("5.3 Replacing the Oil Filter")
    assert citation["regions"][0]["page"] == citation["page"] == 2
    answered = answer.structured_content
    assert answered["status"] == "answered"
    assert all(marker in answered["text"] for marker in answered["citations"])
    titles = [heading["title"] for heading in outline.structured_content["headings"]]
    assert "5.3 Replacing the Oil Filter" in titles
    passages = section.structured_content["passages"]
    assert passages[0]["citation"]["chunk_id"] == citation["chunk_id"]
    assert sources.structured_content["total"] == 2
    assert kept.structured_content["is_searchable"] is True
    note = again.structured_content["results"][0]
    assert serial in note["text"]
    assert note["citation"]["document"] == kept.structured_content["document"]


def test_errors_say_the_next_step(connect: Connect) -> None:
    _, missing, empty, unknown = run(
        connect,
        ("outline", {"document": "none.pdf"}),
        ("search", {"query": ""}),
        ("read_section", {"document": MANUAL, "section": "Nothing of the kind"}),
    )
    assert missing.is_error
    assert "no such document; see the sources" in missing.content[0].text
    assert empty.is_error
    assert unknown.is_error
    assert "see its outline" in unknown.content[0].text


def test_unknown_names_are_told_with_the_known_ones(connect: Connect) -> None:
    _, misspelt, far, no_tool, nul, kind = run(
        connect,
        ("search", {"query": "oil", "Document": ["datasheet.pdf"], "lang": "en"}),
        ("ask", {"question": "oil", "xyz": 1}),
        ("serch", {"query": "oil"}),
        ("search", {"query": "oil\x00filter"}),
        ("search", {"query": "oil", "limit": "many"}),
    )
    for result in (misspelt, far, no_tool, nul, kind):
        assert result.is_error
    assert misspelt.content[0].text == (
        "'Document' is no argument of search (did you mean documents?); 'lang' is no argument of "
        "search (did you mean languages?); known: query, limit, documents, tags, languages, "
        "first_page, last_page, expand"
    )
    assert far.content[0].text == (
        "'xyz' is no argument of ask; known: question, documents, tags, languages"
    )
    assert no_tool.content[0].text.startswith("'serch' is no tool (did you mean search?); known: s")
    assert nul.content[0].text == "search: query: NUL and lone surrogates are not allowed"
    assert kind.content[0].text.startswith("search: limit: Input should be a valid integer")


def test_slow_answers_leave_the_other_tools_free(project: Settings) -> None:
    """More answers than threads wait for a chat model that writes nothing; searches go on."""
    questions = 45
    with ChatServer().serving() as chat_server:
        chat_server.always = Answer(whole("By hand [c1]."), company=questions)
        chat = ChatSettings(model="m", base_url=chat_server.url, max_concurrent_requests=questions)
        settings = project.model_copy(update={"chat": chat})

        async def session(url: str) -> list[Any]:
            async with over_http(url)() as client:
                answers: list[Any] = []

                async def ask() -> None:
                    answers.append(await client.call_tool("ask", {"question": "Which filter?"}))

                async with anyio.create_task_group() as tasks:
                    for _ in range(questions - 1):
                        tasks.start_soon(ask)
                    while chat_server.running < questions - 1:
                        await anyio.sleep(0.02)
                    found = await client.call_tool("search", {"query": "oil filter", "limit": 3})
                    assert len(found.structured_content["results"]) == 3
                    assert not answers
                    tasks.start_soon(ask)
                return answers

        with http_application(settings, "127.0.0.1") as application, served(application) as url:
            answers = anyio.run(session, url)
    assert [one.structured_content["text"] for one in answers] == ["By hand [c1]."] * questions


def test_remembering_is_off_unless_allowed(project: Settings) -> None:
    closed = project.model_copy(update={"mcp": type(project.mcp)()})
    with http_application(closed, "127.0.0.1") as application, served(application) as url:
        assert run(over_http(url))[0] == TOOLS[:-1]


def test_standard_output_holds_messages_only(project: Settings) -> None:
    message = (
        '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion":'
        ' "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}\n'
    )
    ran = subprocess.run(
        [RAG, "mcp"],
        input=message,
        env=environment(project),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    lines = ran.stdout.splitlines()
    assert ran.returncode == 0, ran.stderr
    assert len(lines) == 1
    assert lines[0].startswith('{"jsonrpc":"2.0","id":1')


@pytest.fixture
def guarded_url(project: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Tools for two bearers, who may read different things."""
    monkeypatch.setenv("RAG_TOKEN_KIM", KIM)
    monkeypatch.setenv("RAG_TOKEN_LEE", LEE)
    tokens = [
        TokenSettings(name=name, token_env=f"RAG_TOKEN_{name.upper()}", principals=[f"user:{name}"])
        for name in ("kim", "lee")
    ]
    settings = project.model_copy(update={"serve": ServeSettings(tokens=tokens)})
    with (
        http_application(settings, "0.0.0.0") as application,
        served(application, "0.0.0.0") as url,
    ):
        yield url


def test_notes_are_for_those_who_may_read_what_their_author_does(
    guarded_url: str, project: Settings
) -> None:
    note = {"title": "Secret", "text": "The code of the gate is QQ-4242."}
    _, kept = run(over_http(guarded_url, KIM), ("remember", note))
    assert kept.structured_content["is_searchable"] is True
    wanted = ("search", {"query": "QQ-4242", "limit": 50})
    sources = ("sources", {"name": "secret"})
    outline = ("outline", {"document": kept.structured_content["document"]})

    def seen(connect: Connect) -> tuple[bool, int, bool]:
        _, found, listed, read = run(connect, wanted, sources, outline)
        texts = [one["text"] for one in found.structured_content["results"]]
        return (
            any("QQ-4242" in text for text in texts),
            listed.structured_content["total"],
            not read.is_error,
        )

    assert seen(over_http(guarded_url, KIM)) == (True, 1, True)
    assert seen(over_http(guarded_url, LEE)) == (False, 0, False)
    assert seen(over_pipe(project)) == (True, 1, True)
    assert seen(over_pipe(project, "--as", "user:lee")) == (False, 0, False)
    assert seen(over_pipe(project, "--as", "user:kim")) == (True, 1, True)


def test_a_note_during_a_sync_is_taken_in_by_the_next(project: Settings) -> None:
    readers = KnowledgeBases(project)
    system = readers.whole()
    notes = Notes(system, project.security)
    ida, everybody = Bearer("ida", ("user:ida",)), Bearer("ida", None)
    try:
        with system.database.sync_lock():
            name, is_found, why = notes.keep("Ida's pump", "It is QQ-77.", ida)
            notes.keep("Ida's pump", "It is QQ-78.", everybody)
        with system.database.connection() as connection:
            roots = {Path(root.root): root for root in list_roots(connection)}
    finally:
        readers.close()
    assert (is_found, why) == (False, "a sync is running; the next one includes the note")
    folder = next(root for root in roots if (root / name).is_file())
    assert (roots[folder].readers, roots[folder].tags) == (("user:ida",), ("notes",))
    assert roots[folder.parent / "ida"].readers == ("public",)


def test_a_note_that_nobody_could_read_is_refused(project: Settings) -> None:
    readers = KnowledgeBases(project)
    security = SecuritySettings(enabled=True)  # and no security.principals
    try:
        with pytest.raises(SettingsError, match="nobody could find the note"):
            Notes(readers.whole(), security).keep("Pump", "It is QQ-79.", Bearer("ida", None))
    finally:
        readers.close()


def test_without_a_token_nobody_is_answered(guarded_url: str) -> None:
    with httpx2.Client(base_url=guarded_url) as client:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        assert client.post("/mcp", json=message).status_code == 401
        wrong = {"Authorization": f"Bearer {KIM}x"}
        assert client.post("/mcp", json=message, headers=wrong).status_code == 401
        foreign = {"Authorization": f"Bearer {KIM}", "Origin": "http://evil.example"}
        assert client.post("/mcp", json=message, headers=foreign).status_code == 403
