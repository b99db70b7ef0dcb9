"""Chunking: what each strategy lets a search find, and how fast documents are chunked.

    python -m benchmarks.chunking [--quick] [--json]

Five English texts and 472 questions with their exact answers (`chroma_chunking`): token-level
recall, precision and IoU of the five best chunks, for the local model alone and for words and
vectors fused as `rag search` does. LangChain's recursive splitter (token lengths) is chunked and
searched in the same run where `RAG_BENCH_PYTHON` names a Python that has it
(benchmarks/chunking_peer.py). Speed: pages of `debian_guide` by `contextual`, in CPU seconds.

Vectors are kept under `.rag/benchmarks/chunking`: the first full run embeds for an hour or so.
`--quick`: the two short texts, three configurations, no peer's vectors, fewer pages.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.chunking_index import Index, KeptVectors
from benchmarks.chunking_peer import NOT_INSTALLED
from benchmarks.chunking_spans import Locator, Question, Span, score
from benchmarks.common import PROJECT_DIR, arguments, bench_data, print_report
from rag_pipeline.chunking import chunk, indexed_texts
from rag_pipeline.embedding import Embedder, create_embedder
from rag_pipeline.frames import StructuredBlocks, blocks_frame, check
from rag_pipeline.parsing import parse_file
from rag_pipeline.settings import (
    ChunkingSettings,
    EmbeddingSettings,
    ParsingSettings,
    SearchSettings,
    StructureSettings,
)
from rag_pipeline.structure import infer_structure

RESULTS = 5
TARGET = 200
PAGES = 10_000
PEER = f"LangChain recursive {TARGET}"
QUICK_TEXTS = ("chatlogs.md", "state_of_the_union.md")
QUICK_CONFIGURATIONS = ("contextual 200", "recursive 200, min 0", "sentence 200, ideal 130")
QUICK_GUIDES = 2
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "contextual 200": {"strategy": "contextual", "target_tokens": 200},
    "fixed_size 200": {"strategy": "fixed_size", "target_tokens": 200, "overlap_tokens": 0},
    "sentence 200, ideal 130": {
        "strategy": "sentence",
        "target_tokens": 200,
        "ideal_tokens": 130,
        "overlap_tokens": 0,
    },
    "sentence 200": {"strategy": "sentence", "target_tokens": 200, "overlap_tokens": 0},
    "sentence 150": {"strategy": "sentence", "target_tokens": 150, "overlap_tokens": 0},
    "paragraph 200": {"strategy": "paragraph", "target_tokens": 200},
    "by_headers 200": {"strategy": "by_headers", "target_tokens": 200},
    "recursive 200, min 0": {"strategy": "recursive", "target_tokens": 200, "min_tokens": 0},
    "recursive 200": {"strategy": "recursive", "target_tokens": 200},
    "recursive 165": {"strategy": "recursive", "target_tokens": 165},
    "code 200": {"strategy": "code", "target_tokens": 200},
    "semantic 160": {"strategy": "semantic", "target_tokens": 160},
}
MODES = {"vector": {"text": 0.0, "vector": 1.0}, "hybrid": None}


def main() -> None:
    """Measure both and print one table."""
    options = arguments(__doc__)
    data = bench_data()
    folder = PROJECT_DIR / ".rag" / "benchmarks" / "chunking"
    embedder = create_embedder(EmbeddingSettings(), folder / "models")
    texts, questions = read_set(data / "chroma_chunking", QUICK_TEXTS if options.quick else None)
    rows: list[list[Any]] = []
    figures: dict[str, Any] = {}
    vectors = KeptVectors(embedder, folder)
    for label, pieces in cut_texts(texts, vectors, folder, quick=options.quick).items():
        measured = retrieval(texts, questions, pieces, vectors)
        for mode, scores in measured.items():
            rows.append([label, mode, *scores.values()])
            figures |= {f"{label}.{mode}.{name}": value for name, value in scores.items()}
    guides = sorted((data / "debian_guide" / "corpus").glob("*.pdf"))
    pages = PAGES
    if options.quick:
        pages, guides = PAGES // 10, guides[:QUICK_GUIDES]
    for name, value in speed(guides, pages, embedder, folder).items():
        rows.append([name, "", value, *[""] * 4])
        figures[name] = value
    columns = ["strategy", "search", "chunks", "characters", "recall", "precision", "IoU"]
    print_report("Chunking", columns, rows, figures, options.json)


Pieces = tuple[dict[str, list[str]], list[str], list[str]]
"""Chunks of each text; what of each is embedded; what of each is indexed for words."""


def read_set(folder: Path, names: tuple[str, ...] | None) -> tuple[dict[str, str], list[Question]]:
    """Return the texts by name and the questions about them."""
    files = sorted((folder / "corpus").glob("*.md"))
    texts = {f.name: f.read_text(encoding="utf-8") for f in files if not names or f.name in names}
    questions = []
    with (folder / "questions.jsonl").open(encoding="utf-8") as file:
        for row in map(json.loads, file):
            gold = tuple((span["doc"], span["start"], span["end"]) for span in row["gold"])
            if gold[0][0] in texts:
                questions.append(Question(row["question"], gold))
    return texts, questions


def cut_texts(
    texts: dict[str, str], vectors: KeptVectors, folder: Path, *, quick: bool
) -> dict[str, Pieces]:
    """Chunk the texts by every configuration and by the peer; `quick`: by a few of ours."""
    frames = {name: prose_frame(text) for name, text in texts.items()}
    found: dict[str, Pieces] = {}
    labels = QUICK_CONFIGURATIONS if quick else tuple(CONFIGURATIONS)
    for label, chosen in ((label, CONFIGURATIONS[label]) for label in labels):
        settings = ChunkingSettings(**chosen, parent_tokens=0)
        pieces: Pieces = ({}, [], [])
        for name, frame in frames.items():
            chunks = chunk(frame, settings, vectors.embedder.count_tokens, embed=vectors.documents)
            pieces[0][name] = chunks["content"].tolist()
            pieces[1].extend((chunks["breadcrumb_trail"] + "\n" + chunks["content"]).tolist())
            pieces[2].extend(indexed_texts(chunks, settings))
        found[label] = pieces
    if not quick and (peer := run_peer(list(texts.values()), folder)):
        cut = dict(zip(texts, peer["chunks"], strict=True))
        plain = ["\n" + text.strip() for chunks in cut.values() for text in chunks]
        found[PEER] = (cut, plain, plain)
    return found


def prose_frame(text: str) -> pd.DataFrame:
    """Return a structured frame of plain paragraphs, which blank lines part."""
    paragraphs = [part for part in re.split(r"\n\s*\n", text) if part.strip()]
    frame = blocks_frame(
        [{"page_number": 1, "text": part, "language": "en"} for part in paragraphs]
    )
    empty = pd.array([None] * len(frame), dtype="Int64")
    columns = {"heading_level": empty, "list_level": empty, "group_id": empty}
    return check(
        frame.assign(role="paragraph", section_id=0, breadcrumb_trail="", **columns),
        StructuredBlocks,
    )


def retrieval(
    texts: dict[str, str], questions: list[Question], pieces: Pieces, vectors: KeptVectors
) -> dict[str, dict[str, Any]]:
    """Return count and mean length of the chunks, recall, precision and IoU of each mode."""
    cut, embedded, words = pieces
    spans: list[Span] = []
    for name, chunks in cut.items():
        spans.extend(Locator(name, texts[name]).spans(chunks))
    index = Index(words, embedded, vectors)
    settings = SearchSettings()
    size = float(np.mean([end - start for _, start, end in spans]))
    measured = {}
    for mode, weights in MODES.items():
        used = weights or settings.weights.model_dump()
        ranked = index.search([question.text for question in questions], used, settings)
        scores = score(questions, spans, [found[:RESULTS] for found in ranked])
        measured[mode] = {"chunks": len(spans), "characters": size, **scores}
    return measured


def run_peer(texts: list[str], folder: Path) -> dict[str, Any] | None:
    """Split texts by LangChain; None, with a notice, where it is not installed."""
    python = os.environ.get("RAG_BENCH_PYTHON", sys.executable)
    done = subprocess.run(
        [python, "-m", "benchmarks.chunking_peer", str(TARGET), str(folder / "models")],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=False,
        cwd=PROJECT_DIR,
    )
    if done.returncode == NOT_INSTALLED:
        print(f"{PEER}: not installed; set RAG_BENCH_PYTHON", file=sys.stderr)
        return None
    if done.returncode:
        raise SystemExit(done.stderr)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def speed(guides: Sequence[Path], pages: int, embedder: Embedder, folder: Path) -> dict[str, float]:
    """Chunk the guides over again up to `pages` pages by contextual, parents included; compare
    with the peer, which reads each once."""
    frames, page_count = [], 0
    for path in guides:
        parsed = parse_file(path, ParsingSettings())
        frames.append(infer_structure(parsed.blocks, StructureSettings()))
        page_count += parsed.page_count
    settings = ChunkingSettings()
    rounds = -(-pages // page_count)
    embedder.count_tokens(["the tokenizer is loaded before the clock starts"])
    start, peak_at_first = time.process_time(), 0.0
    for _ in range(rounds):
        for frame in frames:
            chunk(frame, settings, embedder.count_tokens, title="Guide")
        peak_at_first = peak_at_first or _peak_mb()
    seconds = (time.process_time() - start) * pages / (rounds * page_count)
    figures = {
        f"contextual, {pages:,} pages: CPU seconds": seconds,
        "memory after the first pass, MB": peak_at_first,
        "memory grown since, MB": _peak_mb() - peak_at_first,
    }
    if peer := run_peer(["\n\n".join(frame["text"]) for frame in frames], folder):
        theirs = peer["seconds"] * pages / page_count
        figures[f"LangChain recursive, {pages:,} pages: CPU seconds"] = theirs
        figures["times as fast as LangChain"] = theirs / seconds
    return figures


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
