"""Serves the tools over standard input and output, or over HTTP behind the guard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio
from mcp.server.transport_security import TransportSecuritySettings

from rag_pipeline.agents.tools import create_server
from rag_pipeline.serve.access_tokens import Bearer
from rag_pipeline.serve.answer_turns import AnswerTurns
from rag_pipeline.serve.guard import LOCAL, Guard
from rag_pipeline.serve.readers import KnowledgeBases
from rag_pipeline.serve.web_server import RECORD_SECONDS, access_of, bind, serve
from rag_pipeline.settings import Settings


def serve_pipe(settings: Settings, principals: tuple[str, ...] | None) -> None:
    """Serve one agent over standard input and output until it disconnects.

    Nothing else is written to standard output: the SDK reserves it while it serves.
    """
    knowledge_bases = KnowledgeBases(settings)
    turns = AnswerTurns(settings)
    server = create_server(settings, knowledge_bases, turns, Bearer(LOCAL, principals))
    try:
        knowledge_bases.whole()
        anyio.run(server.run_stdio_async)
    except KeyboardInterrupt:
        pass
    finally:
        turns.join(RECORD_SECONDS)
        knowledge_bases.close()


@contextmanager
def http_application(settings: Settings, host: str) -> Iterator[Guard]:
    """Yield the application of `rag mcp --http` for an address.

    Raises like `access_of`, and if the database is unavailable.
    """
    access = access_of(settings, host)
    knowledge_bases = KnowledgeBases(settings)
    turns = AnswerTurns(settings)
    server = create_server(settings, knowledge_bases, turns, None)
    # Stateless: each request's token identifies the sender. The guard checks hosts and origins.
    application = server.streamable_http_app(
        stateless_http=True,
        json_response=True,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    try:
        knowledge_bases.whole()
        yield Guard(application, access, turns.stop)
    finally:
        turns.join(RECORD_SECONDS)
        knowledge_bases.close()


def serve_http(settings: Settings, host: str, port: int, on_ready: Callable[[str], None]) -> None:
    """Serve agents over HTTP at `/mcp` until Ctrl-C. Raises `SettingsError`."""
    with http_application(settings, host) as application:
        serve(application, bind(host, port), on_ready)
