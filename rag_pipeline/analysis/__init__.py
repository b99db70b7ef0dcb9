"""Text to lexemes with positions, for documents and queries alike."""

from rag_pipeline.analysis.analyzer import (
    ANALYSIS_VERSION,
    Lexemes,
    analyze,
    count_positions,
    query_lexemes,
    query_weights,
)
from rag_pipeline.analysis.file_names import name_lexemes, name_query_words
from rag_pipeline.analysis.search_vector import (
    SearchVector,
    to_search_vector,
    to_search_vectors,
)

__all__ = [
    "ANALYSIS_VERSION",
    "Lexemes",
    "SearchVector",
    "analyze",
    "count_positions",
    "name_lexemes",
    "name_query_words",
    "query_lexemes",
    "query_weights",
    "to_search_vector",
    "to_search_vectors",
]
