"""Commands for folders kept in sync: `rag sources …`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rag_pipeline.cli.application import JsonOption, app, open_database
from rag_pipeline.console.terminal import out, print_json, safe

sources_app = typer.Typer(help="Folders kept in sync.", no_args_is_help=True)
app.add_typer(sources_app, name="sources")


@sources_app.command("list")
def sources_list(as_json: JsonOption = False) -> None:
    """List the folders kept in sync.

    Example: rag sources list
    """
    from rag_pipeline.store.source_tables import list_roots

    with open_database() as (_, database), database.connection() as connection:
        roots = list_roots(connection)
    if as_json:
        print_json(roots)
    else:
        for root in roots:
            out.print(f"{safe(root.root)} [dim]({root.origin})[/]")


@sources_app.command("remove")
def sources_remove(
    path: Annotated[str, typer.Argument(help="A source as shown by `rag sources list`.")],
) -> None:
    """Forget a folder; the next sync removes its documents. Embeddings stay cached.

    Example: rag sources remove ~/manuals
    """
    from rag_pipeline.errors import SourceError
    from rag_pipeline.store.source_tables import forget_root
    from rag_pipeline.sync.sources.places import kind_of

    resolved = str(Path(path).expanduser().resolve()) if kind_of(path) == "local" else path
    with open_database() as (_, database), database.connection() as connection:
        if not forget_root(connection, resolved) and not forget_root(connection, path):
            raise SourceError(f"{path} is not a known folder", hint="see `rag sources list`")
    out.print(f"forgotten: {safe(resolved)}; `rag sync` removes its documents")
