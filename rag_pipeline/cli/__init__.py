"""The command `rag`: sync, search, ask, inspect, and looking after the store.

Heavy libraries are imported inside the commands that use them, so that `rag search` starts fast.
"""

# In the order in which `rag --help` lists the commands.
# isort: off
from rag_pipeline.cli import sync_commands as syncing
from rag_pipeline.cli import search_command as queries
from rag_pipeline.cli import ask_command as answers
from rag_pipeline.cli import eval_commands as evaluation
from rag_pipeline.cli import file_commands as files
from rag_pipeline.cli import source_commands as sources
from rag_pipeline.cli import relational_commands as relational
from rag_pipeline.cli import space_commands as spaces
from rag_pipeline.cli import serve_commands as serving
from rag_pipeline.cli import store_commands as store

# isort: on
from rag_pipeline.cli.application import app, main

__all__ = [
    "answers",
    "app",
    "evaluation",
    "files",
    "main",
    "queries",
    "relational",
    "serving",
    "sources",
    "spaces",
    "store",
    "syncing",
]
