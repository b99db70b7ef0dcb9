"""`make demo`: the samples synced, searched in two languages, and one question answered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import typer

from rag_pipeline.answering import extract_answer
from rag_pipeline.console.answer_output import print_answer
from rag_pipeline.console.output import out, print_search
from rag_pipeline.errors import SourceError
from rag_pipeline.relational.search_opening import create_searcher
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database
from rag_pipeline.store.source_tables import SourceRoot
from rag_pipeline.sync.sources.places import given_root

ENGLISH_QUERY = "replace the air filter"
KOREAN_QUERY = "에어 필터 교체"
QUESTION = "What does error code E-07 mean?"

NEXT_STEPS = """\
[bold]Try next[/]  (the command lies in .venv/bin; `source .venv/bin/activate` puts it on the path)
  rag sync FOLDER              your own documents
  rag search "…" --explain     where each score comes from
  rag ask "…"                  an answer with citations
  rag inspect FILE             outline and roles of one file
  make dev                     the same data in Dagster's UI
  rag --help                   everything else"""


def run_demo(
    settings: Settings,
    database: Database,
    sync: Callable[[Settings, Database, list[SourceRoot], bool], None],
) -> None:
    """Run the demonstration on the project's samples."""
    samples = Path(__file__).parents[2] / "samples"
    if not samples.is_dir():
        raise SourceError("the folder samples/ is not there", hint="run `make demo` in a checkout")
    out.rule("[bold]rag sync samples", align="left")
    try:
        sync(settings, database, [given_root(samples)], False)
    except typer.Exit:
        out.print("[yellow]some documents failed; the demonstration goes on with the others[/]")
    searcher = create_searcher(database, settings)
    for query in (ENGLISH_QUERY, KOREAN_QUERY):
        out.rule(f'[bold]rag search "{query}"', align="left")
        print_search(searcher.search(query, limit=3), explain=False)
    out.rule(f'[bold]rag ask "{QUESTION}"', align="left")
    print_answer(extract_answer(QUESTION, searcher.search(QUESTION).results, searcher.embedder))
    out.rule()
    out.print(NEXT_STEPS)
