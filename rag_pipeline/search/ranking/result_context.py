"""Adds the text around a result: the section of its chunk, or the neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.search.search_results import SearchResult
from rag_pipeline.settings import ResultExpansion
from rag_pipeline.store.named_queries import queries, records

NEIGHBOURS = 1
"""Chunks before and after."""


@dataclass(frozen=True)
class ContextText:
    """A text around chunks: a row of `found_sections` and `found_neighbours`."""

    source_hash: str
    place: int
    """Index of the section, or of the chunk whose neighbours these are."""
    content: str


def expand(
    connection: Connection[TupleRow],
    results: Sequence[SearchResult],
    how: ResultExpansion,
) -> list[SearchResult]:
    """Return the results with `context`, which is None if a chunk has no section."""
    if how == "none" or not results:
        return list(results)
    keys: list[tuple[str, int | None]]
    if how == "parent":
        keys = [(one.source_hash, one.parent_index) for one in results]
        parents = [key for key in dict.fromkeys(keys) if key[1] is not None]
        rows = records(
            connection,
            ContextText,
            queries.found_sections,
            source_hashes=[source_hash for source_hash, _ in parents],
            section_indexes=[index for _, index in parents],
        )
    else:
        keys = [(one.source_hash, one.chunk_index) for one in results]
        rows = records(
            connection,
            ContextText,
            queries.found_neighbours,
            source_hashes=[source_hash for source_hash, _ in keys],
            chunk_indexes=[index for _, index in keys],
            distance=NEIGHBOURS,
        )
    texts: dict[tuple[str, int | None], str] = {
        (row.source_hash, row.place): row.content for row in rows
    }
    return [replace(one, context=texts.get(key)) for one, key in zip(results, keys, strict=True)]
