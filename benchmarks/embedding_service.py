"""What this side of an embedding service costs: planning, sending, checking and caching.

The other side is a process that answers at once like OpenAI. Its time is not counted, and that of
OpenAI's library with the same requests and nothing around it is measured beside it.
"""

from __future__ import annotations

import base64
import gc
import hashlib
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from pydantic import SecretStr

from benchmarks.common import served
from rag_pipeline.code_versions import EMBEDDING_VERSION
from rag_pipeline.embedding import create_embedder
from rag_pipeline.settings import EmbeddingSettings, Settings
from rag_pipeline.store import embedded
from rag_pipeline.store.database import Database
from rag_pipeline.store.embeddings import cache_vectors, cached_vectors, ensure_space

DIMENSIONS = 1_536
TOGETHER = 1_000
"""Chunks handed to the embedder at once."""
PER_REQUEST = 500
SENTENCES = (
    "Switch off the engine and let it cool down before the cover is removed. ",
    "오일 필터를 교체하기 전에 엔진을 끄고 충분히 식히십시오. ",
    "Tighten the four screws M8×1.25 to 25 N·m in the order shown in figure 3-2. ",
)
COLUMNS = ["chunks", "CPU ms a chunk", "OpenAI's library alone", "cache", "planner and checks"]


def measure(count: int) -> tuple[list[Any], dict[str, float]]:
    """Embed and cache `count` chunks; return the row of the table, and the memory's growth.

    `memory_growth_mb` is from the first thousand to the last.
    """
    with served(__name__) as url, database() as store:
        settings = EmbeddingSettings(provider="openai", base_url=url, api_key=SecretStr("none"))
        embedder = create_embedder(settings, Path())
        with store.connection() as connection:
            model = (embedder.provider, embedder.model, embedder.dimensions, EMBEDDING_VERSION)
            space = ensure_space(connection, *model).space_id
        embedder.embed_documents(["so that the library and the vocabulary are loaded"])
        memory: list[float] = []
        cache_seconds = 0.0
        start = time.process_time()
        for first in range(0, count, TOGETHER):
            texts = chunks(range(first, min(first + TOGETHER, count)))
            keys = [hashlib.sha256(text.encode()).digest() for text in texts]
            cache = Cache(store, space, keys)
            assert not cache.known()
            embedder.embed_documents(texts, cache)
            cache_seconds += cache.seconds
            gc.collect()
            memory.append(psutil.Process().memory_info().rss / 2**20)
        total = time.process_time() - start
        alone = library_alone(url, count)
    milliseconds = [1_000 * seconds / count for seconds in (total, alone, cache_seconds)]
    ours = milliseconds[0] - milliseconds[1]
    row = [count, *milliseconds, ours - milliseconds[2]]
    figures = {"service_cpu_ms_a_chunk": ours, "memory_growth_mb": memory[-1] - memory[0]}
    return row, figures


class Cache:
    """Keeps vectors as they land, and the CPU seconds that it takes."""

    def __init__(self, store: Database, space: int, keys: Sequence[bytes]) -> None:
        self._store, self._space, self._keys = store, space, keys
        self.seconds = 0.0

    def known(self) -> int:
        """Look up all vectors; return how many there are."""
        start = time.thread_time()
        with self._store.connection() as connection:
            found = cached_vectors(connection, self._space, list(self._keys))
        self.seconds += time.thread_time() - start
        return len(found)

    def __call__(self, indices: Sequence[int], vectors: Any) -> None:
        """Take vectors that have landed."""
        start = time.thread_time()
        with self._store.connection() as connection:
            cache_vectors(connection, self._space, [self._keys[i] for i in indices], vectors)
        self.seconds += time.thread_time() - start


def library_alone(url: str, count: int) -> float:
    """Return the CPU seconds of OpenAI's library for the same texts."""
    import openai

    client = openai.OpenAI(api_key="none", base_url=url, max_retries=0)
    start = time.process_time()
    for first in range(0, count, PER_REQUEST):
        texts = chunks(range(first, min(first + PER_REQUEST, count)))
        client.embeddings.create(input=texts, model="text-embedding-3-small")
    return time.process_time() - start


def chunks(numbers: range) -> list[str]:
    """Return a text of about 300 tokens for each number."""
    return [f"{number}. " + "".join(SENTENCES * 4) for number in numbers]


@contextmanager
def database() -> Iterator[Database]:
    """Lend a database of its own."""
    with tempfile.TemporaryDirectory(prefix="rag-benchmark-") as name:
        settings = Settings.load(Path(name))
        store = Database.open(settings)
        try:
            yield store
        finally:
            store.close()
            embedded.stop(settings.data_path)


class Handler(BaseHTTPRequestHandler):
    """Answers with one vector for each text, at once."""

    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 20
    disable_nagle_algorithm = True
    vector = base64.b64encode(
        np.random.default_rng(1).standard_normal(DIMENSIONS).astype("<f4").tobytes()
    ).decode()

    def do_POST(self) -> None:
        """Answer a request for embeddings."""
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        items = ",".join(
            f'{{"object":"embedding","index":{i},"embedding":"{self.vector}"}}'
            for i in range(len(texts))
        )
        usage = '{"prompt_tokens":1,"total_tokens":1}'
        body = f'{{"object":"list","model":"m","usage":{usage},"data":[{items}]}}'.encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
    server.serve_forever()
