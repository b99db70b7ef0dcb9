"""A local server that speaks OpenAI's chat completions, with faults on demand."""

from __future__ import annotations

import contextlib
import json
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
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
    """Seconds before the first byte."""
    pause: float = 0.0
    """Seconds before every piece but the first."""
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


class ChatServer:
    """Gives `answers`, one a request; then what `always` says, else a good reply."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[Request] = []
        self.answers: list[Answer] = []
        self.always: Answer | None = None
        self.running = self.most_running = 0
        self.hung_up = threading.Event()
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *args: Any) -> None:
                pass

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer = server.begin(
                    Request(self.path, dict(self.headers), body, time.monotonic())
                )
                try:
                    time.sleep(answer.delay)
                    self.reply(answer)
                except OSError:
                    server.hung_up.set()
                    self.close_connection = True
                finally:
                    server.end()

            def reply(self, answer: Answer) -> None:
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                if answer.pieces:
                    self.stream(answer)
                    return
                body = answer.body
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data[: len(data) // 2] if answer.cut else data)
                self.close_connection = answer.cut

            def stream(self, answer: Answer) -> None:
                self.send_header("Content-Type", "text/event-stream")
                if answer.chunked:
                    self.send_header("Transfer-Encoding", "chunked")
                else:
                    self.send_header("Connection", "close")
                self.end_headers()
                for number, piece in enumerate(answer.pieces):
                    time.sleep(answer.pause if number else 0)
                    frame = b"%x\r\n%b\r\n" % (len(piece), piece) if answer.chunked else piece
                    self.wfile.write(frame)
                if answer.chunked and not answer.cut:
                    self.wfile.write(b"0\r\n\r\n")
                self.close_connection = answer.cut or not answer.chunked

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass  # clients that hang up are part of the tests

        self._http = Server(("127.0.0.1", 0), Handler)
        if tls:
            self._http.socket = tls.wrap_socket(self._http.socket, server_side=True)
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self._http.server_address[1]}/v1"

    @contextmanager
    def serving(self) -> Iterator[ChatServer]:
        thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._http.shutdown()
            with contextlib.suppress(OSError):
                self._http.server_close()

    def begin(self, request: Request) -> Answer:
        """Note a request, and choose its answer."""
        with self._lock:
            self.requests.append(request)
            self.running += 1
            self.most_running = max(self.most_running, self.running)
            if self.answers:
                return self.answers.pop(0)
        if self.always:
            return self.always
        if request.body.get("stream"):
            return Answer(pieces=streamed("Open ", "the valve."))
        return Answer(whole("Open the valve."))

    def end(self) -> None:
        """Note that a request is over."""
        with self._lock:
            self.running -= 1
