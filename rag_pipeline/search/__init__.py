"""The query layer: legs, fusion, and where each score came from."""

from rag_pipeline.search.corrections import Correction
from rag_pipeline.search.filters import Filters, MetadataFilter
from rag_pipeline.search.fusion import ScoreDetail
from rag_pipeline.search.results import SearchResponse, SearchResult
from rag_pipeline.search.searcher import Searcher

__all__ = [
    "Correction",
    "Filters",
    "MetadataFilter",
    "ScoreDetail",
    "SearchResponse",
    "SearchResult",
    "Searcher",
]
