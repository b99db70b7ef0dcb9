"""Texts to vectors.

`create_embedder(settings, cache_dir)` gives an `Embedder`. Importing this package is cheap: numpy
and the model's libraries are loaded by the first call that needs them.
"""

from rag_pipeline.embedding.embedder import (
    ContextualEmbedder,
    Embedder,
    OnBatch,
    OnGroup,
)
from rag_pipeline.embedding.embedder_factory import create_embedder

__all__ = [
    "ContextualEmbedder",
    "Embedder",
    "OnBatch",
    "OnGroup",
    "create_embedder",
]
