"""What stands before every request: whose page sent it, who asks, and how large it may be.

A server on this machine is reached by every page that its user opens. A page of another site may
send requests (cross-site request forgery), and one whose name is made to point here may read the
answers as well (DNS rebinding). So a request without a token must name this machine in `Host`, and
must not come from another origin. Over the network a token is needed.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag_pipeline.serve.access_tokens import Bearer, Tokens
from rag_pipeline.serve.problems import Problem

MAX_BODY = 256 * 1024
"""Bytes of a request."""
LOCAL = "local"
"""Name of a bearer without a token, on this machine."""
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
    """Where the server listens, and whom it answers."""

    is_loopback: bool
    tokens: Tokens
    local_principals: tuple[str, ...] | None = None
    allowed_hosts: Sequence[str] = ()
    public_paths: frozenset[str] = frozenset()
    """Answered without a token: they hold nothing of any document."""


class _TooLargeError(Exception):
    """The body grew beyond `MAX_BODY`."""


class Guard:
    """ASGI middleware; the request's `Bearer` lies in `scope["state"]["bearer"]`."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or hand on."""
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
        """Return what is wrong with a request, or who sends it."""
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
                return _unauthorized("the token is not known"), None
        if self._access.is_loopback:
            return None, Bearer(LOCAL, self._access.local_principals)
        if scope["path"] in self._access.public_paths:
            return None, None
        return _unauthorized("a token is needed"), None

    def _check_host(self, headers: Headers) -> Problem | None:
        hosts = headers.getlist("host")
        name = _host_name(hosts[0]) if len(hosts) == 1 else None
        if name is None:
            return Problem(400, "the request names no host", "send one Host header")
        if self._access.is_loopback:
            if is_loopback(name):
                return None
            return Problem(
                421,
                "this server answers to this machine's own names only",
                "open it by http://127.0.0.1 or http://localhost",
            )
        allowed = self._access.allowed_hosts
        if allowed and name not in [host.lower() for host in allowed] and not is_loopback(name):
            return Problem(
                421, "this server is not reached by that name", "add it to serve.allowed_hosts"
            )
        return None


def is_loopback(host: str) -> bool:
    """Tell whether a name or an address is this machine's own.

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
    """Return the name in a Host header, without its port; None where it is malformed."""
    try:
        parts = urlsplit(f"//{host}")
        parts.port  # noqa: B018 - reading it checks it
    except ValueError:
        return None
    if parts.username or parts.path or parts.query or parts.fragment:
        return None
    return parts.hostname


def _check_origin(headers: Headers) -> Problem | None:
    """Refuse what a page of another site sends; programs send neither header."""
    refused = Problem(
        403, "requests of other sites' pages are refused", "use the server's own page"
    )
    origin = headers.get("origin")
    if origin is not None:
        try:
            parts = urlsplit(origin)
        except ValueError:
            return refused
        if parts.scheme not in ("http", "https") or parts.netloc != headers.get("host"):
            return refused
    # Pictures and links carry no Origin. A page that is opened by hand is no request of a site's.
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
