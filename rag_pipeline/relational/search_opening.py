"""The searcher of a project: one that knows its databases, where it has any."""

from __future__ import annotations

from rag_pipeline.embedding import Embedder
from rag_pipeline.search import Searcher
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database


def create_searcher(
    database: Database,
    settings: Settings,
    *,
    space: str | None = None,
    embedder: Embedder | None = None,
) -> Searcher:
    """Return a `RowSearcher` where the settings have relational sources, else a `Searcher`."""
    if not settings.relational:
        return Searcher(database, settings, space=space, embedder=embedder)
    # Here, since SQLAlchemy need not be loaded without.
    from rag_pipeline.relational.row_search import RowSearcher

    return RowSearcher(database, settings, space=space, embedder=embedder)
