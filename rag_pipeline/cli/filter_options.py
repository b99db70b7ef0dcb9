"""The options that filter what `rag search` and `rag ask` may find."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer
from typer.models import OptionInfo

from rag_pipeline.errors import SettingsError

if TYPE_CHECKING:
    from rag_pipeline.search import Filters


def _several(text: str) -> OptionInfo:
    option: OptionInfo = typer.Option(help=f"{text} May be given more than once.")
    return option


SourceTypeOption = Annotated[list[str] | None, _several("Only files of this type: pdf.")]
TagOption = Annotated[list[str] | None, _several("Only sources with this tag.")]
DocumentOption = Annotated[list[str] | None, _several("Only this file: name, path or hash.")]
LanguageOption = Annotated[list[str] | None, _several("Only documents in this language: ko.")]
PagesOption = Annotated[
    str | None, typer.Option(metavar="FIRST-LAST", help="Only these pages: 12, 3-9, 40-.")
]
SinceOption = Annotated[
    datetime | None, typer.Option(help="Only documents ingested on this day or later (UTC).")
]
BeforeOption = Annotated[
    datetime | None, typer.Option(help="Only documents ingested before this day (UTC).")
]
WhereOption = Annotated[
    list[str] | None,
    _several("Condition on metadata: key=value, key=a|b, key>=5, key<=9, key=3..7."),
]


def make_filters(
    source_type: list[str] | None,
    tag: list[str] | None,
    document: list[str] | None,
    language: list[str] | None,
    pages: str | None,
    since: datetime | None,
    before: datetime | None,
    where: list[str] | None,
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
