"""What the local HTTP servers of the tests share."""

from __future__ import annotations

import contextlib
import ssl
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class Handler(BaseHTTPRequestHandler):
    """Reads whole requests; says nothing on the console."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        self.answer(self.rfile.read(int(self.headers["Content-Length"])))

    def answer(self, data: bytes) -> None:
        """Reply to a request with this body."""
        raise NotImplementedError

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """Send what stands before a reply's body."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def send(self, status: int, headers: Mapping[str, str], data: bytes, *, cut: bool) -> None:
        """Send a reply; where it is `cut`, half of the data comes, and the connection ends."""
        self.begin(status, {"Content-Length": str(len(data)), **headers})
        self.wfile.write(data[: len(data) // 2] if cut else data)
        self.close_connection = self.close_connection or cut


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), OSError):  # clients that hang up are part of the tests
            super().handle_error(request, client_address)


class LocalServer:
    """Serves on a free port of this machine, and counts what runs at once.

    `ended` is set when the test is over: an answer that is held back ends then.
    """

    def __init__(self, handler: type[Handler], tls: ssl.SSLContext | None = None) -> None:
        self.running = self.most_running = 0
        self.ended = threading.Event()
        self._lock = threading.Condition()
        self._http = _Server(("127.0.0.1", 0), handler)
        if tls:
            self._http.socket = tls.wrap_socket(self._http.socket, server_side=True)
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self._http.server_address[1]}"

    @contextmanager
    def serving(self) -> Iterator[Self]:
        thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.ended.set()
            self._http.shutdown()
            with contextlib.suppress(OSError):
                self._http.server_close()

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._lock:
            self.running += 1
            self.most_running = max(self.most_running, self.running)
            self._lock.notify_all()
        try:
            yield
        finally:
            with self._lock:
                self.running -= 1
                self._lock.notify_all()

    def _end_all(self) -> None:
        """Let answers that are held back end; then count anew."""
        self.ended.set()
        with self._lock:
            assert self._lock.wait_for(lambda: not self.running, 60)
            self.most_running = 0
        self.ended = threading.Event()

    def _wait_for_company(self, requests: int) -> None:
        """Hold a request until so many have run at once; a minute at most."""
        with self._lock:
            self._lock.wait_for(lambda: self.most_running >= requests, 60)
