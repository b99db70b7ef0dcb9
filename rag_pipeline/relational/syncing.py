"""Rows to the store: what changed in the database is made and embedded anew, nothing else.

A root row is a document under the hash of its name (`relational:SOURCE/TABLE/KEY`), so that its
chunks are replaced in place. Whether it changed is told by a hash of the row and all below it,
kept as the source's etag; unchanged texts within a changed row come from the cache of vectors.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from psycopg.types.json import Jsonb

from rag_pipeline.analysis import ANALYSIS_VERSION, to_search_vectors
from rag_pipeline.embedding import EMBEDDING_VERSION, Embedder
from rag_pipeline.relational.chunks import Chunker, EntityChunks
from rag_pipeline.relational.connecting import open_engine, reading
from rag_pipeline.relational.lexicon import Lexicon
from rag_pipeline.relational.reading import Record, read_batches
from rag_pipeline.relational.rendering import Renderer
from rag_pipeline.relational.schema import read_schema
from rag_pipeline.relational.tree import build_tree
from rag_pipeline.relational.views import Viewer, key_text
from rag_pipeline.settings import RelationalSettings
from rag_pipeline.store.database import Database
from rag_pipeline.store.documents import Landing, land
from rag_pipeline.store.embeddings import (
    EmbeddingSpace,
    cache_vectors,
    cached_vectors,
    ensure_index,
    ensure_space,
)
from rag_pipeline.store.queries import queries
from rag_pipeline.store.sources import SourceFile, apply_changes
from rag_pipeline.store.statistics import refresh_statistics

RELATIONAL_VERSION = "1"
"""Raised with every change that may change chunks: stored rows are then stale."""
SHAPING = {
    "root",
    "depth",
    "strategy",
    "token_budget",
    "children_per_chunk",
    "language",
    "exclude",
}
"""Settings that a row's chunks depend on."""
LANDING_BATCH = 50
"""Root rows written in one transaction, and embedded together."""


@dataclass
class RelationalReport:
    """What a sync of one source did."""

    source: str
    rows: int = 0
    """Root rows read."""
    unchanged: int = 0
    new: int = 0
    changed: int = 0
    deleted: int = 0
    chunks: int = 0
    """Written, embedded or not."""
    embedded: int = 0
    """Texts that no vector was cached for."""


def sync_relational(
    database: Database,
    embedder: Embedder,
    settings: RelationalSettings,
    project_dir: Path,
    on_progress: Callable[[RelationalReport], None] | None = None,
) -> RelationalReport:
    """Bring the store to what one relational source holds; reads it batch by batch.

    The caller holds `Database.sync_lock`. Rows that are gone are deleted only after everything was
    read without an error. Raises `SourceError` (the source cannot be read), `SettingsError`,
    `StoreError`, `EmbeddingError`; what has landed until then stays.
    """
    engine = open_engine(settings)
    try:
        schema = read_schema(engine, Lexicon(settings.words), settings.db_schema)
        tree = build_tree(schema, settings)
        renderer = Renderer(settings, project_dir)
        with database.connection() as connection:
            space = ensure_space(
                connection,
                embedder.provider,
                embedder.model,
                embedder.dimensions,
                EMBEDDING_VERSION,
            )
            stored = {
                uri: etag if intact else ""
                for uri, etag, intact in queries.relational_rows(
                    connection, root=root_of(settings), space_id=space.space_id
                )
            }
        landing = _Landing(database, embedder, space, settings, _made_by(settings, renderer))
        viewer = Viewer(schema, settings.language)
        chunker = Chunker(settings, schema, renderer, embedder.count_tokens)
        report = RelationalReport(settings.name)
        seen: set[str] = set()
        with reading(engine, settings.timeout_seconds) as source:
            for batch in read_batches(source, tree, settings.batch_size):
                changed = landing.changed(batch, stored, seen, report)
                for begin in range(0, len(changed), LANDING_BATCH):
                    part = changed[begin : begin + LANDING_BATCH]
                    made = [chunker.chunks(viewer.view(record)) for record, _, _ in part]
                    landing.land(part, made, report)
                if on_progress is not None:
                    on_progress(report)
        gone = [uri for uri in stored if uri not in seen]
        report.deleted = len(gone)
        with database.connection() as connection:
            apply_changes(connection, [], gone)
        with database.connection() as connection:
            refresh_statistics(connection)
            ensure_index(connection, space)
        return report
    finally:
        engine.dispose()


