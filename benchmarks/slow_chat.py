"""A chat model that speaks OpenAI's protocol and takes its time, in a process of its own."""

from __future__ import annotations

import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

WORDS_PER_SECOND = 20
THINK = "Think silently."
"""In a question: nothing is written before the time is over."""


class SlowModel(BaseHTTPRequestHandler):
    """Writes words for as many seconds as its address says; a GET tells how many answers run."""

    protocol_version = "HTTP/1.1"
    running: ClassVar[set[SlowModel]] = set()

    def do_GET(self) -> None:
        """Return the number of answers that run."""
        data = str(len(SlowModel.running)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self) -> None:
        """Stream an answer, word by word, or at its end."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        SlowModel.running.add(self)
        seconds = float(self.path.split("/")[1])
        if THINK.encode() in body:
            time.sleep(seconds)
        else:
            for number in range(int(WORDS_PER_SECOND * seconds)):
                self._write({"content": f"word{number} "}, None)
                time.sleep(1 / WORDS_PER_SECOND)
        self._write({"content": "[c1]"}, "stop")
        self.wfile.write(b"data: [DONE]\n\n")
        SlowModel.running.discard(self)
        self.close_connection = True

    def _write(self, delta: dict[str, str], finish_reason: str | None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        self.wfile.write(b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n")

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), SlowModel)
    server.daemon_threads = True
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
