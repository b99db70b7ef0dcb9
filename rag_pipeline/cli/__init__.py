"""The command `rag`: sync, search, ask, inspect, and looking after the store.

Heavy libraries are imported inside the commands that use them, so that `rag search` starts fast.
"""

# In the order in which `rag --help` lists the commands.
# isort: off
from rag_pipeline.cli import syncing
from rag_pipeline.cli import queries
from rag_pipeline.cli import answers
from rag_pipeline.cli import evaluation
from rag_pipeline.cli import files
from rag_pipeline.cli import sources
from rag_pipeline.cli import relational
from rag_pipeline.cli import spaces
from rag_pipeline.cli import serving
from rag_pipeline.cli import store

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
