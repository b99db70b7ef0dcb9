"""The command that searches."""

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
