"""The two graphs of the local model side by side: CPU time, and whether their vectors agree.

Passages are chunks of real documents in five languages, as a sync would embed them, and generated
odd texts (no words, one letter, scripts mixed, noise); queries are the questions about `samples/`.
Both graphs embed the same few texts by turns on one thread.
"""

from __future__ import annotations

import itertools
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import PROJECT_DIR, bench_data
from rag_pipeline.chunking import embedded_text
from rag_pipeline.embedding import Embedder, create_embedder
from rag_pipeline.embedding.local.graph_choice import VERSIONS
from rag_pipeline.frames import SECTION
from rag_pipeline.inspection.chunk_listing import chunk_file
from rag_pipeline.settings import EmbeddingSettings, Settings

COLUMNS = ["texts", "n", "float32 CPU ms", "int8 CPU ms", "ratio", "cosine mean", "cosine least"]
TOGETHER = 8
"""Texts that one graph embeds before it is the other's turn."""
LANGUAGES = 5
ODD_TEXTS = (200, 40)
PASSAGES = (2_000, 120)
"""In a full and in a quick run."""
_SCRIPTS = ((0x20, 0x7E), (0xA1, 0x24F), (0x370, 0x4FF), (0x590, 0x6FF), (0x900, 0xDFF),
            (0x3041, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0x2190, 0x27BF),
            (0x1F300, 0x1F6FF))  # fmt: skip


def measure(*, quick: bool, cache_dir: Path) -> tuple[list[list[Any]], dict[str, float]]:
    """Return a row per kind of text, and the figures by name."""
    settings = EmbeddingSettings(threads=1)
    graphs = [create_embedder(settings, cache_dir, VERSIONS[name]) for name in VERSIONS]
    kinds: dict[str, list[str]] = {}
    for language, text in passages(PASSAGES[quick], quick=quick):
        kinds.setdefault(f"passages, {language}", []).append(text)
    kinds["odd texts"] = odd_texts(ODD_TEXTS[quick])
    rows = [_row(kind, texts, graphs, _embed_passages) for kind, texts in kinds.items()]
    rows.append(["passages", *_total(rows[:-1])])
    rows.append(_row("queries", questions(), graphs, _embed_queries))
    names = ("ratio", "cosine_mean", "cosine_least")
    figures = {
        f"{kind}_{name}".replace(",", "").replace(" ", "_"): value
        for kind, *values in rows
        for name, value in zip(names, values[3:], strict=True)
    }
    # Three digits would not tell .9966 from .997.
    return [[*row[:5], *(f"{cosine:.4f}" for cosine in row[5:])] for row in rows], figures


def passages(count: int, *, quick: bool) -> Iterator[tuple[str, str]]:
    """Yield about `count` chunks with their language, evenly over the languages.

    A quick run takes those of `samples/`, in English and Korean.
    """
    folder = PROJECT_DIR / "samples" if quick else bench_data() / "manuals_outline" / "pdf"
    settings = Settings()
    wanted = count // (2 if quick else LANGUAGES)
    found: Counter[str] = Counter()
    for file in sorted(folder.glob("*.pdf"), key=lambda path: path.stat().st_size):
        if quick and min(found.values(), default=0) >= wanted and len(found) > 1:
            return
        chunking = chunk_file(file, settings)
        if found[chunking.language] >= wanted:
            continue
        chunks = chunking.chunks[chunking.chunks["kind"] != SECTION]
        texts = [
            embedded_text(trail, None, content)
            for trail, content in zip(chunks["breadcrumb_trail"], chunks["content"], strict=True)
        ]
        kept = texts[:: max(1, len(texts) // wanted)][: wanted - found[chunking.language]]
        found[chunking.language] += len(kept)
        yield from ((chunking.language, text) for text in kept)


def odd_texts(count: int) -> list[str]:
    """Return texts that no manual is made of, the same in every run."""
    draw = random.Random(1)
    fixed = ["", " ", "\n\t", "a", "0", "-", "?", "é", "가", "\U0001f9ef", "\u200b", "\ufdfa" * 20]

    def noise() -> str:
        first, last = draw.choice(_SCRIPTS)
        letters = [chr(draw.randint(first, last)) for _ in range(draw.randint(1, 400))]
        return "".join(letter + " " * (draw.random() < 0.15) for letter in letters)

    def numbers() -> str:
        return " ".join(f"{draw.uniform(-1e4, 1e4):.3g}" for _ in range(draw.randint(1, 150)))

    def repeated() -> str:
        return draw.choice(["ab ", "| --- ", "0x00 ", "....", "Nein! ", "나 "]) * draw.randint(
            1, 120
        )

    def mixed() -> str:
        return " ".join(chr(draw.randint(*draw.choice(_SCRIPTS))) for _ in range(120))

    makers = itertools.cycle([noise, numbers, repeated, mixed])
    return [*fixed, *(next(makers)() for _ in range(count - len(fixed)))]


def questions() -> list[str]:
    """Return the questions about `samples/`, in English and Korean."""
    lines = (PROJECT_DIR / "samples" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["question"] for line in lines]


def _embed_passages(embedder: Embedder, texts: list[str]) -> Any:
    return embedder.embed_documents(texts)


def _embed_queries(embedder: Embedder, texts: list[str]) -> Any:
    return np.stack([embedder.embed_query(text) for text in texts])


def _row(
    kind: str, texts: list[str], graphs: list[Embedder], embed: Callable[[Embedder, list[str]], Any]
) -> list[Any]:
    """Embed texts with both graphs by turns; return CPU milliseconds a text, ratio, cosines."""
    spent = [0.0, 0.0]
    cosines: list[float] = []
    for graph in graphs:
        embed(graph, texts[:2])
    for start in range(0, len(texts), TOGETHER):
        part = texts[start : start + TOGETHER]
        vectors = []
        for index, graph in enumerate(graphs):
            begin = time.process_time()
            vectors.append(embed(graph, part))
            spent[index] += time.process_time() - begin
        cosines += (vectors[0] * vectors[1]).sum(axis=1).tolist()
    milliseconds = [1000 * seconds / len(texts) for seconds in spent]
    mean, least = float(np.mean(cosines)), min(cosines)
    return [kind, len(texts), *milliseconds, spent[0] / spent[1], mean, least]


def _total(rows: list[list[Any]]) -> list[Any]:
    """Return the columns of all rows together."""
    counts = [row[1] for row in rows]
    float32, int8, mean = (
        sum(count * row[column] for count, row in zip(counts, rows, strict=True)) / sum(counts)
        for column in (2, 3, 5)
    )
    return [sum(counts), float32, int8, float32 / int8, mean, min(row[6] for row in rows)]
