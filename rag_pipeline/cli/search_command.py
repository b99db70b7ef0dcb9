"""The command `rag search`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rag_pipeline.cli.application import (
    AsOption,
    JsonOption,
    LimitOption,
    SpaceOption,
    app,
    open_readers,
    readable,
)
from rag_pipeline.cli.filter_options import takes_filters
from rag_pipeline.console.terminal import print_json
from rag_pipeline.errors import SettingsError
from rag_pipeline.settings import ResultExpansion, ResultSelection, SearchSettings

if TYPE_CHECKING:
    from rag_pipeline.search import Filters, SearchResponse
    from rag_pipeline.search.sql_statements import Statement

ExplainOption = Annotated[
    bool, typer.Option("--explain", help="Show each clause's score, rank, weight and share.")
]
SqlOption = Annotated[bool, typer.Option("--sql", help="Print the SQL that the search ran.")]
TextWeightOption = Annotated[float | None, typer.Option(min=0, help="Weight of the words.")]
VectorWeightOption = Annotated[float | None, typer.Option(min=0, help="Weight of the meaning.")]
ThresholdOption = Annotated[
    float | None, typer.Option(min=0, max=1, help="Leave out results below this relevance.")
]
SelectOption = Annotated[
    ResultSelection | None, typer.Option(help="mmr: prefer results that differ from each other.")
]
MmrLambdaOption = Annotated[
    float | None, typer.Option(min=0, max=1, help="mmr: 1 = score only, 0 = difference only.")
]
DuplicatesOption = Annotated[
    float | None,
    typer.Option(
        min=0.01,
        max=1,
        help="Leave out results this similar to a better one; 1 = keep all.",
    ),
]
ExpandOption = Annotated[
    ResultExpansion | None, typer.Option(help="Add the section or the neighbours of each result.")
]


@app.command()
@takes_filters
def search(
    query: Annotated[
        str,
        typer.Argument(help="Words, a part number, an error code, a question.", callback=readable),
    ],
    filters: Filters,
    limit: LimitOption = None,
    explain: ExplainOption = False,
    sql: SqlOption = False,
    text_weight: TextWeightOption = None,
    vector_weight: VectorWeightOption = None,
    space: SpaceOption = None,
    threshold: ThresholdOption = None,
    select: SelectOption = None,
    mmr_lambda: MmrLambdaOption = None,
    duplicates: DuplicatesOption = None,
    expand: ExpandOption = None,
    principals: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find chunks by words and meaning, with the origin of every score.

    Example: rag search "oil filter torque" --explain
    """
    from rag_pipeline.console.search_output import print_search, print_statements
    from rag_pipeline.relational.search_opening import create_searcher
    from rag_pipeline.search import SearchRequest

    with open_readers(principals) as (settings, database):
        request = SearchRequest(
            query,
            limit=limit,
            weights=_weights(settings.search, text_weight, vector_weight),
            filters=filters,
            relevance_threshold=threshold,
            selection=select,
            mmr_lambda=mmr_lambda,
            duplicate_similarity=duplicates,
            expand=expand,
        )
        searcher = create_searcher(database, settings, space=space)
        found: list[Statement] | SearchResponse
        found = searcher.statements(request) if sql else searcher.search(request)
    if isinstance(found, list):
        print_json(found) if as_json else print_statements(found)
    elif as_json:
        print_json({**vars(found), "is_found": found.is_found})
    else:
        print_search(found, explain)


def _weights(
    settings: SearchSettings, text: float | None, vector: float | None
) -> dict[str, float]:
    """Return the given weights of the legs; those not given are the settings'."""
    given = {"text": text, "vector": vector}
    weights: dict[str, float] = settings.weights.model_dump()
    weights |= {leg: weight for leg, weight in given.items() if weight is not None}
    if not any(weights.values()):
        raise SettingsError("both weights are 0", hint="give one leg a weight")
    return weights
