"""Commands for databases whose rows are indexed: `rag relational …`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from rag_pipeline.cli.application import (
    EXIT_DOCUMENTS_FAILED,
    AsOption,
    JsonOption,
    app,
    open_database,
)
from rag_pipeline.console.terminal import err, out, print_json, safe
from rag_pipeline.errors import SettingsError
from rag_pipeline.settings import RelationalSettings, Settings, may_read

if TYPE_CHECKING:
    from rag_pipeline.relational.rows.row_plan import PlannedNode
    from rag_pipeline.usage import Usage

relational_app = typer.Typer(help="Databases whose rows are indexed.", no_args_is_help=True)
app.add_typer(relational_app, name="relational")

SourceArgument = Annotated[
    str | None, typer.Argument(help="Name of a source in rag.toml; default: all.")
]


@relational_app.command("plan")
def relational_plan(source: SourceArgument = None, as_json: JsonOption = False) -> None:
    """Show the tree of tables that was found, and the number of chunks it would make.

    Example: rag relational plan
    """
    from rag_pipeline.embedding import create_embedder
    from rag_pipeline.relational.rows.row_plan import plan_relational
    from rag_pipeline.relational.rows.row_text import Renderer
    from rag_pipeline.relational.schema.connecting import open_engine, reading
    from rag_pipeline.relational.schema.lexicon import Lexicon
    from rag_pipeline.relational.schema.relation_tree import build_tree
    from rag_pipeline.relational.schema.table_schema import read_schema

    settings = Settings.load()
    embedder = create_embedder(settings.embedding, settings.models_path)
    plans = []
    for chosen in chosen_sources(settings, source):
        engine = open_engine(chosen)
        schema = read_schema(engine, Lexicon(chosen.words), chosen.db_schema)
        tree = build_tree(schema, chosen)
        renderer = Renderer(chosen, settings.project_dir)
        with reading(engine, chosen.timeout_seconds) as connection:
            plans.append(
                plan_relational(connection, schema, tree, chosen, renderer, embedder.count_tokens)
            )
        engine.dispose()
    if as_json:
        print_json([plan.as_dict() for plan in plans])
        return
    for plan in plans:
        about = "" if plan.sampled >= plan.tree.rows else "about "
        out.print(
            f"[bold]{safe(plan.source)}[/] ({plan.strategy}): "
            f"{about}{plan.chunks:,} chunks, {about}{plan.tokens:,} tokens"
        )
        _print_tree(plan.tree, 1)
        for note in plan.left_out:
            out.print(f"  [dim]not shown: {safe(note)}[/]")


def _print_tree(node: PlannedNode, level: int) -> None:

    kinds = {"root": "root", "many": "1:N", "many_to_many": "N:M", "one": "1:1"}
    through = f" through {safe(node.through)}" if node.through else ""
    names = f"; names {safe(', '.join(node.references))}" if node.references else ""
    line = f"{safe(node.table)} [dim]{kinds[node.kind]}{through}, {node.rows:,} rows{names}[/]"
    out.print("  " * level + line)
    for child in node.children:
        _print_tree(child, level + 1)


@relational_app.command("sync")
def relational_sync(
    source: SourceArgument = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Delete the stored rows of root tables that are now empty."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Index new and changed rows and drop deleted ones; `rag sync` does this too.

    If a database cannot be read, its stored rows stay, the others are synced, and the exit status
    is 2.

    Example: rag relational sync
    """
    from rag_pipeline.console.progress_bars import sync_progress
    from rag_pipeline.console.sync_output import print_rows
    from rag_pipeline.relational.rows.row_sync import forget_relational, sync_relational_sources
    from rag_pipeline.sync.finish import finish
    from rag_pipeline.sync.sync_context import SyncContext

    with open_database() as (settings, database), database.sync_lock():
        chosen = chosen_sources(settings, source)
        context = SyncContext.of(settings, database)
        with sync_progress(not as_json):
            reports = sync_relational_sources(context, chosen, force=force)
        if source is None:
            forget_relational(database, settings)
        finish(context, after_scan=True)
    if as_json:
        print_json(reports)
    else:
        for report in reports:
            print_rows(report)
    if any(report.error or report.failures for report in reports):
        raise typer.Exit(EXIT_DOCUMENTS_FAILED)


@relational_app.command("ask")
def relational_ask(
    question: Annotated[str, typer.Argument(help="Asks for a count, sum, extreme or share.")],
    source: Annotated[str | None, typer.Option(help="A source; default: all in turn.")] = None,
    principals: AsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compute a number by SQL and show the SQL; uncertain questions are not answered.

    Example: rag relational ask "How many orders were placed in 1996?"
    """
    from rag_pipeline.chat import create_chat
    from rag_pipeline.relational.databases import Databases

    settings = Settings.load()
    chosen = chosen_sources(settings, source)
    readers = settings.security.named(principals)
    readable = [one.name for one in chosen if may_read(one.readers, readers)]
    databases = Databases(chosen, readable)
    chat = create_chat(settings.chat)
    answer = databases.answer(question, chat)
    if chat is not None and (used := chat.take_usage()):
        _record(used)
    if as_json:
        print_json(answer)
        return
    out.print(safe(answer.text))
    if answer.sql is not None:
        out.print(f"[dim]{safe(answer.sql)}[/]")
    if answer.method == "chat" and answer.is_computed:
        err.print("the chat model wrote the SQL: read it before relying on the number")


def _record(used: list[Usage]) -> None:
    from rag_pipeline.store.usage_table import UsageEntry, record_usage

    with open_database() as (settings, database), database.connection() as connection:
        entries = [UsageEntry(usage) for usage in used]
        record_usage(connection, entries, run="relational-ask", prices=settings.prices)


def chosen_sources(settings: Settings, name: str | None) -> Sequence[RelationalSettings]:
    """Return the sources with a name, or all. Raises `SettingsError` if there are none."""
    known = settings.relational
    found = [source for source in known if name is None or source.name == name]
    if not found:
        names = ", ".join(source.name for source in known) or "none"
        raise SettingsError(
            f"there is no relational source {name}" if name else "rag.toml has no [[relational]]",
            hint=f"known: {names}; see docs/relational.md",
        )
    return found
