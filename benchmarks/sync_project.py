"""What the benchmark of syncs runs on: projects, one-page PDFs, a stub of an embedding service.

The service is a process of its own that answers like OpenAI, at once, with a vector made from each
text's hash: it is spoken to by the real client, and its time is little.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import psycopg

from rag_pipeline.settings import Settings
from rag_pipeline.store import embedded
from rag_pipeline.store.database import Database, database_url

DIMENSIONS = 256
PARTS = ("pump", "valve", "filter", "gearbox", "motor", "seal", "sensor", "fan", "belt", "bearing")


@dataclass(frozen=True)
class Measured:
    """One command: wall and CPU seconds of it and its children, peak memory, what it printed."""

    wall: float
    cpu: float
    main_mb: float
    """Peak resident memory of the process, sampled."""
    worker_mb: float
    """The same of its largest worker."""
    summary: dict[str, Any]


class Project:
    """A project folder with an embedded Postgres of its own and the stub as its service."""

    def __init__(self, folder: Path, service: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.service = service
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("RAG_")},
            "RAG_HOME": str(folder),
            "RAG_EMBEDDING__PROVIDER": "openai",
            "RAG_EMBEDDING__MODEL": "stub",
            "RAG_EMBEDDING__DIMENSIONS": str(DIMENSIONS),
            "RAG_EMBEDDING__BASE_URL": f"{service}/v1",
            "RAG_EMBEDDING__API_KEY": "none",
        }
        self.environment.pop("DAGSTER_HOME", None)

    @property
    def url(self) -> str:
        """The database's URL; starts the server where it does not run."""
        return database_url(self.settings)

    @property
    def settings(self) -> Settings:
        """The settings that `rag` has here."""
        before = dict(os.environ)
        try:
            os.environ.update(self.environment)
            return Settings.load(self.folder)
        finally:
            os.environ.clear()
            os.environ.update(before)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command of `rag`."""
        return subprocess.Popen(
            [sys.executable, "-m", "rag_pipeline.cli", *arguments],
            env=self.environment,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def sync(self, *arguments: str, on_start: Callable[[int], object] = lambda _: None) -> Measured:
        """Run `rag sync --json` and measure it. Ends the benchmark where it fails.

        `on_start` gets the process's number.
        """
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        process = self.start("sync", *arguments, "--json")
        on_start(process.pid)
        watch = Watch(process.pid)
        out, err = process.communicate()
        wall = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if process.returncode != 0:
            sys.exit(f"rag sync ended with {process.returncode}: {err}")
        own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        cpu = own + sum(watch.worker_seconds.values())
        return Measured(wall, cpu, watch.main_mb, watch.worker_mb, json.loads(out))

    def python(self, code: str, *arguments: str) -> str:
        """Run code in a process of its own; return the last line that it prints."""
        script = self.folder / "script.py"
        # A module with a guard: the workers' forkserver imports it again.
        body = "".join(f"    {line}\n" for line in code.strip().splitlines())
        script.write_text(f'if __name__ == "__main__":\n{body}', encoding="utf-8")
        done = subprocess.run(
            [sys.executable, str(script), *arguments],
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            sys.exit(done.stderr)
        return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""

    def writes(self) -> int:
        """Rows written since the database was made, as Postgres counts them."""
        query = (
            "SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0) FROM pg_stat_user_tables"
        )
        time.sleep(1.5)  # sessions report their counts when they end, or once a second
        with psycopg.connect(self.url) as connection:
            return int(connection.execute(query).fetchone()[0])  # type: ignore[index]

    def open(self) -> Database:
        """Open the database for calls of the library."""
        return Database.open(self.settings)

    def stop(self) -> None:
        """Stop the server."""
        embedded.stop(self.settings.data_path)


class Watch(threading.Thread):
    """Samples the memory of a process and its workers, and the workers' CPU seconds.

    The workers' seconds are in no sum of the system's: nobody waits for the process that forks
    them.
    """

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._process = psutil.Process(pid)
        self.main_mb = 0.0
        self.worker_mb = 0.0
        self.worker_seconds: dict[int, float] = {}
        self.start()

    def run(self) -> None:
        """Sample until the process has ended."""
        while True:
            try:
                self.main_mb = max(self.main_mb, self._process.memory_info().rss / 2**20)
                for worker in self._process.children(recursive=True):
                    self.worker_mb = max(self.worker_mb, worker.memory_info().rss / 2**20)
                    times = worker.cpu_times()
                    self.worker_seconds[worker.pid] = times.user + times.system
            except psutil.Error:
                if not self._process.is_running():
                    return
            time.sleep(0.2)


def make_documents(folder: Path, numbers: range, *, edition: int = 1) -> None:
    """Write one PDF of one page for each number: a heading, four short paragraphs."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        make_document(folder / f"manual_{number:05}.pdf", number, edition)


def make_document(path: Path, number: int, edition: int = 1) -> None:
    """Write a PDF of one page; the bytes depend on the arguments alone."""
    part = PARTS[number % len(PARTS)]
    lines = [("F2 16", 40, f"Manual {number}: {part} of series {number // len(PARTS)}")]
    sentences = (
        f"The {part} XJ-{number} is checked every {100 + number % 400} hours, edition {edition}.",
        f"Error code E{number:05} means that the {part} runs too hot or that its supply is cut.",
        f"Loosen the {2 + number % 6} screws, take the cover off and clean the {part} by hand.",
        f"Order number {number * 7919 % 1_000_003:06} has the seals and the grease that it needs.",
    )
    lines += [("F1 11", 28, sentence) for sentence in sentences]
    drawn = "".join(f"/{font} Tf 0 -{gap} Td ({text}) Tj\n" for font, gap, text in lines)
    path.write_bytes(_pdf(f"BT 72 800 Td\n{drawn}ET".encode("ascii")))


def _pdf(content: bytes) -> bytes:
    """Return a PDF of one A4 page with this content; F1 is Helvetica, F2 its bold face."""
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /%s /Encoding /WinAnsiEncoding >>"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        font % b"Helvetica",
        font % b"Helvetica-Bold",
    ]
    out = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\n" % (len(objects) + 1)
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % table)


class _Handler(BaseHTTPRequestHandler):
    """Answers requests for embeddings."""

    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 20
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        """One vector for each text, made from its hash."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        items = ",".join(
            f'{{"object":"embedding","index":{index},"embedding":"{_vector(text)}"}}'
            for index, text in enumerate(body["input"])
        )
        usage = '{"prompt_tokens":1,"total_tokens":1}'
        reply = f'{{"object":"list","model":"stub","usage":{usage},"data":[{items}]}}'.encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def _vector(text: str) -> str:
    digest = hashlib.shake_256(text.encode()).digest(DIMENSIONS)
    values = np.frombuffer(digest, np.uint8).astype("<f4") - 127.5
    return base64.b64encode(values.tobytes()).decode()


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
