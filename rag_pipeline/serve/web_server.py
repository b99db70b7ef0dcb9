"""Binds a socket and serves an application on it; refuses to serve others without a token."""

from __future__ import annotations

import gc
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn

from rag_pipeline.errors import SettingsError
from rag_pipeline.serve.access_tokens import Tokens
from rag_pipeline.serve.answer_turns import AnswerTurns
from rag_pipeline.serve.app import PUBLIC_PATHS, create_app
from rag_pipeline.serve.guard import Access, Guard, is_loopback
from rag_pipeline.serve.originals import Originals
from rag_pipeline.serve.pictures import Pictures
from rag_pipeline.serve.readers import KnowledgeBases
from rag_pipeline.settings import Settings

_GRACE_SECONDS = 5
"""Time that running requests have to finish when the server is told to stop."""
RECORD_SECONDS = 0.5
"""Time that answers have to record their usage after that."""


def access_of(settings: Settings, host: str, public_paths: frozenset[str] = frozenset()) -> Access:
    """Return who may use a server on this address.

    Raises `SettingsError` if other machines can reach it and no token is configured.
    """
    own = settings.serve
    tokens = Tokens(own.tokens, settings.project_dir)
    if not is_loopback(host) and not tokens:
        raise SettingsError(
            f"other machines can reach {host}, and no token is configured",
            hint="add [[serve.tokens]] to rag.toml (docs/serving.md), or bind to 127.0.0.1",
        )
    principals = None if own.local_principals is None else tuple(own.local_principals)
    return Access(is_loopback(host), tokens, principals, own.allowed_hosts, public_paths)


@contextmanager
def page_application(settings: Settings, host: str) -> Iterator[Guard]:
    """Yield the application of `rag serve` for an address.

    Raises like `access_of`, and if the database is unavailable.
    """
    access = access_of(settings, host, PUBLIC_PATHS)
    readers, originals = KnowledgeBases(settings), Originals(settings)
    pictures, turns = Pictures(originals), AnswerTurns(settings)
    try:
        readers.whole()
        pictures.prepare()
        yield create_app(settings, access, readers, originals, pictures, turns)
    finally:
        turns.join(RECORD_SECONDS)
        pictures.close()
        originals.clear()
        readers.close()


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 picks any free port. Raises `SettingsError`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise SettingsError(
            f"cannot listen on {host} port {port} ({error.strerror or error})",
            hint="choose another --port, or 0 for any free one",
        ) from error


def address_of(bound: socket.socket) -> str:
    """Return the URL under which this machine reaches a bound socket."""
    host, port = bound.getsockname()[:2]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}"


class _Server(uvicorn.Server):
    """A server that ends answers before it waits for requests."""

    def __init__(self, application: Guard, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._application = application

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._application.stop()
        await super().shutdown(sockets)


def server_of(application: Guard) -> uvicorn.Server:
    """Return a server for an application, without an access log: addresses contain questions."""
    return _Server(
        application,
        uvicorn.Config(
            application,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        ),
    )


def serve(application: Guard, bound: socket.socket, on_ready: Callable[[str], None]) -> None:
    """Serve until Ctrl-C; `on_ready` receives the URL."""
    gc.freeze()  # a full collection would otherwise walk every imported object, 0.1 s each time
    on_ready(address_of(bound))
    try:
        server_of(application).run(sockets=[bound])
    except KeyboardInterrupt:
        pass
    finally:
        bound.close()
