"""Checks every request before the application sees it: origin, host, token and size.

Any page open in the user's browser can reach a server on this machine: pages of other sites can
send requests (cross-site request forgery), and a site whose DNS name is rebound to this machine can
also read the answers. A request without a token must therefore name this machine in `Host` and must
not come from another origin. Over the network, a token is required.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag_pipeline.serve.access_tokens import Bearer, Tokens
from rag_pipeline.serve.problems import Problem

MAX_BODY = 256 * 1024
"""Bytes of a request body."""
LOCAL = "local"
"""Name of a bearer on this machine that sends no token."""
_LOCAL_NAMES = ("localhost",)
_SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


@dataclass(frozen=True)
class Access:
    """Where the server listens and who may use it."""

    is_loopback: bool
    tokens: Tokens
    local_principals: tuple[str, ...] | None = None
    allowed_hosts: Sequence[str] = ()
    public_paths: frozenset[str] = frozenset()
    """Served without a token; they contain nothing from any document."""


class _TooLargeError(Exception):
    """The body grew beyond `MAX_BODY`."""


class Guard:
    """ASGI middleware; puts the request's `Bearer` into `scope["state"]["bearer"]`.

    `stop` is called when the server begins to stop, to end what would take long.
    """

    def __init__(self, app: ASGIApp, access: Access, stop: Callable[[], None]) -> None:
        self._app = app
        self._access = access
        self.stop = stop

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reject the request or pass it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = Headers(scope=scope)
        guarded = _with_security_headers(send)
        problem, bearer = self._judge(scope, headers)
        if problem is not None:
            await problem.response()(scope, receive, guarded)
            return
        scope.setdefault("state", {})["bearer"] = bearer
        begun = False
        received = 0

        async def limited() -> Message:
            nonlocal received
            message = await receive()
            if message["type"] == "http.request":
                received += len(message.get("body", b""))
                if received > MAX_BODY:
                    raise _TooLargeError
            return message

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await guarded(message)

        try:
            await self._app(scope, limited, sending)
        except _TooLargeError:
            if begun:
                raise
            await _too_large().response()(scope, receive, guarded)

    def _judge(self, scope: Scope, headers: Headers) -> tuple[Problem | None, Bearer | None]:
        """Return the problem with a request, or the bearer who sent it."""
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:12]) > MAX_BODY:
            return _too_large(), None
        problem = self._check_host(headers) or _check_origin(headers)
        if problem is not None:
            return problem, None
        return self._bearer(scope, headers)

    def _bearer(self, scope: Scope, headers: Headers) -> tuple[Problem | None, Bearer | None]:
        given = headers.get("authorization")
        if given is not None:
            kind, _, token = given.partition(" ")
            bearer = self._access.tokens.bearer_of(token.strip()) if token else None
            if kind.lower() == "bearer" and bearer is not None:
                return None, bearer
            if scope["path"] not in self._access.public_paths:
                return _unauthorized("unknown token"), None
        if self._access.is_loopback:
            return None, Bearer(LOCAL, self._access.local_principals)
        if scope["path"] in self._access.public_paths:
            return None, None
        return _unauthorized("a token is required"), None

    def _check_host(self, headers: Headers) -> Problem | None:
        hosts = headers.getlist("host")
        name = _host_name(hosts[0]) if len(hosts) == 1 else None
        if name is None:
            return Problem(400, "the request has no valid Host header", "send exactly one")
        if self._access.is_loopback:
            if is_loopback(name):
                return None
            return Problem(
                421,
                "this server only answers to this machine's own names",
                "open http://127.0.0.1 or http://localhost",
            )
        allowed = self._access.allowed_hosts
        if allowed and name not in [host.lower() for host in allowed] and not is_loopback(name):
            return Problem(
                421, "this server does not answer to that name", "add it to serve.allowed_hosts"
            )
        return None


def is_loopback(host: str) -> bool:
    """Return whether a name or address is a loopback one.

    >>> [is_loopback(name) for name in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "evil.example")]
    [True, True, True, False, False]
    """
    if host.lower() in _LOCAL_NAMES:
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _host_name(host: str) -> str | None:
    """Return the name in a Host header without its port, or None if it is malformed."""
    try:
        parts = urlsplit(f"//{host}")
        parts.port  # noqa: B018 - reading it checks it
    except ValueError:
        return None
    if parts.username or parts.path or parts.query or parts.fragment:
        return None
    return parts.hostname


def _check_origin(headers: Headers) -> Problem | None:
    """Refuse requests sent by pages of other sites; programs send neither header."""
    refused = Problem(
        403, "requests from other sites' pages are refused", "use the server's own page"
    )
    origin = headers.get("origin")
    if origin is not None:
        try:
            parts = urlsplit(origin)
        except ValueError:
            return refused
        if parts.scheme not in ("http", "https") or parts.netloc != headers.get("host"):
            return refused
    # Images and links carry no Origin. Opening a page by hand is not a request made by a site.
    fetched_from = headers.get("sec-fetch-site", "none")
    is_opened = headers.get("sec-fetch-mode") == "navigate" and origin is None
    if fetched_from in ("cross-site", "same-site") and not is_opened:
        return refused
    return None


def _unauthorized(title: str) -> Problem:
    return Problem(
        401,
        title,
        "send `Authorization: Bearer TOKEN` with one of serve.tokens",
        headers={"WWW-Authenticate": "Bearer"},
    )


def _too_large() -> Problem:
    return Problem(413, f"the request is larger than {MAX_BODY // 1024} KB", "ask for less at once")


def _with_security_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = list(message.get("headers", []))
            headers = MutableHeaders(raw=message["headers"])
            for name, value in _SECURITY_HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return sending
