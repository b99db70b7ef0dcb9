"""The command that answers a question."""

from __future__ import annotations

from typing import Annotated

import typer

from rag_pipeline.cli.application import JsonOption, app, open_database


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="A question in any language of the documents.")],
    as_json: JsonOption = False,
) -> None:
    """Answer with sentences of the documents, word for word, each cited to page and box.

    Example: rag ask "How do I replace the oil filter?"
    """
    from rag_pipeline.answering import extract_answer
    from rag_pipeline.console import output as console
    from rag_pipeline.search import Searcher

    with open_database() as (settings, database):
        searcher = Searcher(database, settings)
        response = searcher.search(question)
        for note in response.notes:
            console.err.print(console.safe(note))
        answer = extract_answer(question, response.results, searcher.embedder)
    if as_json:
        console.print_json({"text": answer.text, **vars(answer)})
    else:
        console.print_answer(answer)
