"""Commands that maintain the store: `rag doctor`, `rag migrate`, `rag db …`."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from rag_pipeline.cli.application import EXIT_ERROR, JsonOption, app, open_database
from rag_pipeline.console.terminal import out, print_json, safe
from rag_pipeline.settings import Settings

AuditOption = Annotated[
    Path | None,
    typer.Option(help="Read this file twice, and list the words that the first reading lost."),
]
database_app = typer.Typer(help="The embedded Postgres.", no_args_is_help=True)
app.add_typer(database_app, name="db")


@app.command()
def doctor(as_json: JsonOption = False, audit: AuditOption = None) -> None:
    """Check everything that syncs and searches need, and say how to fix each fault.

    Example: rag doctor
    """
    if audit is not None:
        _audit(audit, as_json)
        return
    from rag_pipeline.console.diagnosis import diagnose, print_checks

    settings = Settings.load()
    os.chdir(settings.project_dir)
    checks = diagnose(settings)
    if as_json:
        print_json(checks)
    else:
        print_checks(checks)
    if not all(check.passed for check in checks):
        raise typer.Exit(EXIT_ERROR)


def _audit(file: Path, as_json: bool) -> None:
    """Print which words of a file its reader loses."""
    from rag_pipeline.parsing.local_parser import audit_file

    losses = audit_file(file, Settings.load().parsing)
    if as_json:
        found = {"words": losses.words, "share_lost": losses.share, "lost": dict(losses.lost)}
        print_json({**found, "numbers_changed": dict(losses.changed)})
        return
    out.print(f"{losses.words} words, {losses.lost.total()} lost ({losses.share:.2%})")
    _print_counts(losses.lost)
    if losses.changed:
        out.print(f"{losses.changed.total()} numbers that the file does not hold")
        _print_counts(losses.changed)


def _print_counts(counts: Counter[str]) -> None:
    for word, count in counts.most_common():
        out.print(f"  {safe(word)}" + (f" ×{count}" if count > 1 else ""))


@app.command()
def migrate(as_json: JsonOption = False) -> None:
    """Bring the schema up to date, as every command does by itself, and list its versions.

    Example: rag migrate
    """
    from rag_pipeline.store.migrations import list_migrations

    with open_database():
        names = [migration.name for migration in list_migrations()]
    if as_json:
        print_json({"applied": names})
    else:
        for name in names:
            out.print(f"applied  {name}")


@database_app.command("stop")
def database_stop() -> None:
    """Stop the embedded Postgres; the next command starts it again.

    Example: rag db stop
    """
    from rag_pipeline.store import embedded

    stopped = embedded.stop(Settings.load().data_path)
    out.print("stopped" if stopped else "was not running")


@database_app.command("url")
def database_url() -> None:
    """Print the database URL without its password, for psql and other tools.

    Example: psql "$(rag db url)"
    """
    from rag_pipeline.store import database
    from rag_pipeline.store.driver_errors import without_password

    typer.echo(without_password(database.database_url(Settings.load())))
