"""The server under load: searches and health while chat models are slow, and a restarted Postgres.

    python -m benchmarks.serving [--quick] [--json] [--only streams|restart]

The samples are synced into a temporary project with an embedded Postgres of its own, and served by
`rag serve`. The chat model is a process that speaks OpenAI's protocol and takes a minute for an
answer (`--quick`: 12 seconds): it writes 20 words a second, or is silent to the end. Milliseconds
are of the wall clock, at the client, one search after another; the idle server is measured before
and after.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from benchmarks.common import PROJECT_DIR, arguments, print_report, served
from benchmarks.slow_chat import THINK
from rag_pipeline.settings import Settings
from rag_pipeline.store import embedded
from rag_pipeline.system import RagSystem

STREAMS = 12
SEARCHES = 50
OPENING_SECONDS = 5
HEALTH_PAUSE = 0.1
"""Seconds between requests for the server's health."""
COLUMNS = ["what", "n", "p50 ms", "p95 ms", "max ms"]
SAMPLES = PROJECT_DIR / "samples"


def main() -> None:
    """Run what was asked for and print one table."""
    options = arguments(__doc__, parts=("streams", "restart"))
    rows: list[list[Any]] = []
    figures: dict[str, Any] = {}
    with (
        tempfile.TemporaryDirectory(prefix="rag-serving-") as folder,
        served("benchmarks.slow_chat") as chat,
    ):
        seconds = 12 if options.quick else 60
        with project(Path(folder)) as settings, running(settings, f"{chat}/{seconds}") as url:
            if options.only in (None, "streams"):
                measure_streams(url, chat, rows, figures)
            if options.only in (None, "restart"):
                measure_restart(url, settings, rows, figures)
    print_report("Serving", COLUMNS, rows, figures, options.json)


def measure_streams(url: str, chat: str, rows: list[list[Any]], figures: dict[str, Any]) -> None:
    """Search and ask for the health of an idle server, then while all streams are open."""
    searches(url, 2 * SEARCHES)  # so that the model and the caches are warm
    before = measured(url)
    loaded = {
        "writing": under_streams(url, chat, "How do I replace the oil filter?"),
        "silent": under_streams(url, chat, f"How do I replace the oil filter? {THINK}"),
    }
    idle = [np.concatenate(both) for both in zip(before, measured(url), strict=True)]
    add_rows("idle", idle, rows, figures)
    for kind, taken in loaded.items():
        add_rows(f"{STREAMS} {kind} streams", taken, rows, figures)
        share = float(np.percentile(taken[0], 95) / np.percentile(idle[0], 95))
        figures[f"search p95, {kind} streams / idle"] = share
        rows.append([f"search p95, {kind} streams / idle", "", "", share, ""])


def under_streams(url: str, chat: str, question: str) -> list[Any]:
    """Return what `measured` does while a chat model answers a question in all streams."""

    def read() -> None:
        body = {"question": question}
        with httpx.stream("POST", f"{url}/api/ask/stream", json=body, timeout=600) as response:
            response.raise_for_status()
            for _ in response.iter_raw():
                pass

    reading = [threading.Thread(target=read) for _ in range(STREAMS)]
    for thread in reading:
        thread.start()
    deadline = time.monotonic() + OPENING_SECONDS
    while int(httpx.get(chat).text) < STREAMS and time.monotonic() < deadline:
        time.sleep(0.1)
    taken = measured(url)
    if (left := int(httpx.get(chat).text)) < STREAMS:
        print(f"{left} of {STREAMS} streams were open when the searches ended", file=sys.stderr)
    for thread in reading:
        thread.join()
    return taken


def measured(url: str) -> list[Any]:
    """Return the milliseconds of searches, and of requests for the health beside them."""
    health: list[float] = []
    ended = threading.Event()

    def watch() -> None:
        with httpx.Client(base_url=url, timeout=60) as client:
            while not ended.wait(HEALTH_PAUSE):
                health.append(timed(lambda: client.get("/api/health")))

    watching = threading.Thread(target=watch)
    watching.start()
    taken = searches(url, SEARCHES)
    ended.set()
    watching.join()
    return [np.array(taken), np.array(health)]


def searches(url: str, count: int) -> list[float]:
    """Search for the questions of the samples in turn; return the milliseconds of each."""
    lines = (SAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines]
    with httpx.Client(base_url=url, timeout=120) as client:
        return [
            timed(
                lambda number=number: client.post(  # type: ignore[misc]
                    "/api/search", json={"query": questions[number % len(questions)]}
                )
            )
            for number in range(count)
        ]


def timed(ask: Callable[[], httpx.Response]) -> float:
    """Return how many milliseconds a good answer took."""
    start = time.perf_counter()
    ask().raise_for_status()
    return 1000 * (time.perf_counter() - start)


def measure_restart(
    url: str, settings: Settings, rows: list[list[Any]], figures: dict[str, Any]
) -> None:
    """Search after Postgres was restarted, while it is away, and when it is back."""
    with httpx.Client(base_url=url, timeout=60) as client:

        def search() -> int:
            return client.get("/api/search", params={"q": "oil filter"}).status_code

        for what, before, wanted in (
            ("first search after a restart", (embedded.stop, embedded.start), 200),
            ("search while Postgres is away", (embedded.stop,), 503),
            ("first search when it is back", (embedded.start,), 200),
        ):
            for step in before:
                step(settings.data_path)
            start = time.perf_counter()
            status = search()
            took = 1000 * (time.perf_counter() - start)
            if status != wanted:
                sys.exit(f"{what}: status {status}, not {wanted}")
            add_row(what, [took], rows, figures)


def add_rows(
    when: str, taken: Sequence[Any], rows: list[list[Any]], figures: dict[str, Any]
) -> None:
    """Add the rows of what `measured` returns."""
    for what, milliseconds in zip(("search", "health"), taken, strict=True):
        add_row(f"{what}, {when}", milliseconds, rows, figures)


def add_row(
    what: str, milliseconds: Sequence[float], rows: list[list[Any]], figures: dict[str, Any]
) -> None:
    """Add a row and its figures."""
    p50, p95, most = (float(one) for one in np.percentile(milliseconds, [50, 95, 100]))
    rows.append([what, len(milliseconds), p50, p95, most])
    figures |= {f"{what}.p50_ms": p50, f"{what}.p95_ms": p95, f"{what}.max_ms": most}


@contextmanager
def project(folder: Path) -> Iterator[Settings]:
    """Lend the settings of a project that holds the samples."""
    with RagSystem(folder) as system:
        settings = system.settings
        system.add_directory(SAMPLES, extensions=["pdf"])
    try:
        yield settings
    finally:
        embedded.stop(settings.data_path)


@contextmanager
def running(settings: Settings, chat: str) -> Iterator[str]:
    """Run `rag serve` with a chat model that takes all streams at once; lend its URL."""
    environment = {name: value for name, value in os.environ.items() if name[:4] != "RAG_"}
    environment |= {
        "RAG_HOME": str(settings.project_dir),
        "RAG_CHAT__MODEL": "slow",
        "RAG_CHAT__BASE_URL": chat,
        "RAG_CHAT__MAX_CONCURRENT_REQUESTS": str(STREAMS),
    }
    command = [sys.executable, "-m", "rag_pipeline.cli", "serve", "--port", "0"]
    with ExitStack() as ended:
        serving = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        ended.callback(serving.wait)
        ended.callback(serving.terminate)
        assert serving.stderr is not None
        yield serving.stderr.readline().split()[0]


if __name__ == "__main__":
    main()
