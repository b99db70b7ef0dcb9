"""All commands of `rag`, in the order in which `rag --help` lists them."""

# isort: off
from rag_pipeline.cli import (  # noqa: F401 - importing a module adds its commands
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
from rag_pipeline.cli.application import app, run

__all__ = ["app", "run"]
