"""Retrieval on real documents: page-level recall@5 and MRR of `rag search`, all local, no keys.

    python -m benchmarks.retrieval [--quick] [--json]

Each set is synced into an embedded Postgres of its own under `.rag/benchmarks` (kept, so that a
second run syncs nothing anew). A result's chunk counts as its pages in order; recall@5 asks whether
a gold page is among the first five different pages. `--quick` asks those of `samples/` only.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from assets.launch import SyncSummary, open_instance, run_sync
from benchmarks.common import PROJECT_DIR, arguments, bench_data, print_report
from rag_pipeline.definitions import defs
from rag_pipeline.search import Searcher, SearchResponse
from rag_pipeline.settings import Settings
from rag_pipeline.store import embedded
from rag_pipeline.store.database import Database
from rag_pipeline.store.sources import register_roots
from rag_pipeline.sync.places import given_root

Page = tuple[str, int]
LEGS = {
    "text + vector": None,
    "text": {"text": 1.0, "vector": 0.0},
    "vector": {"text": 0.0, "vector": 1.0},
}


@dataclass(frozen=True)
class Question:
    """A question with the pages that answer it."""

    kind: str
    text: str
    pages: frozenset[Page]


def main() -> None:
    """Sync the sets, ask all questions with every weighting, print one table."""
    options = arguments(__doc__)
    folders = {"samples": PROJECT_DIR / "samples"}
    if not options.quick:
        data = bench_data()
        folders |= {name: data / name for name in ("debian_guide", "manuals_dev")}
    rows: list[list[object]] = []
    figures: dict[str, object] = {}
    for name, folder in folders.items():
        corpus = folder / "corpus" if (folder / "corpus").is_dir() else folder
        with knowledge_base(name, corpus) as (searcher, summary):
            for stage, totals in summary.stages.items():
                rate = totals.pages / totals.seconds if totals.seconds else 0.0
                figures[f"{name}.{stage}.pages_per_second"] = rate
            for kind, questions in _by_kind(read_questions(name, folder)).items():
                for legs, weights in LEGS.items():
                    scores = score(searcher, questions, weights)
                    rows.append([name, kind, legs, len(questions), *scores.values()])
                    figures |= {f"{name}.{kind}.{legs}.{k}": v for k, v in scores.items()}
    columns = ["set", "questions", "legs", "n", "recall@5", "MRR", "p50 ms", "p95 ms"]
    print_report("Page retrieval", columns, rows, figures, options.json)


@contextmanager
def knowledge_base(name: str, corpus: Path) -> Iterator[tuple[Searcher, SyncSummary]]:
    """Lend a searcher over a synced folder, in a project folder of its own."""
    project_dir = PROJECT_DIR / ".rag" / "benchmarks" / name
    project_dir.mkdir(parents=True, exist_ok=True)
    os.environ["RAG_HOME"] = str(project_dir)
    settings = Settings.load(project_dir)
    database = Database.open(settings)
    try:
        root = given_root(corpus)
        with database.connection() as connection:
            register_roots(connection, [root])
        with open_instance(settings) as instance:
            summary = run_sync(defs, instance, settings, database, [root.root])
        if summary.failures or summary.aborted:
            raise SystemExit(f"{name}: {summary.aborted or summary.failures}")
        yield Searcher(database, settings), summary
    finally:
        database.close()
        embedded.stop(settings.data_path)


def read_questions(name: str, folder: Path) -> Iterator[Question]:
    """Yield a set's questions; its kinds are those that the published floors distinguish."""
    with (folder / "questions.jsonl").open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            kind = str(row.get("lang") or row.get("source") or "all")
            yield Question(kind, row["question"], _pages(row["gold"]))
            if name == "debian_guide":
                other = _pages(row["gold_other_language"])
                yield Question(f"{kind}, other language's guide", row["question"], other)


def _pages(gold: Iterable[dict[str, object]]) -> frozenset[Page]:
    return frozenset((str(item["doc"]), int(str(item["page"]))) for item in gold)


def _by_kind(questions: Iterable[Question]) -> dict[str, list[Question]]:
    kinds: dict[str, list[Question]] = {}
    for question in questions:
        kinds.setdefault(question.kind, []).append(question)
    return kinds


def score(
    searcher: Searcher, questions: list[Question], weights: dict[str, float] | None
) -> dict[str, float]:
    """Return recall@5, MRR and the latency of the searches, their query embedded."""
    found, reciprocal, seconds = [], [], []
    for question in questions:
        start = time.perf_counter()
        response = searcher.search(question.text, limit=100, weights=weights)
        seconds.append(time.perf_counter() - start)
        docs = {doc for doc, _ in question.pages}
        other = "other language" in question.kind
        ranked = ranked_pages(response, docs if other else None)
        ranks = [rank for rank, page in enumerate(ranked, 1) if page in question.pages]
        found.append(any(rank <= 5 for rank in ranks))
        reciprocal.append(1 / ranks[0] if ranks else 0.0)
    slowest = statistics.quantiles(seconds, n=20)[-1] if len(seconds) > 1 else seconds[0]
    return {
        "recall@5": statistics.mean(found),
        "mrr": statistics.mean(reciprocal),
        "p50_ms": 1000 * statistics.median(seconds),
        "p95_ms": 1000 * slowest,
    }


def ranked_pages(response: SearchResponse, docs: set[str] | None) -> list[Page]:
    """Return the different pages of the results, in order; `docs` limits them to some documents."""
    pages: dict[Page, None] = {}
    for result in response.results:
        if docs is None or result.document in docs:
            for number in range(result.page_start, result.page_end + 1):
                pages.setdefault((result.document, number))
    return list(pages)


if __name__ == "__main__":
    main()
