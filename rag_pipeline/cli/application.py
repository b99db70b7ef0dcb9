"""Shared by all commands: the application, options, exit statuses, and access to the database."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated

import typer

from rag_pipeline.console.terminal import err, print_error
from rag_pipeline.errors import RagError, SettingsError
from rag_pipeline.settings import Settings

if TYPE_CHECKING:
    from rag_pipeline.store.database import Database

EXIT_ERROR = 1
EXIT_DOCUMENTS_FAILED = 2

app = typer.Typer(
    name="rag",
    help="Turns technical documents into a searchable Postgres knowledge base.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
LimitOption = Annotated[
    int | None,
    typer.Option("--limit", "-n", min=1, max=1000, help="Number of results; default: the setting."),
]


AsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--as",
        metavar="PRINCIPAL",
        help="Only what this principal may read, such as user:kim; repeat it for a user's groups. "
        "Default: everything, or as [security] says.",
    ),
]
SpaceOption = Annotated[
    str | None,
    typer.Option(help="An embedding space (`rag spaces list`); default: the active one."),
]


def readable(query: str) -> str:
    """Return a query. Raises `SettingsError` if the shell did not pass it as text."""
    try:
        query.encode()
    except UnicodeEncodeError:
        raise SettingsError(
            "the query holds bytes that are not UTF-8", hint="set the terminal's encoding to UTF-8"
        ) from None
    return query


def run() -> None:
    """Run the command line; an expected error is one line on standard error and exit status 1."""
    try:
        app()
    except RagError as error:
        print_error(str(error))
        raise SystemExit(EXIT_ERROR) from None
    except OSError as error:
        if not error.filename:
            raise
        print_error(f"{error.filename}: {error.strerror}; check that it exists, and its rights")
        raise SystemExit(EXIT_ERROR) from None


@app.callback(invoke_without_command=True)
def _main(
    show_version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    if show_version:
        typer.echo(version("rag-pipeline"))
        raise typer.Exit


@contextmanager
def open_readers(principals: list[str] | None) -> Iterator[tuple[Settings, Database]]:
    """Yield the settings and the database as these principals see it (`--as`)."""
    with open_database() as (settings, database):
        yield settings, database.for_readers(principals)


def enter_project() -> Settings:
    """Return the settings and change to the project folder, where relative paths begin."""
    from rag_pipeline.store import embedded

    settings = Settings.load()
    os.chdir(settings.project_dir)
    if settings.database_url is None and embedded.is_new(settings.data_path):
        err.print("[dim]first start: Postgres is set up, which takes a few seconds[/]")
    return settings


@contextmanager
def open_database() -> Iterator[tuple[Settings, Database]]:
    """Yield the settings and the migrated database, in the project folder."""
    from rag_pipeline.store.database import Database

    settings = enter_project()
    database = Database.open(settings)
    try:
        yield settings, database
    finally:
        database.close()
