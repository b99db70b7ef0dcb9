"""Retrieval on real documents: page-level recall@5 and MRR of `rag search`, all local, no keys.

    python -m benchmarks.retrieval [--quick] [--json] [--only SET]

Every folder of the benchmark data with a `corpus/` and questions that name pages is a set. Each is
synced into an embedded Postgres of its own under `.rag/benchmarks` (kept, so that a second run
syncs nothing anew). A result's chunk counts as its pages, the likeliest first; recall@5 asks
whether a gold page is among the first five different pages. Beside it, in the same run, BM25 over
whole pages (bm25s, words by white space and punctuation). `--quick` asks those of `samples/` only.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.common import PROJECT_DIR, bench_data, print_report
from rag_pipeline.assets.instances import open_instance
from rag_pipeline.assets.launch import run_sync
from rag_pipeline.definitions import defs
from rag_pipeline.parsing.pdf.native.pdf_opening import PDFIUM_LOCK
from rag_pipeline.relational.search_opening import create_searcher
from rag_pipeline.search import Filters, Searcher, SearchResponse
from rag_pipeline.settings import Settings
from rag_pipeline.store import embedded
from rag_pipeline.store.database import Database
from rag_pipeline.store.source_tables import register_roots
from rag_pipeline.sync.sources.places import given_root
from rag_pipeline.sync_summary import SyncSummary

Page = tuple[str, int]
"""A document, by its name without the extension, and a page."""
LEGS: dict[str, dict[str, float] | None] = {
    "text + vector": None,
    "text": {"text": 1.0, "vector": 0.0},
    "vector": {"text": 0.0, "vector": 1.0},
}
COLUMNS = ["set", "questions", "legs", "n", "recall@5", "MRR", "p50 ms", "p95 ms"]
MANY_DOCUMENTS = 10
"""Sets of more documents are also asked with the gold document known."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Question:
    """A question with the pages that answer it; `documents` limits the search to some."""

    kind: str
    text: str
    pages: frozenset[Page]
    documents: tuple[str, ...] = ()


