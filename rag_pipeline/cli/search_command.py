"""The command that searches."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

import typer

from rag_pipeline.cli.application import (
    AsOption,
    DocumentOption,
    JsonOption,
    LanguageOption,
    LimitOption,
    SourceTypeOption,
    SpaceOption,
    TagOption,
    WhereOption,
    app,
    open_readers,
)
from rag_pipeline.errors import SettingsError


class Selection(StrEnum):
    """How results are chosen."""

    TOP_K = "top_k"
    MMR = "mmr"


class Expansion(StrEnum):
    """What is given beyond the chunk."""

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
    sql: Annotated[
        bool, typer.Option("--sql", help="Print the statements without running them.")
    ] = False,
    text_weight: Annotated[float | None, typer.Option(min=0, help="Weight of the words.")] = None,
    vector_weight: Annotated[
        float | None, typer.Option(min=0, help="Weight of the meaning.")
    ] = None,
    space: SpaceOption = None,
    source_type: SourceTypeOption = None,
    tag: TagOption = None,
    document: DocumentOption = None,
    language: LanguageOption = None,
    pages: Annotated[
        str | None, typer.Option(metavar="FIRST-LAST", help="Only these pages: 12, 3-9, 40-.")
    ] = None,
    since: Annotated[
        datetime | None, typer.Option(help="Only documents ingested on this day or later (UTC).")
    ] = None,
    before: Annotated[
        datetime | None, typer.Option(help="Only documents ingested before this day (UTC).")
    ] = None,
    where: WhereOption = None,
    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="Leave out results of less relevance.")
    ] = None,
    select: Annotated[
        Selection | None, typer.Option(help="mmr: results that also differ from each other.")
    ] = None,
    mmr_lambda: Annotated[
        float | None, typer.Option(min=0, max=1, help="mmr: 1 = score only, 0 = difference only.")
    ] = None,
    duplicates: Annotated[
        float | None,
        typer.Option(
            min=0.01, max=1, help="Leave out repetitions from this likeness on: 0.9; 1 = keep all."
        ),
    ] = None,
    expand: Annotated[
        Expansion | None, typer.Option(help="Give the section or the neighbours as well.")
    ] = None,
    principals: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find chunks by words and meaning, with every score's origin.

    Example: rag search "oil filter torque" --explain
    """
    from rag_pipeline.console import output as console
    from rag_pipeline.relational.search_opening import create_searcher
    from rag_pipeline.search import Filters, MetadataFilter

    first_page, last_page = _page_range(pages)
    filters = Filters(
        source_types=source_type or (),
        tags=tag or (),
        documents=document or (),
        languages=language or (),
        first_page=first_page,
        last_page=last_page,
        ingested_from=since and since.replace(tzinfo=UTC),
        ingested_before=before and before.replace(tzinfo=UTC),
        metadata=[MetadataFilter.parse(condition) for condition in where or ()],
    )
    with open_readers(principals) as (settings, database):
        weights = settings.search.weights.model_dump()
        if text_weight is not None:
            weights["text"] = text_weight
        if vector_weight is not None:
            weights["vector"] = vector_weight
        if not any(weights.values()):
            raise SettingsError("both weights are 0", hint="give one leg a weight")
        searcher = create_searcher(database, settings, space=space)
        if sql:
            statements = searcher.statements(query, limit=limit, weights=weights, filters=filters)
            if as_json:
                console.print_json(statements)
            else:
                console.print_statements(statements)
            return
        response = searcher.search(
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
    if as_json:
        console.print_json(response)
    else:
        console.print_search(response, explain)


def _page_range(text: str | None) -> tuple[int | None, int | None]:
    """Read `12`, `3-9`, `40-` or `-5`."""
    if text is None:
        return None, None
    match = re.fullmatch(r"(\d+)|(\d*)-(\d*)", text.strip())
    if not match or text.strip() == "-":
        raise SettingsError(f"{text!r} is no range of pages", hint="write 12, 3-9 or 40-")
    if match[1]:
        return int(match[1]), int(match[1])
    return int(match[2]) if match[2] else None, int(match[3]) if match[3] else None
