"""The query layer: legs, fusion, and where each score came from."""

from rag_pipeline.search.fusion import ScoreDetail
from rag_pipeline.search.searcher import Searcher, SearchResponse, SearchResult

__all__ = ["ScoreDetail", "SearchResponse", "SearchResult", "Searcher"]
