"""Commands that ask: search and ask."""

from __future__ import annotations

from typing import Annotated

import typer

from rag_pipeline.cli.application import JsonOption, LimitOption, app, open_database
from rag_pipeline.errors import SettingsError


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="Words, a part number, an error code, a question.")],
    limit: LimitOption = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show each leg's score, rank and share.")
    ] = False,
    text_weight: Annotated[float | None, typer.Option(min=0, help="Weight of the words.")] = None,
    vector_weight: Annotated[
        float | None, typer.Option(min=0, help="Weight of the meaning.")
    ] = None,
    space: Annotated[
        str | None,
        typer.Option(help="An embedding space (`rag spaces list`); default: the active one."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Find chunks by words and meaning, with every score's origin.

    Example: rag search "oil filter torque" --explain
    """
    from rag_pipeline.console import output as console
    from rag_pipeline.search import Searcher

    with open_database() as (settings, database):
        weights = settings.search.weights.model_dump()
        if text_weight is not None:
            weights["text"] = text_weight
        if vector_weight is not None:
            weights["vector"] = vector_weight
        if not any(weights.values()):
            raise SettingsError("both weights are 0", hint="give one leg a weight")
        searcher = Searcher(database, settings, space=space)
        response = searcher.search(query, limit=limit, weights=weights)
    if as_json:
        console.print_json(response)
    else:
        console.print_search(response, explain)


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
