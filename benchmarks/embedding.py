"""How fast the local model turns passages into vectors, and what a service costs on this side.

`python -m benchmarks.embedding [--quick] [--json] [--only PART]` prints three parts. `graphs`: the
int8 graph beside the float32 one, by CPU time, and the cosines of their vectors. `speed`: passages
per second and CPU milliseconds per passage by texts per call and threads, with the graph that this
machine chose, beside onnxruntime alone on the float32 graph and the same tokens (padded batches,
its own threads), and the cold start of one query in a new process. `service`: CPU milliseconds a
chunk of planner, checks and cache, with a service that answers at once.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import embedding_graphs, embedding_service
from benchmarks.common import arguments, machine, print_report
from rag_pipeline.embedding import Embedder, create_embedder
from rag_pipeline.embedding.local.model_files import (
    BEGIN_ID,
    END_ID,
    PASSAGE_PREFIX,
    UNKNOWN_ID,
    model_files,
)
from rag_pipeline.embedding.local.unigram_tokenizer import UnigramTokenizer, UnigramVocabulary
from rag_pipeline.settings import EmbeddingSettings

COLUMNS = [
    "threads",
    "texts per call",
    "passages/s",
    "CPU ms per passage",
    "onnxruntime passages/s",
    "onnxruntime CPU ms",
    "ratio",
    "ratio by CPU",
]
TOKENS = 300
SENTENCES = (
    "Switch off the engine and let it cool down before the cover is removed. ",
    "오일 필터를 교체하기 전에 엔진을 끄고 충분히 식히십시오. ",
    "Tighten the four screws M8×1.25 to 25 N·m in the order shown in figure 3-2. ",
    "오류 코드 E-07이 표시되면 배터리 전압이 11.5 V 이상인지 확인하십시오. ",
    "The pressure sensor XJ-900/B reports a fault when the line is blocked for ten seconds. ",
)
COLD_START = (
    "import time; start = time.perf_counter()\n"
    "import sys; from pathlib import Path\n"
    "from rag_pipeline.embedding import create_embedder\n"
    "from rag_pipeline.settings import EmbeddingSettings\n"
    "create_embedder(EmbeddingSettings(), Path(sys.argv[1])).embed_query('oil filter')\n"
    "print(time.perf_counter() - start)\n"
)


def passages(count: int, embedder: Embedder) -> list[str]:
    """Return `count` different passages of about `TOKENS` tokens, English and Korean mixed."""
    texts = []
    for number in range(count):
        text = f"{number}. "
        sentence = number
        while embedder.count_tokens([text])[0] < TOKENS - 20:
            text += SENTENCES[sentence % len(SENTENCES)]
            sentence += 1
        texts.append(text)
    return texts


def measure(
    works: list[Callable[[], object]], count: int, repeats: int
) -> list[tuple[float, float]]:
    """Return passages a second and CPU milliseconds a passage of each work: the best of `repeats`.

    They take turns, so that whatever else the machine does meets all of them.
    """
    best = [(float("inf"), float("inf"))] * len(works)
    for _ in range(repeats):
        for index, work in enumerate(works):
            start, cpu_start = time.perf_counter(), time.process_time()
            work()
            wall, cpu = time.perf_counter() - start, time.process_time() - cpu_start
            best[index] = (min(best[index][0], wall), min(best[index][1], cpu))
    return [(count / wall, 1000 * cpu / count) for wall, cpu in best]


def plain_onnxruntime(cache_dir: Path, threads: int) -> Callable[[list[list[int]], int], None]:
    """Return a function that runs padded batches on the float32 graph, and nothing else."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(
        str(model_files(cache_dir).graph("float32")), options, providers=["CPUExecutionProvider"]
    )

    def run(inputs: list[list[int]], batch_size: int) -> None:
        for start in range(0, len(inputs), batch_size):
            batch = inputs[start : start + batch_size]
            ids = np.ones((len(batch), max(map(len, batch))), dtype=np.int64)
            mask = np.zeros_like(ids)
            for row, tokens in enumerate(batch):
                ids[row, : len(tokens)] = tokens
                mask[row, : len(tokens)] = 1
            session.run(None, {"input_ids": ids, "attention_mask": mask})

    return run