def forget_relational(database: Database, known: Sequence[RelationalSettings]) -> int:
    """Delete what is stored of sources that are no longer in rag.toml; return how many rows."""
    roots = {root_of(settings) for settings in known}
    removed = 0
    with database.connection() as connection:
        for (root,) in list(queries.relational_roots(connection)):
            if root not in roots:
                rows = queries.relational_rows(connection, root=root, space_id=0)
                uris = [uri for uri, _, _ in rows]
                apply_changes(connection, [], uris)
                removed += len(uris)
    return removed


def root_of(settings: RelationalSettings) -> str:
    """Return the name that a relational source has in the table `source`."""
    return f"relational:{settings.name}"


def uri_of(settings: RelationalSettings, record: Record) -> str:
    """Return the address of a root row: `relational:SOURCE/TABLE/KEY`."""
    return f"{root_of(settings)}/{record.table}/{quote(key_text(record.key), safe='|')}"


def _made_by(settings: RelationalSettings, renderer: Renderer) -> str:
    """Hash what a row's chunks depend on besides the row."""
    shaping = settings.model_dump(mode="json", include=SHAPING)
    made_by = [RELATIONAL_VERSION, ANALYSIS_VERSION, shaping, renderer.source]
    return _digest(made_by)


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _content(record: Record) -> Any:
    return [
        record.table,
        record.key,
        record.values,
        {name: _content(row) for name, row in record.references.items()},
        {name: [_content(row) for row in rows] for name, rows in record.children.items()},
    ]


Changed = tuple[Record, str, str]
"""A row, its address, and its etag."""


class _Landing:
    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        space: EmbeddingSpace,
        settings: RelationalSettings,
        made_by: str,
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._space = space
        self._settings = settings
        self._made_by = made_by

    def changed(
        self,
        batch: Sequence[Record],
        stored: dict[str, str],
        seen: set[str],
        report: RelationalReport,
    ) -> list[Changed]:
        """Return those rows of a batch that are new or other than stored; count them all."""
        found = []
        for record in batch:
            uri = uri_of(self._settings, record)
            etag = f"{self._made_by[:16]}:{_digest(_content(record))}"
            seen.add(uri)
            report.rows += 1
            if stored.get(uri) == etag:
                report.unchanged += 1
                continue
            report.changed += uri in stored
            report.new += uri not in stored
            found.append((record, uri, etag))
        return found

    def land(
        self, rows: Sequence[Changed], made: Sequence[EntityChunks], report: RelationalReport
    ) -> None:
        """Embed and write some rows in one transaction."""
        vectors = self._vectors([text for entity in made for text in entity.texts], report)
        language = self._settings.language
        files, landings, begin = [], [], 0
        for (_, uri, etag), entity in zip(rows, made, strict=True):
            source_hash = hashlib.sha256(uri.encode()).hexdigest()
            size = sum(len(text.encode()) for text in entity.texts)
            files.append(
                SourceFile(
                    uri,
                    root_of(self._settings),
                    source_hash,
                    size,
                    0,
                    tuple(self._settings.tags),
                    tuple(self._settings.readers),
                    etag,
                )
            )
            literals, counts = to_search_vectors(entity.texts, language)
            end = begin + len(entity.texts)
            landings.append(
                Landing(
                    source_hash=source_hash,
                    title=entity.title,
                    page_count=1,
                    language=language,
                    warnings=[],
                    fingerprints={"relational": self._made_by[:16]},
                    chunks=entity.chunks,
                    sections=entity.sections,
                    search_vectors=literals,
                    lexeme_counts=counts,
                    embeddings=vectors[begin:end],
                )
            )
            begin = end
        with self._database.connection() as connection:
            # Not by `apply_changes`, which looks for orphans in the whole store each time.
            hashes = [file.source_hash for file in files]
            queries.insert_documents(connection, source_hashes=hashes)
            queries.upsert_sources(connection, rows=Jsonb([asdict(file) for file in files]))
            for landing in landings:
                land(connection, self._space.space_id, landing)
        report.chunks += begin

    def _vectors(self, texts: Sequence[str], report: RelationalReport) -> np.ndarray[Any, Any]:
        """Return a vector a text, from the cache where it was embedded before."""
        if self._embedder.contextual:
            matrix = self._embedder.embed_documents(texts)
            report.embedded += len(texts)
            return np.asarray(matrix, dtype=np.float32)
        keys = [hashlib.sha256(text.encode()).digest() for text in texts]
        with self._database.connection() as connection:
            known = cached_vectors(connection, self._space.space_id, keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            computed = self._embedder.embed_documents(list(missing.values()))
            with self._database.connection() as connection:
                cache_vectors(connection, self._space.space_id, list(missing), computed)
            known.update(zip(missing, computed, strict=True))
            report.embedded += len(missing)
        return np.array([known[key] for key in keys], dtype=np.float32)
