"""Calling services over a network: their pace, repeats under a deadline, what HTTP errors say."""

from rag_pipeline.remote.http_errors import BAD_KEY, NO_QUOTA, retry_after
from rag_pipeline.remote.limiter import Bucket, Limiter, Stopped, Window
from rag_pipeline.remote.patience import Patience

__all__ = [
    "BAD_KEY",
    "NO_QUOTA",
    "Bucket",
    "Limiter",
    "Patience",
    "Stopped",
    "Window",
    "retry_after",
]
