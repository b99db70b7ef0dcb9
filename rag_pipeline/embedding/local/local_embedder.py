"""The local embedder: multilingual-e5-small on the CPU, by onnxruntime.

A text longer than the model's 512 tokens is split into windows of equal length, whose vectors are
averaged, weighted by tokens. In float32, windows of similar length form a batch; in int8, each is a
batch of its own. A batch runs on one thread: two batches at once use two cores better than one
batch on both (measured by benchmarks/embedding.py). Only if there are fewer batches than threads,
as for a query, does a batch use all of them. A text's vector does not depend on the other texts in
the call.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rag_pipeline.embedding.embedder import OnBatch
from rag_pipeline.embedding.local.graph_choice import VERSIONS, Arithmetic, GraphChoice
from rag_pipeline.embedding.local.model_files import (
    BEGIN_ID,
    END_ID,
    PADDING_ID,
    PASSAGE_PREFIX,
    POSITIONS,
    QUERY_PREFIX,
    UNKNOWN_ID,
    ModelFiles,
    model_files,
)
from rag_pipeline.embedding.local.onnx_session import open_session, pad
from rag_pipeline.embedding.local.unigram_tokenizer import UnigramTokenizer, UnigramVocabulary
from rag_pipeline.embedding.vectors import Vectors, average_windows, check_vectors
from rag_pipeline.settings import EmbeddingSettings
from rag_pipeline.usage import Usage

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

MAX_TOKENS = 500
"""Tokens of a window: 512 less the start and end marks and the longer prefix, rounded down."""
_HANDED_OVER = 128  # texts computed before their vectors are handed over
_BATCH_TOKENS = POSITIONS
"""Tokens of a batch, including padding; with more, activations no longer fit the CPU's cache."""


class Tokenizer(Protocol):
    """Turns a text into the ids of a vocabulary."""

    def encode(self, text: str) -> list[int]:
        """Return the ids of the whole text, without start and end marks."""
        ...


