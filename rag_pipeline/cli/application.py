"""What every command shares: the application, its options, exit statuses, and the open database."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_pipeline.errors import RagError
from rag_pipeline.settings import Settings

if TYPE_CHECKING:
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
WhereOption = Annotated[
    list[str] | None,
    _several("Condition on metadata: key=value, key=a|b, key>=5, key<=9, key=3..7."),
]


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
