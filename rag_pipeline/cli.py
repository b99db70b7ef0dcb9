"""The command `rag`: sync, search, ask, inspect, and looking after the store.

Heavy libraries are imported inside the commands that use them, so that `rag search` starts fast.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_pipeline.errors import DocumentError, RagError, SettingsError
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
database_app = typer.Typer(help="The embedded Postgres.", no_args_is_help=True)
sources_app = typer.Typer(help="The folders that are kept in sync.", no_args_is_help=True)
app.add_typer(database_app, name="db")
app.add_typer(sources_app, name="sources")

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
LimitOption = Annotated[
    int | None,
    typer.Option("--limit", "-n", min=1, max=1000, help="Results; default: the setting."),
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
def _open() -> Iterator[tuple[Settings, Database]]:
    """Lend the settings and the migrated database; relative paths are the project folder's."""
    from rag_pipeline.store.database import Database

    settings = Settings.load()
    os.chdir(settings.project_dir)
    database = Database.open(settings)
    try:
        yield settings, database
    finally:
        database.close()


@app.command()
def sync(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Folders or files; none = all known folders.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Bring the knowledge base up to date with the folders; only what changed is done again.

    A folder given here is remembered: later syncs, the nightly one too, take it in. Exit status 2
    means that documents are failed; `rag status` tells why.

    Example: rag sync ~/manuals
    """
    from rag_pipeline.sync.scan import path_root

    roots = [path_root(path) for path in paths or []]
    with _open() as (settings, database):
        _sync(settings, database, roots, as_json)


def _sync(settings: Settings, database: Database, roots: list, as_json: bool) -> None:  # type: ignore[type-arg]
    from assets.launch import open_instance, run_sync
    from rag_pipeline.console import output as console
    from rag_pipeline.definitions import defs
    from rag_pipeline.errors import SourceError, SyncLockedError
    from rag_pipeline.store.sources import list_roots, register_roots
    from rag_pipeline.sync.fingerprints import STAGES

    with database.connection() as connection:
        register_roots(connection, roots)
        known = list_roots(connection)
    if not known and not settings.sources:
        raise SourceError(
            "there is no folder to sync",
            hint="run `rag sync FOLDER`, or put [[sources]] into rag.toml",
        )
    try:
        with database.sync_lock():
            pass
    except SyncLockedError:
        console.err.print("another sync is running; waiting for it to end (Ctrl-C gives up)")
    with open_instance(settings) as instance, console.sync_progress(not as_json) as progress:
        summary = run_sync(
            defs,
            instance,
            settings,
            database,
            [root.root for root in roots],
            lambda plan: console.set_totals(progress, plan.stale, STAGES),
        )
    if as_json:
        console.print_json(summary)
    else:
        console.print_sync_summary(summary)
    if summary.aborted:
        raise RagError(summary.aborted, hint="what has landed stays; `rag sync` does the rest")
    if summary.failures:
        raise typer.Exit(EXIT_DOCUMENTS_FAILED)


@app.command()
def plan(as_json: JsonOption = False) -> None:
    """Show what is stale in the store, as ranges of Dagster partitions; no folder is looked at.

    Example: rag plan --json
    """
    from assets.automation import stale_ranges
    from assets.launch import open_instance
    from rag_pipeline.console import output as console
    from rag_pipeline.sync.refresh import current_plan

    with _open() as (settings, database), open_instance(settings) as instance:
        found = current_plan(settings, database)
        ranges = stale_ranges(instance, settings, found)
    if as_json:
        console.print_json({"stale": found.stale, "ranges": ranges, "current": found.current})
        return
    for first, last, count in ranges:
        console.out.print(f"{first}...{last}  [dim]{count} documents[/]")
    console.out.print(
        f"{len(found.stale)} documents to be done, {found.current} up to date, "
        f"{len(found.failed)} failed for good"
    )


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
    as_json: JsonOption = False,
) -> None:
    """Find chunks by words and meaning, with every score's origin.

    Example: rag search "oil filter torque" --explain
    """
    from rag_pipeline.console import output as console
    from rag_pipeline.embedding import create_embedder
    from rag_pipeline.search import Searcher

    with _open() as (settings, database):
        weights = settings.search.weights.model_dump()
        if text_weight is not None:
            weights["text"] = text_weight
        if vector_weight is not None:
            weights["vector"] = vector_weight
        if not any(weights.values()):
            raise SettingsError("both weights are 0", hint="give one leg a weight")
        embedder = create_embedder(settings.embedding, settings.data_path / "models")
        searcher = Searcher(database, embedder, settings.search)
        response = searcher.search(query, limit=limit, weights=weights)
    if as_json:
        console.print_json(response)
    else:
        console.print_search(response, explain)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="A question in any language of the documents.")],
    as_json: JsonOption = False,
) -> None:
    """Answer with sentences of the documents, word for word, each cited to page and box.

    Example: rag ask "How do I replace the oil filter?"
    """
    from rag_pipeline.answering import extract_answer
    from rag_pipeline.console import output as console
    from rag_pipeline.embedding import create_embedder
    from rag_pipeline.search import Searcher

    with _open() as (settings, database):
        embedder = create_embedder(settings.embedding, settings.data_path / "models")
        response = Searcher(database, embedder, settings.search).search(question)
        for note in response.notes:
            console.err.print(console.safe(note))
        answer = extract_answer(question, response.results, embedder)
    if as_json:
        console.print_json({"text": answer.text, **vars(answer)})
    else:
        console.print_answer(answer)


@app.command()
def status(as_json: JsonOption = False) -> None:
    """Show how much the store holds, what waits, and what failed and why.

    Example: rag status --json
    """
    from rag_pipeline.console import output as console
    from rag_pipeline.store.documents import list_documents
    from rag_pipeline.store.sources import list_roots
    from rag_pipeline.store.statistics import count_everything
    from rag_pipeline.sync.refresh import current_plan

    with _open() as (settings, database):
        stale = len(current_plan(settings, database).stale)
        with database.connection() as connection:
            counts = count_everything(connection)
            documents = list_documents(connection)
            roots = list_roots(connection)
    if as_json:
        found = {"counts": counts, "stale": stale, "documents": documents, "folders": roots}
        console.print_json(found)
    else:
        console.print_status(counts, stale, documents, roots)


@app.command()
def retry(
    names: Annotated[
        list[str] | None, typer.Argument(help="File names or hashes; none = all failed ones.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Try failed documents again now.

    Example: rag retry damaged.pdf
    """
    from rag_pipeline.errors import SourceError
    from rag_pipeline.store.documents import forget_failures, list_documents

    with _open() as (settings, database):
        with database.connection() as connection:
            failed = [d for d in list_documents(connection) if d.status == "failed"]
            wanted = [
                document.source_hash
                for document in failed
                if not names
                or document.source_hash in names
                or any(Path(uri).name in names or uri in names for uri in document.uris)
            ]
            if names and not wanted:
                raise SourceError(
                    f"no failed document is called {', '.join(names)}", hint="see `rag status`"
                )
            forget_failures(connection, wanted)
        _sync(settings, database, [], as_json)


@app.command()
def inspect(
    files: Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, help="Documents.")],
    explain: Annotated[
        bool, typer.Option("--explain", help="Show for each block the rule that decided.")
    ] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print as Markdown.")] = False,
    keep_furniture: Annotated[
        bool, typer.Option("--keep-furniture", help="Keep running heads and page numbers.")
    ] = False,
    ignore_outline: Annotated[
        bool, typer.Option("--ignore-outline", help="Do not use bookmarks as hints.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(file_okay=False, help="Write NAME.json and NAME.md there.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what the parser and the rules make of files; needs no database.

    Example: rag inspect manual.pdf --explain
    """
    from rag_pipeline.console import inspection, output

    settings = Settings.load()
    if ignore_outline:
        parsing = settings.parsing.model_copy(update={"ignore_outline": True})
        settings = settings.model_copy(update={"parsing": parsing})
    stems = [file.stem for file in files]
    if out is not None and len(set(stems)) < len(stems):
        raise SettingsError("two files have the same name", hint="write them to two folders")
    failed = False
    results: list[dict[str, Any]] = []
    for file in files:
        try:
            found = inspection.inspect_file(file, settings, keep_furniture=keep_furniture)
        except DocumentError as error:
            output.print_error(str(error))
            failed = True
            continue
        if out is not None:
            inspection.write_inspection(found, out)
        elif as_json:
            results.append(found.as_json())
        elif markdown:
            typer.echo(found.markdown, nl=False)
        else:
            inspection.print_inspection(found, explain)
    if as_json and results:
        output.print_json(results[0] if len(files) == 1 else results)
    if failed:
        raise typer.Exit(EXIT_DOCUMENTS_FAILED)


@app.command()
def doctor(as_json: JsonOption = False) -> None:
    """Check everything that a sync and a search need, and say what to do about each fault.

    Example: rag doctor
    """
    from rag_pipeline.console import output as console
    from rag_pipeline.console.diagnosis import diagnose, print_checks

    settings = Settings.load()
    os.chdir(settings.project_dir)
    checks = diagnose(settings)
    if as_json:
        console.print_json(checks)
    else:
        print_checks(checks)
    if not all(check.passed for check in checks):
        raise typer.Exit(EXIT_ERROR)


@app.command()
def migrate(as_json: JsonOption = False) -> None:
    """Bring the schema up to date (every command does so by itself) and list its versions.

    Example: rag migrate
    """
    from rag_pipeline.console import output as console
    from rag_pipeline.store.migrations import list_migrations

    with _open():
        names = [migration.name for migration in list_migrations()]
    if as_json:
        console.print_json({"applied": names})
    else:
        for name in names:
            console.out.print(f"applied  {name}")


@sources_app.command("list")
def sources_list(as_json: JsonOption = False) -> None:
    """List the folders.

    Example: rag sources list
    """
    from rag_pipeline.console import output as console
    from rag_pipeline.store.sources import list_roots

    with _open() as (_, database), database.connection() as connection:
        roots = list_roots(connection)
    if as_json:
        console.print_json(roots)
    else:
        for root in roots:
            console.out.print(f"{console.safe(root.root)} [dim]({root.origin})[/]")


@sources_app.command("remove")
def sources_remove(
    path: Annotated[str, typer.Argument(help="A folder as `rag sources list` shows it.")],
) -> None:
    """Forget a folder; the next sync removes its documents. Embeddings stay cached.

    Example: rag sources remove ~/manuals
    """
    from rag_pipeline.console import output as console
    from rag_pipeline.errors import SourceError
    from rag_pipeline.store.sources import forget_root

    resolved = str(Path(path).expanduser().resolve())
    with _open() as (_, database), database.connection() as connection:
        if not forget_root(connection, resolved) and not forget_root(connection, path):
            raise SourceError(f"{path} is not a known folder", hint="see `rag sources list`")
    console.out.print(f"forgotten: {console.safe(resolved)}; `rag sync` removes its documents")


@database_app.command("stop")
def database_stop() -> None:
    """Stop the embedded Postgres; the next command starts it again.

    Example: rag db stop
    """
    from rag_pipeline.console.output import out
    from rag_pipeline.store import embedded

    stopped = embedded.stop(Settings.load().data_path)
    out.print("stopped" if stopped else "it was not running")


@database_app.command("url")
def database_url() -> None:
    """Print the database's URL (without a password), for psql and other tools.

    Example: psql "$(rag db url)"
    """
    from rag_pipeline.store import database

    typer.echo(database.without_password(database.database_url(Settings.load())))


@app.command(hidden=True)
def demo() -> None:
    """Sync the samples, search in two languages, and answer one question."""
    from rag_pipeline.console.demonstration import run_demo

    with _open() as (settings, database):
        run_demo(settings, database, _sync)


if __name__ == "__main__":
    main()
