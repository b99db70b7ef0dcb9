"""What every command shares: the application, its options, exit statuses, and the open database."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_pipeline.errors import RagError, SettingsError
from rag_pipeline.settings import Settings

if TYPE_CHECKING:
    from rag_pipeline.search import Filters
    from rag_pipeline.store.database import Database

EXIT_ERROR = 1
EXIT_DOCUMENTS_FAILED = 2
EXIT_INTERRUPTED = 130

app = typer.Typer(
    name="rag",
    help="Technical documents to a searchable Postgres knowledge base.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
LimitOption = Annotated[
    int | None,
    typer.Option("--limit", "-n", min=1, max=1000, help="Results; default: the setting."),
]


AsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--as",
        metavar="PRINCIPAL",
        help="Only what this principal may read, such as user:kim. Give it more than once for the "
        "groups of a user. Default: everything, or as [security] says.",
    ),
]
SpaceOption = Annotated[
    str | None,
    typer.Option(help="An embedding space (`rag spaces list`); default: the active one."),
]


def _several(text: str) -> Any:
    return typer.Option(help=f"{text} May be given more than once.")


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
    """Return the filters that the options of a command describe. Raises `SettingsError`."""
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
        raise SettingsError(f"{text!r} is not a range of pages", hint="write 12, 3-9 or 40-")
    if match[1]:
        return int(match[1]), int(match[1])
    return int(match[2]) if match[2] else None, int(match[3]) if match[3] else None


def main() -> None:
    """Run the command line; an expected error is one line on standard error and exit status 1."""
    try:
        app()
    except RagError as error:
        from rag_pipeline.console.output import print_error

        print_error(str(error))
        raise SystemExit(EXIT_ERROR) from None
    except BaseException as error:
        # Dagster turns an interrupt into an error of its own.
        if isinstance(error, KeyboardInterrupt) or "Interrupted" in type(error).__name__:
            typer.echo("interrupted; what has landed stays, `rag sync` does the rest", err=True)
            raise SystemExit(EXIT_INTERRUPTED) from None
        raise


@app.callback(invoke_without_command=True)
def _main(
    show_version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    if show_version:
        typer.echo(version("rag-pipeline"))
        raise typer.Exit


@contextmanager
def open_readers(principals: list[str] | None) -> Iterator[tuple[Settings, Database]]:
    """Lend the settings and the database as these principals see it (`--as`)."""
    with open_database() as (settings, database):
        yield settings, database.for_readers(principals)


def enter_project() -> Settings:
    """Return the settings; relative paths are the project folder's from now on."""
    settings = Settings.load()
    os.chdir(settings.project_dir)
    return settings


@contextmanager
def open_database() -> Iterator[tuple[Settings, Database]]:
    """Lend the settings and the migrated database; relative paths are the project folder's."""
    from rag_pipeline.store.database import Database

    settings = enter_project()
    database = Database.open(settings)
    try:
        yield settings, database
    finally:
        database.close()