def run(*, quick: bool, cache_dir: Path) -> tuple[list[list[Any]], dict[str, float]]:
    """Measure, and return the table's rows and the figures beside it."""
    cores = int(machine()["cores"])
    base = create_embedder(EmbeddingSettings(), cache_dir)
    count, repeats = (8, 1) if quick else (32, 3)
    texts = passages(count, base)
    vocabulary = UnigramVocabulary(model_files(cache_dir).folder)
    encode = UnigramTokenizer(vocabulary, unknown_id=UNKNOWN_ID).encode
    head = [BEGIN_ID, *encode(PASSAGE_PREFIX)]
    inputs = [[*head, *encode(text), END_ID] for text in texts]
    rows = []
    for threads in sorted({1, cores}):
        plain = plain_onnxruntime(cache_dir, threads)
        for texts_per_call in (1, 32) if quick else (1, 8, 16, 32):
            settings = EmbeddingSettings(threads=threads)
            embedder = create_embedder(settings, cache_dir)
            embedder.embed_documents(texts[:1])
            embedder.embed_documents(texts)

            def ours(embedder: Embedder = embedder, size: int = texts_per_call) -> None:
                for start in range(0, count, size):
                    embedder.embed_documents(texts[start : start + size])

            def alone(size: int = texts_per_call, plain: Any = plain) -> None:
                plain(inputs, size)

            ours_best, alone_best = measure([ours, alone], count, repeats)
            (speed, cpu), (plain_speed, plain_cpu) = ours_best, alone_best
            rows.append(
                [
                    threads,
                    texts_per_call,
                    speed,
                    cpu,
                    plain_speed,
                    plain_cpu,
                    speed / plain_speed,
                    plain_cpu / cpu,
                ]
            )
    command = [sys.executable, "-c", COLD_START, str(cache_dir)]
    starts = [
        float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(3)
    ]
    tokens = round(sum(map(len, inputs)) / len(inputs))
    return rows, {"tokens_per_passage": tokens, "cold_start_seconds": min(starts)}


def main() -> None:
    """Print the measurements as tables, or as JSON."""
    options = arguments((__doc__ or "").splitlines()[0], parts=("graphs", "speed", "service"))
    parts = [options.only] if options.only else ["graphs", "speed", "service"]
    tables: list[tuple[str, list[str], list[list[Any]]]] = []
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        cache_dir = Path(folder)
        if "graphs" in parts:
            rows, found = embedding_graphs.measure(quick=options.quick, cache_dir=cache_dir)
            tables.append(("The int8 graph beside the float32 one", embedding_graphs.COLUMNS, rows))
            figures |= found
        if "speed" in parts:
            rows, found = run(quick=options.quick, cache_dir=cache_dir)
            title = f"Local embedding, passages of {found['tokens_per_passage']} tokens"
            tables.append((title, COLUMNS, rows))
            figures |= {**found, **_by_name(rows)}
    if "service" in parts:
        row, found = embedding_service.measure(2_000 if options.quick else 10_000)
        tables.append(("A service that answers at once", embedding_service.COLUMNS, [row]))
        figures |= found
    if options.json:
        print_report("Embedding", [], [], figures, as_json=True)
        return
    for title, columns, rows in tables:
        print_report(title, columns, rows, {}, as_json=False)
        print()
    if "cold_start_seconds" in figures:
        print(f"Cold start of one query: {figures['cold_start_seconds']:.2f} s")
    if "memory_growth_mb" in figures:
        print(f"Memory grows by {figures['memory_growth_mb']:.0f} MB over the service's chunks")


def _by_name(rows: list[list[Any]]) -> dict[str, float]:
    return {
        f"{column} (threads {row[0]}, texts {row[1]})": value
        for row in rows
        for column, value in zip(COLUMNS[2:], row[2:], strict=True)
    }


if __name__ == "__main__":
    main()