def main() -> None:
    """Sync the sets, ask all questions with every weighting, print one table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a part of the data, < 2 minutes")
    parser.add_argument("--json", action="store_true", help="figures by name, as JSON")
    parser.add_argument("--only", metavar="SET", help="one set")
    options = parser.parse_args()
    folders = {"samples": PROJECT_DIR / "samples"}
    if not options.quick:
        folders |= {folder.name: folder for folder in sets(bench_data())}
    if options.only:
        folders = {options.only: folders[options.only]}
    rows: list[list[object]] = []
    figures: dict[str, object] = {}
    for name, folder in folders.items():
        _measure(name, folder, rows, figures)
    print_report("Page retrieval", COLUMNS, rows, figures, options.json)


def sets(data: Path) -> list[Path]:
    """Return the folders of the benchmark data that have documents and questions about pages."""
    found = []
    for folder in sorted(data.iterdir()):
        questions = folder / "questions.jsonl"
        if not (folder / "corpus").is_dir() or not questions.is_file():
            continue
        with questions.open(encoding="utf-8") as file:
            gold = json.loads(file.readline()).get("gold")
        if gold and "page" in gold[0]:
            found.append(folder)
    return found


def _measure(name: str, folder: Path, rows: list[list[object]], figures: dict[str, object]) -> None:
    project_dir = PROJECT_DIR / ".rag" / "benchmarks" / name
    corpus = corpus_folder(folder, project_dir)
    kinds = _by_kind(read_questions(folder, corpus))
    with knowledge_base(project_dir, corpus) as (searcher, summary):
        for stage, totals in summary.stages.items():
            rate = totals.pages / totals.seconds if totals.seconds else 0.0
            figures[f"{name}.{stage}.pages_per_second"] = rate
        for kind, questions in kinds.items():
            for legs, weights in LEGS.items():
                searcher.search(questions[0].text, weights=weights)  # the model is loaded
                scores = score(searcher, questions, weights)
                rows.append([name, kind, legs, len(questions), *scores.values()])
                figures |= {f"{name}.{kind}.{legs}.{k}": v for k, v in scores.items()}
        seconds = _cold_start(project_dir, kinds)
        rows.append([name, "cold start of `rag search`, s", "", "", seconds, "", "", ""])
        figures[f"{name}.cold_start_seconds"] = seconds
    pages = read_pages(corpus)
    for kind, questions in kinds.items():
        found = bm25_over_pages(pages, questions)
        rows.append([name, kind, "BM25 over pages", len(questions), *found.values(), "", ""])
        figures |= {f"{name}.{kind}.bm25_over_pages.{k}": v for k, v in found.items()}


def corpus_folder(folder: Path, project_dir: Path) -> Path:
    """Return the folder of documents; pages that are given as text become text files."""
    corpus = folder / "corpus" if (folder / "corpus").is_dir() else folder
    given = sorted(corpus.glob("*.pages.json"))
    if not given:
        return corpus
    written = project_dir / "corpus"
    written.mkdir(parents=True, exist_ok=True)
    for path in given:
        pages = {row["page"]: row["text"] for row in json.loads(path.read_text(encoding="utf-8"))}
        text = "\f".join(pages.get(number, "") for number in range(1, max(pages) + 1))
        target = written / f"{path.name.removesuffix('.pages.json')}.txt"
        if not target.is_file() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")
    return written


@contextmanager
def knowledge_base(project_dir: Path, corpus: Path) -> Iterator[tuple[Searcher, SyncSummary]]:
    """Lend a searcher over a synced folder, in a project folder of its own."""
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
            raise SystemExit(f"{project_dir.name}: {summary.aborted or summary.failures}")
        yield create_searcher(database, settings), summary
    finally:
        database.close()
        embedded.stop(settings.data_path)


def read_questions(folder: Path, corpus: Path) -> Iterator[Question]:
    """Yield a set's questions; its kinds are those that the published floors distinguish."""
    many = sum(1 for path in corpus.iterdir() if path.suffix in (".pdf", ".txt")) > MANY_DOCUMENTS
    for path in sorted(folder.glob("questions*.jsonl")):
        with path.open(encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                if not row["gold"]:  # the documents do not answer it
                    continue
                kind = str(row.get("lang") or row.get("source") or path.stem)
                pages = _pages(row["gold"])
                yield Question(kind, row["question"], pages)
                if many:
                    yield Question(f"{kind}, document known", row["question"], pages, _in(pages))
                if other := row.get("gold_other_language"):
                    pages = _pages(other)
                    kind += ", other language's guide"
                    yield Question(kind, row["question"], pages, _in(pages))


def _pages(gold: Iterable[dict[str, object]]) -> frozenset[Page]:
    return frozenset((Path(str(item["doc"])).stem, int(str(item["page"]))) for item in gold)


def _in(pages: Iterable[Page]) -> tuple[str, ...]:
    return tuple(sorted({document for document, _ in pages}))


def _by_kind(questions: Iterable[Question]) -> dict[str, list[Question]]:
    kinds: dict[str, list[Question]] = {}
    for question in questions:
        kinds.setdefault(question.kind, []).append(question)
    return kinds


def score(
    searcher: Searcher, questions: list[Question], weights: dict[str, float] | None
) -> dict[str, float]:
    """Return recall@5 and MRR by 100 results, and the latency of as many as are usual, query
    embedded."""
    ranked: list[list[Page]] = []
    seconds = []
    for question in questions:
        names = [name + end for name in question.documents for end in (".pdf", ".txt")]
        filters = Filters(documents=names) if names else None
        response = searcher.search(question.text, limit=100, weights=weights, filters=filters)
        ranked.append(ranked_pages(response))
        start = time.perf_counter()
        searcher.search(question.text, weights=weights, filters=filters)
        seconds.append(time.perf_counter() - start)
    slowest = statistics.quantiles(seconds, n=20)[-1] if len(seconds) > 1 else seconds[0]
    return {
        **_scores(questions, ranked),
        "p50_ms": 1000 * statistics.median(seconds),
        "p95_ms": 1000 * slowest,
    }


def _scores(questions: Sequence[Question], ranked: Iterable[Sequence[Page]]) -> dict[str, float]:
    found, reciprocal = [], []
    for question, pages in zip(questions, ranked, strict=True):
        ranks = [rank for rank, page in enumerate(pages, 1) if page in question.pages]
        found.append(any(rank <= 5 for rank in ranks))
        reciprocal.append(1 / ranks[0] if ranks else 0.0)
    return {"recall@5": statistics.mean(found), "mrr": statistics.mean(reciprocal)}


def ranked_pages(response: SearchResponse) -> list[Page]:
    """Return the different pages of the results, in order."""
    pages: dict[Page, None] = {}
    for result in response.results:
        document = Path(result.document).stem
        for number in result.pages or range(result.page_start, result.page_end + 1):
            pages.setdefault((document, number), None)
    return list(pages)


def read_pages(corpus: Path) -> dict[Page, str]:
    """Return the plain text of every page, as PDFium gives it."""
    import pypdfium2 as pdfium

    pages: dict[Page, str] = {}
    for path in sorted(corpus.iterdir()):
        if path.suffix == ".txt":
            for number, text in enumerate(path.read_text(encoding="utf-8").split("\f"), start=1):
                pages[path.stem, number] = text
        elif path.suffix == ".pdf":
            with PDFIUM_LOCK, pdfium.PdfDocument(path) as document:
                for number, page in enumerate(document, start=1):
                    pages[path.stem, number] = page.get_textpage().get_text_range()
    return pages


def bm25_over_pages(pages: dict[Page, str], questions: Sequence[Question]) -> dict[str, float]:
    """Return recall@5 and MRR of BM25 with a page as the unit."""
    import bm25s

    ranked: list[list[Page]] = []
    indexes: dict[tuple[str, ...], tuple[list[Page], Any]] = {}
    for question in questions:
        if question.documents not in indexes:
            chosen = [p for p in pages if not question.documents or p[0] in question.documents]
            retriever = bm25s.BM25()
            retriever.index([_words(pages[page]) for page in chosen], show_progress=False)
            indexes[question.documents] = (chosen, retriever)
        chosen, retriever = indexes[question.documents]
        scores = retriever.get_scores(_words(question.text))
        order = scores.argsort(kind="stable")[::-1][:100]
        ranked.append([chosen[i] for i in order if scores[i] > 0])
    return _scores(questions, ranked)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _cold_start(project_dir: Path, kinds: dict[str, list[Question]]) -> float:
    """Return the seconds of the whole command, the best of three, Postgres running."""
    question = next(iter(kinds.values()))[0].text
    command = [sys.executable, "-m", "rag_pipeline.cli", "search", question]
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        subprocess.run(
            command, env=os.environ | {"RAG_HOME": str(project_dir)}, check=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        seconds.append(time.perf_counter() - start)
    return min(seconds)


if __name__ == "__main__":
    main()
