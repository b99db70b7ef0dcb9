"""The options that filter a search: one definition for every command that takes them."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from rag_pipeline.errors import SettingsError

if TYPE_CHECKING:
    from rag_pipeline.search import Filters

Several = list[str] | None


def make_filters(
    source_type: Annotated[Several, typer.Option(help="Only this type: pdf. Repeatable.")] = None,
    tag: Annotated[Several, typer.Option(help="Only sources with this tag. Repeatable.")] = None,
    document: Annotated[
        Several, typer.Option(help="Only this file: name, path or hash. Repeatable.")
    ] = None,
    language: Annotated[
        Several, typer.Option(help="Only documents in this language: ko. Repeatable.")
    ] = None,
    pages: Annotated[
        str | None, typer.Option(metavar="FIRST-LAST", help="Only these pages: 12, 3-9, 40-.")
    ] = None,
    since: Annotated[
        datetime | None, typer.Option(help="Only documents ingested on this day or later (UTC).")
    ] = None,
    before: Annotated[
        datetime | None, typer.Option(help="Only documents ingested before this day (UTC).")
    ] = None,
    where: Annotated[
        Several,
        typer.Option(
            help="Condition on metadata: key=value, key=a|b, key>=5, key<=9, key=3..7. Repeatable."
        ),
    ] = None,
) -> Filters:
    """Return the filters given by the options of a command. Raises `SettingsError`."""
    from rag_pipeline.search import Filters, MetadataFilter

    first_page, last_page = _page_range(pages)
    return Filters(
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


def takes_filters(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the filter options in place of its parameter `filters`."""
    options = _typed_parameters(make_filters)
    parameters: list[inspect.Parameter] = []
    for parameter in _typed_parameters(command):
        parameters += options if parameter.name == "filters" else [parameter]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        chosen = {option.name: given.pop(option.name) for option in options}
        command(**given, filters=make_filters(**chosen))

    # What typer reads; the wrapped function has texts as annotations and lacks the options.
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    del run.__wrapped__
    return run


def _typed_parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    """Return the parameters of a function with their annotations as types."""
    hints = get_type_hints(function, localns={"Filters": object}, include_extras=True)
    return [
        one.replace(annotation=hints[one.name])
        for one in inspect.signature(function).parameters.values()
    ]


def _page_range(text: str | None) -> tuple[int | None, int | None]:
    """Read `12`, `3-9`, `40-` or `-5`."""
    if text is None:
        return None, None
    match = re.fullmatch(r"(\d+)|(\d*)-(\d*)", text.strip())
    if not match or text.strip() == "-":
        raise SettingsError(f"{text!r} is not a page range", hint="write 12, 3-9 or 40-")
    if match[1]:
        return int(match[1]), int(match[1])
    return int(match[2]) if match[2] else None, int(match[3]) if match[3] else None
