"""Text to lexemes with positions, for documents and queries alike."""

from rag_pipeline.analysis.analyzer import (
    Lexemes,
    analyze,
    query_weights,
    query_words,
)
from rag_pipeline.analysis.file_names import name_lexemes, name_query_words
from rag_pipeline.analysis.search_vector import (
    SearchVector,
    to_search_vector,
    to_search_vectors,
)

__all__ = [
    "Lexemes",
    "SearchVector",
    "analyze",
    "name_lexemes",
    "name_query_words",
    "query_weights",
    "query_words",
    "to_search_vector",
    "to_search_vectors",
]
