"""The query layer: legs, fusion, and where each score came from."""

from rag_pipeline.search.filters import Filters, MetadataFilter
from rag_pipeline.search.legs.corrections import Correction
from rag_pipeline.search.scores import ScoreDetail
from rag_pipeline.search.search_request import SearchRequest
from rag_pipeline.search.search_results import SearchResponse, SearchResult
from rag_pipeline.search.searcher import Searcher

__all__ = [
    "Correction",
    "Filters",
    "MetadataFilter",
    "ScoreDetail",
    "SearchRequest",
    "SearchResponse",
    "SearchResult",
    "Searcher",
]
