"""`rag demo`: sync the samples, search them in two languages, and answer one question."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import as_file, files

import typer

from rag_pipeline.answering import extract_answer
from rag_pipeline.console.answer_output import print_answer
from rag_pipeline.console.search_output import print_search
from rag_pipeline.console.terminal import out
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
[bold]Try next[/]  (in a checkout, `source .venv/bin/activate` puts `rag` on the path)
  rag sync FOLDER              your own documents
  rag search "…" --explain     where each score comes from
  rag ask "…"                  an answer with citations
  rag inspect FILE             outline and roles of one file
  make dev                     the same data in Dagster's UI (in a checkout)
  rag --help                   everything else"""


def run_demo(
    settings: Settings,
    database: Database,
    sync: Callable[[Settings, Database, list[SourceRoot], bool], None],
) -> None:
    """Run the demonstration on the samples of the package.

    Raises SourceError if the installation lacks them.
    """
    out.rule("[bold]rag sync samples", align="left")
    with as_file(files("rag_pipeline") / "samples") as linked:
        samples = linked.resolve()  # in a checkout, the folder of `rag sync samples`
        if not samples.is_dir():
            raise SourceError(
                "the sample documents are missing from this installation",
                hint="reinstall rag-pipeline; in a checkout, Git must create symbolic links",
            )
        try:
            sync(settings, database, [given_root(samples)], False)
        except typer.Exit:
            out.print("[yellow]some documents failed; continuing with the others[/]")
    searcher = create_searcher(database, settings)
    for query in (ENGLISH_QUERY, KOREAN_QUERY):
        out.rule(f'[bold]rag search "{query}"', align="left")
        print_search(searcher.search(query, limit=3), explain=False)
    out.rule(f'[bold]rag ask "{QUESTION}"', align="left")
    print_answer(extract_answer(QUESTION, searcher.search(QUESTION), searcher.embedder))
    out.rule()
    out.print(NEXT_STEPS)
