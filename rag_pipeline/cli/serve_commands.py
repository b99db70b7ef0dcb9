"""Commands that serve others: a page and an API for people and programs, tools for agents."""

from __future__ import annotations

from typing import Annotated

import typer

from rag_pipeline.cli.application import app, enter_project
from rag_pipeline.console.terminal import err

HostOption = Annotated[
    str, typer.Option(help="Address to listen on; tokens are required unless it is local.")
]
PortOption = Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 = any free port.")]


@app.command()
def serve(
    host: HostOption = "127.0.0.1",
    port: PortOption = 8321,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the page in the browser.")
    ] = False,
) -> None:
    """Serve a page to search, ask and look at sources, and its JSON API.

    Example: rag serve --open
    """
    import webbrowser

    from rag_pipeline.serve.web_server import bind, page_application
    from rag_pipeline.serve.web_server import serve as run

    def ready(url: str) -> None:
        err.print(f"[bold]{url}[/]  [dim](API: {url}/api/openapi.json; Ctrl-C stops)[/]")
        if open_browser:
            webbrowser.open(url)

    settings = enter_project()
    with page_application(settings, host) as application:
        run(application, bind(host, port), ready)


@app.command()
def mcp(
    http: Annotated[
        bool,
        typer.Option("--http", help="Serve over HTTP at /mcp, not standard input."),
    ] = False,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8322,
    principal: Annotated[
        list[str] | None,
        typer.Option(
            "--as",
            metavar="PRINCIPAL",
            help="Without --http: only what this principal may read, such as user:kim; repeat it "
            "for a user's groups. Default: everything, or as [security] says.",
        ),
    ] = None,
) -> None:
    """Offer the knowledge base to agents through the Model Context Protocol.

    By default over standard input and output, for an agent on this machine that starts the command.

    Example: rag mcp --http
    """
    from rag_pipeline.agents.extra import check_installed
    from rag_pipeline.errors import SettingsError

    if http and principal:
        raise SettingsError(
            "--as does not work with --http", hint="tokens say who asks (serve.tokens)"
        )
    check_installed()
    from rag_pipeline.agents import mcp_server as running

    settings = enter_project()
    if not http:
        running.serve_pipe(settings, tuple(principal) if principal else None)
        return
    running.serve_http(
        settings, host, port, lambda url: err.print(f"[bold]{url}/mcp[/]  [dim](Ctrl-C stops)[/]")
    )
