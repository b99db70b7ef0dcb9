"""Rows that are new or changed into the store: made into chunks, embedded, written together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from psycopg.types.json import Jsonb

from rag_pipeline.analysis import to_search_vectors
from rag_pipeline.errors import EmbeddingError
from rag_pipeline.relational.rows.addresses import hash_of, root_of
from rag_pipeline.relational.rows.duplicates import Duplicates
from rag_pipeline.relational.rows.row_chunks import EntityChunks
from rag_pipeline.relational.rows.row_reading import Record
from rag_pipeline.relational.rows.row_report import RelationalReport
from rag_pipeline.relational.rows.row_signatures import Etag
from rag_pipeline.settings import RelationalSettings
from rag_pipeline.store.embeddings import EmbeddingSpace
from rag_pipeline.store.landing import Landing, land_all
from rag_pipeline.store.named_queries import queries
from rag_pipeline.store.source_tables import SourceFile
from rag_pipeline.sync.documents.budget import Ledger
from rag_pipeline.sync.documents.embed import ChunkTexts, VectorSource
from rag_pipeline.sync.sync_context import SyncContext

ROWS_TOGETHER = 50
"""Root rows written in one transaction, and embedded together."""


@dataclass(frozen=True)
class ChangedRow:
    """A root row that is to be written."""

    record: Record
    key: tuple[Any, ...]
    uri: str
    etag: Etag

    @property
    def source_hash(self) -> str:
        """The document's key in the store."""
        return hash_of(self.uri)


@dataclass(frozen=True)
class Copy:
    """A row that lacks chunks which other rows have."""

    key: tuple[Any, ...]
    originals: tuple[str, ...]
    """The other rows, by the beginnings of their hashes."""
    left_out: int = 0
    """Chunks that this sync has left out."""


class RowLanding:
    """Writes rows of one source."""

    def __init__(
        self,
        context: SyncContext,
        settings: RelationalSettings,
        space: EmbeddingSpace,
        ledger: Ledger,
        make: Callable[[Sequence[Record]], list[EntityChunks]],
    ) -> None:
        self._context = context
        self._settings = settings
        self._vectors = VectorSource(context.database, context.embedder, space, ledger)
        self._ledger = ledger
        self._space = space
        self._make = make
        self.duplicates = Duplicates(context.database, settings, space.space_id)
        self.copies: dict[str, Copy] = {}
        """Rows that were written without some of their chunks, by their addresses."""

    def land(self, rows: Sequence[ChangedRow], report: RelationalReport) -> None:
        """Write rows, `ROWS_TOGETHER` a transaction; those that cannot be embedded stay as stored.

        Raises `ProviderError`, `BudgetError` and `StoreError`; what has landed stays.
        """
        for begin in range(0, len(rows), ROWS_TOGETHER):
            self._context.database.check_sync_lock()
            self._land(rows[begin : begin + ROWS_TOGETHER], report)
            report.embedded = self._vectors.embedded

    def _land(self, rows: Sequence[ChangedRow], report: RelationalReport) -> None:
        made = self._make([row.record for row in rows])
        before = self._ledger.total.tokens
        vectors = self._vectors.vectors(
            [self._texts(row, entity) for row, entity in zip(rows, made, strict=True)]
        )
        report.tokens += self._ledger.total.tokens - before
        files, landings = [], []
        for row, entity, matrix in zip(rows, made, vectors, strict=True):
            if isinstance(matrix, EmbeddingError):
                report.failures.append(f"{row.uri}: {matrix}")
                continue
            unique = self.duplicates.take(row.source_hash, entity, matrix)
            copy = Copy(row.key, unique.originals, len(entity.texts) - len(unique.kept))
            earlier = self.copies.pop(row.uri, None)
            report.duplicates += copy.left_out - (earlier.left_out if earlier else 0)
            if copy.originals:
                self.copies[row.uri] = copy
            etag = replace(row.etag, originals=unique.originals)
            files.append(self._file(row, entity, str(etag)))
            landings.append(self._landing(row, entity, unique.kept, matrix))
        with self._context.database.connection() as connection:
            # Not by `apply_changes`, which looks for orphans in the whole store each time.
            hashes = [file.source_hash for file in files]
            queries.insert_documents(connection, source_hashes=hashes)
            queries.upsert_sources(connection, rows=Jsonb([asdict(file) for file in files]))
            land_all(connection, self._space.space_id, landings)
        report.chunks += sum(len(landing.chunks) for landing in landings)

    def _texts(self, row: ChangedRow, entity: EntityChunks) -> ChunkTexts:
        embedder, root = self._context.embedder, root_of(self._settings)
        return ChunkTexts.of(embedder, row.source_hash, root, entity.chunks, entity.texts)

    def _file(self, row: ChangedRow, entity: EntityChunks, etag: str) -> SourceFile:
        return SourceFile(
            row.uri,
            root_of(self._settings),
            row.source_hash,
            sum(len(text.encode()) for text in entity.texts),
            0,
            tuple(self._settings.tags),
            tuple(self._settings.readers),
            etag,
        )

    def _landing(
        self,
        row: ChangedRow,
        entity: EntityChunks,
        kept: list[int],
        matrix: np.ndarray[Any, np.dtype[np.float32]],
    ) -> Landing:
        language = self._settings.language
        literals, counts = to_search_vectors([entity.texts[i] for i in kept], language)
        return Landing(
            source_hash=row.source_hash,
            title=entity.title,
            page_count=1,
            language=language,
            warnings=[],
            fingerprints={"relational": row.etag.made_by},
            chunks=entity.chunks.iloc[kept],
            sections=entity.sections,
            search_vectors=literals,
            lexeme_counts=counts,
            embeddings=matrix[kept],
            is_contextual=self._context.embedder.contextual,
        )
