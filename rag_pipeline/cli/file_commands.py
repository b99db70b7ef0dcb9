"""Commands that look at files without a database: `rag inspect`, `rag chunk`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rag_pipeline.cli.application import EXIT_DOCUMENTS_FAILED, JsonOption, app
from rag_pipeline.console.terminal import out, print_error, print_json, safe
from rag_pipeline.errors import DocumentError, SettingsError
from rag_pipeline.settings import Settings, StrategyName

HtmlOption = Annotated[
    Path | None, typer.Option(help="Write a page with pictures, boxes, text, outline and chunks.")
]


@app.command()
def inspect(
    files: Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, help="Documents.")],
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the rule that decided on each block.")
    ] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print as Markdown.")] = False,
    keep_furniture: Annotated[
        bool, typer.Option("--keep-furniture", help="Keep running headers and page numbers.")
    ] = False,
    ignore_outline: Annotated[
        bool, typer.Option("--ignore-outline", help="Ignore the file's bookmarks.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(file_okay=False, help="Folder for NAME.json and NAME.md."),
    ] = None,
    html: HtmlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what the parser and the rules make of files, without a database.

    Example: rag inspect manual.pdf --html manual.html
    """
    from rag_pipeline.inspection import file_inspection

    settings = Settings.load()
    if ignore_outline:
        parsing = settings.parsing.model_copy(update={"ignore_outline": True})
        settings = settings.model_copy(update={"parsing": parsing})
    stems = [file.stem for file in files]
    if out is not None and len(set(stems)) < len(stems):
        raise SettingsError("two files have the same name", hint="write them to different folders")
    if html is not None and len(files) > 1 and not html.is_dir():
        raise SettingsError(f"{html} is one file", hint="give a folder for several documents")
    failed = False
    results: list[dict[str, object]] = []
    for file in files:
        try:
            if html is not None:
                _write_page(file, settings, html)
                continue
            found = file_inspection.inspect_file(file, settings, keep_furniture=keep_furniture)
        except DocumentError as error:
            print_error(str(error))
            failed = True
            continue
        if out is not None:
            file_inspection.write_inspection(found, out)
        elif as_json:
            results.append(found.as_json())
        elif markdown:
            typer.echo(found.markdown, nl=False)
        else:
            file_inspection.print_inspection(found, explain)
    if as_json and results:
        print_json(results[0] if len(files) == 1 else results)
    if failed:
        raise typer.Exit(EXIT_DOCUMENTS_FAILED)


def _write_page(file: Path, settings: Settings, html: Path) -> None:
    from rag_pipeline.inspection.html_page import write_inspection_page

    target = html / f"{file.name}.html" if html.is_dir() else html
    size = write_inspection_page(file, settings, target)
    shown = f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{size / 1e3:.0f} kB"
    out.print(f"{safe(target)} [dim]{shown}[/]")


@app.command()
def chunk(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A document.")],
    strategy: Annotated[
        StrategyName | None, typer.Option(help="Chunking strategy; default: the setting.")
    ] = None,
    target_tokens: Annotated[
        int | None,
        typer.Option(min=32, max=8192, help="Tokens per chunk; default: the setting."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the chunks of a file, without a database.

    Example: rag chunk manual.pdf --strategy recursive
    """
    from rag_pipeline.inspection.chunk_listing import chunk_file, print_chunking

    settings = Settings.load()
    chosen = {"strategy": strategy, "target_tokens": target_tokens}
    update = {name: value for name, value in chosen.items() if value is not None}
    chunking = settings.chunking.model_copy(update=update)
    found = chunk_file(file, settings.model_copy(update={"chunking": chunking}))
    if as_json:
        print_json(found.as_json())
    else:
        print_chunking(found)
