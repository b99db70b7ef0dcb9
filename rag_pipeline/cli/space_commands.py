"""Commands for models and their cost: `rag spaces …`, `rag cost`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from rag_pipeline.cli.application import JsonOption, app, open_database
from rag_pipeline.console.terminal import out, print_json, safe
from rag_pipeline.errors import SettingsError

if TYPE_CHECKING:
    from rag_pipeline.store.embeddings import SpaceRow
    from rag_pipeline.store.usage_table import UsageGroup

spaces_app = typer.Typer(
    help="Embedding spaces, one per model, side by side.", no_args_is_help=True
)
app.add_typer(spaces_app, name="spaces")
NameArgument = Annotated[str, typer.Argument(help="A space as shown by `rag spaces list`.")]


@spaces_app.command("list")
def spaces_list(as_json: JsonOption = False) -> None:
    """List the spaces and how complete each is.

    Example: rag spaces list
    """
    from rag_pipeline.console.cost_output import print_spaces
    from rag_pipeline.store.embeddings import list_spaces

    with open_database() as (_, database), database.connection() as connection:
        spaces = list_spaces(connection)
    if as_json:
        print_json([{"name": row.space.name, **vars(row)} for row in spaces])
    else:
        print_spaces(spaces)


@spaces_app.command("activate")
def spaces_activate(name: NameArgument) -> None:
    """Make searches use this space (pinned) until another one is activated.

    The space named by the settings is not pinned: the next change of the model takes over by
    itself. A space that lacks vectors is refused, because searches by meaning would miss the
    documents without them.

    Example: rag spaces activate local/multilingual-e5-small/384@1
    """
    from rag_pipeline.store.embeddings import activate_space, ensure_index, list_spaces, pin_space
    from rag_pipeline.sync.planning.refresh import settings_space

    with open_database() as (settings, database), database.connection() as connection:
        row = _find(list_spaces(connection), name)
        if not row.is_complete:
            raise SettingsError(
                f"{row.space.name} has vectors for {row.vectors} of {row.chunks} chunks",
                hint="name its model in the settings and run `rag sync` to complete it",
            )
        ensure_index(connection, row.space)
        activate_space(connection, row.space.space_id)
        of_settings = settings_space(settings, connection)
        is_named = of_settings is not None and of_settings.space_id == row.space.space_id
        pin_space(connection, None if is_named else row.space.space_id)
    out.print(f"active: {safe(row.space.name)}" + ("" if is_named else ", pinned"))


@spaces_app.command("drop")
def spaces_drop(name: NameArgument) -> None:
    """Delete a space with its vectors and cache; the active one is refused.

    Embedding its texts again costs as much as the first time.

    Example: rag spaces drop openai/text-embedding-3-small/1536@1
    """
    from rag_pipeline.store.embeddings import drop_space, list_spaces

    with (
        open_database() as (_, database),
        database.sync_lock(),
        database.connection() as connection,
    ):
        row = _find(list_spaces(connection), name)
        if row.space.state == "active":
            raise SettingsError(
                f"{row.space.name} is the active space",
                hint="activate another one first: `rag spaces activate NAME`",
            )
        drop_space(connection, row.space.space_id)
    out.print(f"dropped: {safe(row.space.name)}, {row.vectors} vectors, {row.cached} cached texts")


@app.command()
def cost(
    by: Annotated[
        str, typer.Option("--by", help="Group by provider, day (UTC) or source.")
    ] = "provider",
    days: Annotated[
        int | None, typer.Option("--days", min=1, help="Only the last days; default: all.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the use of paid services and its estimated cost.

    Example: rag cost --by day --days 30
    """
    from rag_pipeline.console.cost_output import print_cost
    from rag_pipeline.store.usage_table import usage_totals

    groups: dict[str, UsageGroup] = {"provider": "provider", "day": "day", "source": "source"}
    if by not in groups:
        raise typer.BadParameter("use provider, day or source", param_hint="--by")
    since = datetime.now(UTC) - timedelta(days=days) if days else None
    with open_database() as (_, database), database.connection() as connection:
        totals = usage_totals(connection, groups[by], since)
    if as_json:
        print_json(totals)
    else:
        print_cost(totals, by)


def _find(spaces: list[SpaceRow], name: str) -> SpaceRow:
    """Return the space with a name; the version may be left out if the rest is unique."""
    found = [row for row in spaces if name in (row.space.name, row.space.name.rsplit("@", 1)[0])]
    if len(found) == 1:
        return found[0]
    known = ", ".join(row.space.name for row in spaces) or "none"
    problem = "names several spaces" if found else "names no space"
    raise SettingsError(f"{name!r} {problem}", hint=f"known: {known}")
