"""A local server that speaks OpenAI's chat completions, with faults on demand."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.servers import Handler, LocalServer

Json = dict[str, Any]
PATIENCE = 120.0
"""Seconds that the server holds on; tests end it before, and their deadlines are shorter."""
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def error(message: str, code: str | None = None, param: str | None = None) -> Json:
    """An error in OpenAI's shape."""
    return {"error": {"message": message, "type": "x", "param": param, "code": code}}


def whole(content: Any, finish_reason: str | None = "stop", **message: Any) -> Json:
    """A reply that is not streamed."""
    message = {"role": "assistant", "content": content, **message}
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    return {"object": "chat.completion", "choices": [choice], "usage": USAGE}


def event(body: Any) -> bytes:
    """One server-sent event; letters are written as UTF-8, not escaped."""
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


def chunk(finish_reason: str | None = None, **delta: Any) -> bytes:
    """One event of a streamed reply."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return event({"object": "chat.completion.chunk", "choices": [choice], "usage": None})


END = [chunk("stop"), event({"choices": [], "usage": USAGE}), b"data: [DONE]\n\n"]


def streamed(*texts: str) -> list[bytes]:
    """All events of a good reply."""
    return [chunk(role="assistant", content=""), *(chunk(content=text) for text in texts), *END]


@dataclass
class Answer:
    """How one request is answered: with `body`, or with `pieces`, one chunk of HTTP each."""

    body: Any = None
    pieces: Sequence[bytes] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    """Seconds before the first byte; the test's end ends them."""
    company: int = 1
    """Requests that must have run at once before this one is answered."""
    until: threading.Event | None = None
    """All pieces but the first wait for it."""
    pause: float = 0.0
    """Seconds before every piece but the first; the test's end ends them."""
    dribble: bool = False
    """Behind the pieces comes a chunk of HTTP byte by byte, and never its end."""
    cut: bool = False
    """The line is cut: in the middle of a body, or after the last piece."""
    chunked: bool = True
    """Else the pieces end where the connection does, as HTTP/1.0 has it."""


@dataclass
class Request:
    """What was asked for."""

    path: str
    headers: dict[str, str]
    body: Json
    time: float


class ChatServer(LocalServer):
    """Gives `answers`, one a request; then what `always` says, else a good reply."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[Request] = []
        self.answers: list[Answer] = []
        self.always: Answer | None = None
        self.hung_up = threading.Event()
        server = self

        class ChatHandler(Handler):
            def answer(self, data: bytes) -> None:
                request = Request(self.path, dict(self.headers), json.loads(data), time.monotonic())
                with server._counted():
                    answer = server.choose(request)
                    try:
                        server._wait_for_company(answer.company)
                        server.ended.wait(answer.delay)
                        self.reply(answer)
                    except OSError:
                        server.hung_up.set()
                        self.close_connection = True

            def reply(self, answer: Answer) -> None:
                if answer.pieces:
                    self.stream(answer)
                    return
                body = answer.body
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send(answer.status, answer.headers, data, cut=answer.cut)

            def stream(self, answer: Answer) -> None:
                headers = {**answer.headers, "Content-Type": "text/event-stream"}
                headers |= (
                    {"Transfer-Encoding": "chunked"} if answer.chunked else {"Connection": "close"}
                )
                self.begin(answer.status, headers)
                for number, piece in enumerate(answer.pieces):
                    if number:
                        server.ended.wait(answer.pause)
                    if number and answer.until:
                        answer.until.wait(PATIENCE)
                    frame = b"%x\r\n%b\r\n" % (len(piece), piece) if answer.chunked else piece
                    self.wfile.write(frame)
                if answer.dribble:
                    self.dribble(answer.chunked)
                if answer.chunked and not answer.cut:
                    self.wfile.write(b"0\r\n\r\n")
                self.close_connection = answer.cut or not answer.chunked

            def dribble(self, chunked: bool) -> None:
                if chunked:
                    self.wfile.write(b"%x\r\n" % 1_000_000)
                end = time.monotonic() + PATIENCE
                while time.monotonic() < end and not server.ended.wait(0.02):
                    self.wfile.write(b":")

        super().__init__(ChatHandler, tls)
        self.url += "/v1"

    def choose(self, request: Request) -> Answer:
        """Note a request, and choose its answer."""
        with self._lock:
            self.requests.append(request)
            if self.answers:
                return self.answers.pop(0)
        if self.always:
            return self.always
        if request.body.get("stream"):
            return Answer(pieces=streamed("Open ", "the valve."))
        return Answer(whole("Open the valve."))
