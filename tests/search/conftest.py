"""A store with a few documents, landed as a sync lands them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd

from rag_pipeline.analysis import name_lexemes, to_search_vectors
from rag_pipeline.frames import Chunks, check
from rag_pipeline.store.database import Database
from rag_pipeline.store.embeddings import EmbeddingSpace, ensure_space
from rag_pipeline.store.landing import Landing, land
from rag_pipeline.store.source_tables import SourceFile, apply_changes, name_sources
from rag_pipeline.store.statistics import refresh_statistics

DIMENSIONS = 4


def source_hash_of(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def land_document(
    database: Database,
    name: str,
    texts: Sequence[str],
    *,
    trails: Sequence[str] | None = None,
    language: str = "en",
    tags: Sequence[str] = (),
    readers: Sequence[str] = ("public",),
    metadata: Sequence[dict[str, Any]] | None = None,
    vectors: Any = None,
    parents: Sequence[int] | None = None,
    sections: Sequence[str] = (),
    ingested: datetime | None = None,
    kinds: Sequence[str] | None = None,
) -> str:
    """Land texts as the chunks of a document, one a page; return its hash."""
    source_hash = source_hash_of(name)
    trails = trails or [""] * len(texts)
    indexed = [f"{trail}\n{text}" for trail, text in zip(trails, texts, strict=True)]
    search_vectors, counts = to_search_vectors(indexed, language)
    frame = _frame(texts, trails, metadata)
    if kinds is not None:
        frame["kind"] = list(kinds)
    if parents is not None:
        frame["parent_index"] = pd.array(list(parents), dtype="Int64")
    if vectors is None:
        vectors = np.full((len(texts), DIMENSIONS), 0.5)
    with database.connection() as connection:
        space = space_of(database)
        file = SourceFile(
            f"/m/{name}", "/m", source_hash, 1, 1, tags=list(tags), readers=list(readers)
        )
        apply_changes(connection, [file], [])
        name_sources(connection, name_lexemes)
        landing = Landing(
            source_hash=source_hash,
            title=name,
            page_count=len(texts),
            language=language,
            warnings=[],
            fingerprints={},
            chunks=check(frame, Chunks),
            search_vectors=search_vectors,
            lexeme_counts=counts,
            embeddings=np.asarray(vectors, dtype=np.float32),
            sections=_frame(sections, [""] * len(sections), None) if sections else None,
        )
        assert land(connection, space.space_id, landing)
        if ingested is not None:
            connection.execute(
                "UPDATE document SET created_at = %s WHERE source_hash = %s",
                (ingested, source_hash),
            )
    return source_hash


def space_of(database: Database) -> EmbeddingSpace:
    with database.connection() as connection:
        return ensure_space(connection, "test", "tiny", DIMENSIONS, "1")


def finish(database: Database) -> None:
    with database.connection() as connection:
        refresh_statistics(connection)


def _frame(
    texts: Sequence[str], trails: Sequence[str], metadata: Sequence[dict[str, Any]] | None
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "chunk_index": range(len(texts)),
            "parent_index": None,
            "kind": "text",
            "breadcrumb_trail": list(trails),
            "content": list(texts),
            "context": None,
            "token_count": 1,
            "page_start": range(1, len(texts) + 1),
            "page_end": range(1, len(texts) + 1),
            "regions": [[] for _ in texts],
            "content_hash": "0" * 64,
            "metadata": list(metadata) if metadata else [{} for _ in texts],
        }
    )