class LocalEmbedder:
    """An `Embedder` that runs in this process and needs no network.

    It computes in the arithmetic that made the space of `version`, by default in the one that this
    machine chose when the model was built. Cheap to make and to pickle: the first call that needs
    them loads files, tokenizer and model.
    """

    provider = "local"
    contextual = False

    def __init__(
        self, settings: EmbeddingSettings, cache_dir: Path, version: str | None = None
    ) -> None:
        self.model = settings.model
        self.dimensions = settings.dimensions
        self._positions = POSITIONS
        self._limit = min(settings.max_tokens or MAX_TOKENS, MAX_TOKENS)
        self._prefixes = (
            PASSAGE_PREFIX if settings.document_prefix is None else settings.document_prefix,
            QUERY_PREFIX if settings.query_prefix is None else settings.query_prefix,
        )
        self._settings = settings
        self._cache_dir = cache_dir
        self._wanted_version = version
        self._files: ModelFiles | None = None
        self._files_lock = threading.Lock()
        self._tokenizer_lock = threading.Lock()
        self._session_lock = threading.Lock()
        self._tokenizer: Tokenizer | None = None
        self._sessions: dict[int, InferenceSession] = {}

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self._settings, self._cache_dir, self._wanted_version))

    @property
    def version(self) -> str:
        """See `Embedder`; builds the model if there is none yet, because its build chooses."""
        return VERSIONS[self._arithmetic]

    @property
    def choice(self) -> GraphChoice | None:
        """Which graph this machine chose, and why; None for a model with one graph."""
        return self._load_files().choice

    @property
    def max_tokens(self) -> int:
        """Tokens of a window."""
        return self._limit

    def embed_documents(self, texts: Sequence[str], on_batch: OnBatch | None = None) -> Vectors:
        """Embed passages: float32, texts x dimensions. A blank text counts as an empty one."""
        if on_batch is None:
            return self._embed(texts, self._prefixes[0])
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(texts), _HANDED_OVER):
            indices = range(start, min(start + _HANDED_OVER, len(texts)))
            vectors[start : indices.stop] = self._embed(
                texts[start : indices.stop], self._prefixes[0]
            )
            on_batch(indices, vectors[start : indices.stop])
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """Embed a question: float32, one vector."""
        vector: Vectors = self._embed([text], self._prefixes[1])[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the model's tokens. Words do not affect each other, so counts of words add up."""
        encode = self._load_tokenizer().encode
        return [len(encode(text)) for text in texts]

    def take_usage(self) -> list[Usage]:
        """See `Embedder`: nothing leaves this machine."""
        return []

    def _embed(self, texts: Sequence[str], prefix: str) -> Vectors:
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        with ThreadPoolExecutor(1) as background:
            # Loading the session is native code, so the tokenizer loads at the same time.
            background.submit(self._load_session, self._threads if len(texts) == 1 else 1)
            encode = self._load_tokenizer().encode
            head, end = self._frame(encode(prefix) if prefix else [])
            limit = max(1, min(self.max_tokens, self._positions - len(head) - len(end)))
            windows, owners, weights = _split_windows([encode(text) for text in texts], limit)
        vectors = self._run([[*head, *window, *end] for window in windows])
        averaged = average_windows(vectors, owners, weights)
        return check_vectors(
            averaged, count=len(texts), dimensions=self.dimensions, source=self.model
        )

    def _frame(self, prefix: list[int]) -> tuple[list[int], list[int]]:
        """Return the ids before and after those of a window."""
        return [BEGIN_ID, *prefix], [END_ID]

    def _run(self, inputs: list[list[int]]) -> Vectors:
        """Compute one vector per window, in the order of `inputs`."""
        vectors = np.empty((len(inputs), self.dimensions), dtype=np.float32)
        batches = _plan_batches([len(ids) for ids in inputs], self._texts_per_batch)
        enough = len(batches) >= self._threads
        session = self._load_session(1 if enough else self._threads)

        def compute(batch: list[int]) -> None:
            vectors[batch] = self._run_batch(session, [inputs[i] for i in batch])

        with ThreadPoolExecutor(self._threads if enough else 1) as pool:
            list(pool.map(compute, batches))
        return vectors

    @property
    def _texts_per_batch(self) -> int:
        return 1 if self._arithmetic == "int8" else self._settings.batch_size

    def _run_batch(self, session: InferenceSession, inputs: list[list[int]]) -> Vectors:
        ids, mask = pad(inputs, PADDING_ID)
        feeds = {"input_ids": ids}
        if self._arithmetic == "float32":
            feeds["attention_mask"] = mask
        output: Vectors = session.run(["embedding"], feeds)[0]
        return output

    @property
    def _arithmetic(self) -> Arithmetic:
        for arithmetic, version in VERSIONS.items():
            if version == self._wanted_version:
                return arithmetic
        return self._load_files().choice.arithmetic

    @property
    def _threads(self) -> int:
        return self._settings.threads or _available_cores()

    def _load_files(self, *, rebuild: bool = False) -> ModelFiles:
        with self._files_lock:  # the threads of one process must not build at once
            if self._files is None or rebuild:
                self._files = model_files(self._cache_dir, rebuild=rebuild)
            return self._files

    def _load_tokenizer(self) -> Tokenizer:
        with self._tokenizer_lock:
            if self._tokenizer is None:
                self._tokenizer = self._read_tokenizer()
            return self._tokenizer

    def _read_tokenizer(self) -> Tokenizer:
        return UnigramTokenizer(UnigramVocabulary(self._load_files().folder), unknown_id=UNKNOWN_ID)

    def _load_session(self, threads: int) -> InferenceSession:
        """Return the model with so many threads per batch; sessions share the weights."""
        with self._session_lock:
            if threads not in self._sessions:
                self._sessions[threads] = self._open_session(threads)
            return self._sessions[threads]

    def _open_session(self, threads: int) -> InferenceSession:
        arithmetic = self._arithmetic
        try:
            return open_session(self._load_files().graph(arithmetic), threads)
        except Exception:  # onnxruntime's errors have no base class
            return open_session(self._load_files(rebuild=True).graph(arithmetic), threads)


def _split_windows(
    texts: list[list[int]], limit: int = MAX_TOKENS
) -> tuple[list[list[int]], list[int], list[int]]:
    """Split the ids of each text into windows of nearly equal length, at most `limit`.

    Returns the windows, the text that each belongs to, and its weight in that text's average.
    """
    windows: list[list[int]] = []
    owners: list[int] = []
    weights: list[int] = []
    for owner, ids in enumerate(texts):
        count = max(1, math.ceil(len(ids) / limit))
        for part in range(count):
            window = ids[len(ids) * part // count : len(ids) * (part + 1) // count]
            windows.append(window)
            owners.append(owner)
            weights.append(max(1, len(window)))
    return windows, owners, weights


def _plan_batches(lengths: list[int], batch_size: int) -> list[list[int]]:
    """Group the indices of `lengths`, longest first, so that there is little padding."""
    batches: list[list[int]] = []
    longest = 0
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        full = not batches or len(batches[-1]) >= batch_size
        if full or longest * (len(batches[-1]) + 1) > _BATCH_TOKENS:
            batches.append([])
            longest = lengths[index]
        batches[-1].append(index)
    return batches


def _available_cores() -> int:
    """Cores available to this process, which containers and `taskset` can limit."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
