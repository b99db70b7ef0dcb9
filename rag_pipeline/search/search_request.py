"""What a search is asked for: one object, made at the edge and handed through unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from rag_pipeline.errors import RagError
from rag_pipeline.search.filters import Filters
from rag_pipeline.settings import SearchSettings

Selection = Literal["top_k", "mmr"]
Expansion = Literal["none", "parent", "neighbours"]


@dataclass(frozen=True)
class SearchRequest:
    """A query and its options; an option that is None takes its value from the settings.

    `weights` are those of the legs `text` and `vector`; a leg with weight 0 does not run.
    """

    query: str
    limit: int | None = None
    weights: Mapping[str, float] | None = None
    filters: Filters = field(default_factory=Filters)
    relevance_threshold: float | None = None
    selection: Selection | None = None
    mmr_lambda: float | None = None
    duplicate_similarity: float | None = None
    expand: Expansion | None = None

    @classmethod
    def of(cls, query: str | SearchRequest, **options: Any) -> SearchRequest:
        """Return a request for a query, or one with some options replaced.

        Options that are None stay as they are. Raises `RagError` for an unknown option.
        """
        request = query if isinstance(query, SearchRequest) else cls(query)
        unknown = options.keys() - {one.name for one in fields(cls)}
        if unknown:
            raise RagError(f"unknown search options: {', '.join(sorted(unknown))}")
        return replace(request, **{name: one for name, one in options.items() if one is not None})

    def settings(self, defaults: SearchSettings) -> SearchSettings:
        """Return the settings of this search: the project's with the request's options."""
        names = (
            "limit",
            "relevance_threshold",
            "selection",
            "mmr_lambda",
            "duplicate_similarity",
            "expand",
        )
        given = {name: getattr(self, name) for name in names}
        return defaults.model_copy(update={k: v for k, v in given.items() if v is not None})
