"""The command that searches."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from rag_pipeline.cli.application import (
    AsOption,
    BeforeOption,
    DocumentOption,
    JsonOption,
    LanguageOption,
    LimitOption,
    PagesOption,
    SinceOption,
    SourceTypeOption,
    SpaceOption,
    TagOption,
    WhereOption,
    app,
    make_filters,
    open_readers,
)
from rag_pipeline.errors import SettingsError


class Selection(StrEnum):
    """How results are selected."""

    TOP_K = "top_k"
    MMR = "mmr"


class Expansion(StrEnum):
    """What is added to each chunk."""

    NONE = "none"
    PARENT = "parent"
    NEIGHBOURS = "neighbours"


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="Words, a part number, an error code, a question.")],
    limit: LimitOption = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show each clause's score, rank, weight and share.")
    ] = False,
    sql: Annotated[bool, typer.Option("--sql", help="Print the SQL that the search ran.")] = False,
    text_weight: Annotated[float | None, typer.Option(min=0, help="Weight of the words.")] = None,
    vector_weight: Annotated[
        float | None, typer.Option(min=0, help="Weight of the meaning.")
    ] = None,
    space: SpaceOption = None,
    source_type: SourceTypeOption = None,
    tag: TagOption = None,
    document: DocumentOption = None,
    language: LanguageOption = None,
    pages: PagesOption = None,
    since: SinceOption = None,
    before: BeforeOption = None,
    where: WhereOption = None,
    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="Leave out results below this relevance.")
    ] = None,
    select: Annotated[
        Selection | None, typer.Option(help="mmr: prefer results that differ from each other.")
    ] = None,
    mmr_lambda: Annotated[
        float | None, typer.Option(min=0, max=1, help="mmr: 1 = score only, 0 = difference only.")
    ] = None,
    duplicates: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            max=1,
            help="Leave out near-duplicates from this similarity on; 1 = keep all.",
        ),
    ] = None,
    expand: Annotated[
        Expansion | None, typer.Option(help="Add the section or the neighbours.")
    ] = None,
    principals: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find chunks by words and meaning, with the origin of every score.

    Example: rag search "oil filter torque" --explain
    """
    from rag_pipeline.console import output as console
    from rag_pipeline.relational.search_opening import create_searcher
    from rag_pipeline.search import SearchRequest

    filters = make_filters(source_type, tag, document, language, pages, since, before, where)
    with open_readers(principals) as (settings, database):
        weights = settings.search.weights.model_dump()
        if text_weight is not None:
            weights["text"] = text_weight
        if vector_weight is not None:
            weights["vector"] = vector_weight
        if not any(weights.values()):
            raise SettingsError("both weights are 0", hint="give one leg a weight")
        request = SearchRequest(
            query,
            limit=limit,
            weights=weights,
            filters=filters,
            relevance_threshold=threshold,
            selection=select.value if select else None,
            mmr_lambda=mmr_lambda,
            duplicate_similarity=duplicates,
            expand=expand.value if expand else None,
        )
        searcher = create_searcher(database, settings, space=space)
        if sql:
            statements = searcher.statements(request)
        else:
            response = searcher.search(request)
    if sql:
        console.print_json(statements) if as_json else console.print_statements(statements)
    elif as_json:
        console.print_json(response)
    else:
        console.print_search(response, explain)
