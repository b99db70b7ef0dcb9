"""The command `rag`: sync, search, ask, inspect, and maintain the store.

Heavy libraries are imported inside the commands that use them, so that `rag search` starts fast.
"""

# isort: off
from rag_pipeline.cli import (  # noqa: F401 - `rag --help` lists the commands in this order
    sync_commands,
    search_command,
    ask_command,
    eval_commands,
    file_commands,
    source_commands,
    relational_commands,
    space_commands,
    serve_commands,
    store_commands,
)

# isort: on
from rag_pipeline.cli.application import app, main

__all__ = ["app", "main"]
