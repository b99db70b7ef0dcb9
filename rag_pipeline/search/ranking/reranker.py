"""Calls a reranker over HTTP, in the `/rerank` format that Cohere and Voyage share.

The request is `{"model", "query", "documents"}`. Cohere replies with `results`, Voyage with `data`;
each entry has `index` and `relevance_score`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from rag_pipeline.search.search_results import SearchResult
from rag_pipeline.settings import RerankerSettings


def rerank(
    query: str, results: Sequence[SearchResult], settings: RerankerSettings
) -> tuple[list[SearchResult], str | None]:
    """Order the results by the service's scores; return them with a note if it failed.

    A service that fails, is late or replies with nonsense never fails the search: the results keep
    their order. Those beyond `settings.candidates` follow in their order.
    """
    if settings.url is None or not results:
        return list(results), None
    shown, rest = list(results[: settings.candidates]), list(results[settings.candidates :])
    try:
        scores = _scores(query, [_document(result) for result in shown], settings)
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        return list(results), f"the reranker failed, results keep their order: {reason[:200]}"
    scored = [replace(one, rerank_score=score) for one, score in zip(shown, scores, strict=True)]
    scored.sort(key=lambda one: -(one.rerank_score or 0.0))
    return scored + rest, None


def _document(result: SearchResult) -> str:
    return f"{result.breadcrumb_trail}\n{result.content}".strip()


def _scores(query: str, documents: list[str], settings: RerankerSettings) -> list[float]:
    import requests

    headers = {}
    if settings.api_key is not None:
        headers["Authorization"] = f"Bearer {settings.api_key.get_secret_value()}"
    reply = requests.post(
        str(settings.url),
        json={"model": settings.model, "query": query, "documents": documents},
        headers=headers,
        timeout=settings.timeout_seconds,
        allow_redirects=False,
    )
    if reply.status_code != requests.codes.ok:
        raise ValueError(f"HTTP {reply.status_code}")
    body = reply.json()
    entries = body["results"] if "results" in body else body["data"]
    scores = {int(entry["index"]): float(entry["relevance_score"]) for entry in entries}
    if set(scores) != set(range(len(documents))):
        raise ValueError(f"{len(scores)} scores for {len(documents)} documents")
    if not all(math.isfinite(score) for score in scores.values()):
        raise ValueError("a score is not a number")
    return [scores[place] for place in range(len(documents))]
