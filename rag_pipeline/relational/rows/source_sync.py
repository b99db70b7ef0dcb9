"""The sync of one relational source: reads its rows, and lands those that are new or changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Engine

from rag_pipeline.code_versions import ANALYSIS_VERSION
from rag_pipeline.errors import (
    SettingsError,
)
from rag_pipeline.relational.rows.addresses import (
    SHORT_HASH,
    hash_of,
    root_of,
    uri_of,
)
from rag_pipeline.relational.rows.row_chunks import Chunker
from rag_pipeline.relational.rows.row_landing import ChangedRow, Copy, RowLanding
from rag_pipeline.relational.rows.row_reading import Batch, read_batch, read_keys
from rag_pipeline.relational.rows.row_report import RelationalReport
from rag_pipeline.relational.rows.row_signatures import (
    Etag,
    content_hash,
    newest_times,
    times_hash,
    times_tree,
)
from rag_pipeline.relational.rows.row_text import Renderer
from rag_pipeline.relational.rows.row_views import Viewer
from rag_pipeline.relational.schema.connecting import open_engine, reading
from rag_pipeline.relational.schema.lexicon import Lexicon
from rag_pipeline.relational.schema.relation_tree import Node, build_tree
from rag_pipeline.relational.schema.table_schema import read_schema
from rag_pipeline.settings import RelationalSettings
from rag_pipeline.store.named_queries import queries
from rag_pipeline.store.source_tables import apply_changes
from rag_pipeline.sync import progress
from rag_pipeline.sync.documents.budget import Ledger
from rag_pipeline.sync.sync_context import SyncContext

RELATIONAL_VERSION = "5"
"""Raised with every change that may change chunks: stored rows are then stale."""
PROGRESS_STAGE = "relational_rows"
"""What progress calls root rows that are done."""
SHAPING = {
    "root",
    "depth",
    "strategy",
    "token_budget",
    "children_per_chunk",
    "language",
    "exclude",
    "duplicates",
    "duplicate_similarity",
}
"""Settings that a row's chunks depend on."""


def _made_by(settings: RelationalSettings, renderer: Renderer) -> str:
    """Hash what a row's chunks depend on besides the row."""
    shaping = settings.model_dump(mode="json", include=SHAPING)
    text = json.dumps([RELATIONAL_VERSION, ANALYSIS_VERSION, shaping, renderer.source])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass
class _Seen:
    """What a pass over the root table has learnt."""

    uris: set[str] = field(default_factory=set)
    moved: set[str] = field(default_factory=set)
    """Rows that changed or went, by the beginnings of their hashes: originals of none any more."""
    copies: dict[str, Copy] = field(default_factory=dict)
    """Unchanged rows that lack chunks, by their addresses."""


class SourceSync:
    """One sync of one source."""

    def __init__(
        self,
        context: SyncContext,
        settings: RelationalSettings,
        ledger: Ledger,
        report: RelationalReport,
        force: bool,
    ) -> None:
        self._context = context
        self._settings = settings
        self._ledger = ledger
        self._report = report
        self._force = force
        self._seen = _Seen()

    def run(self) -> None:
        """Bring the store to what the source holds. Raises like `sync_relational`."""
        engine = open_engine(self._settings)
        try:
            self._run(engine)
        finally:
            engine.dispose()

    def _run(self, engine: Engine) -> None:
        settings, context = self._settings, self._context
        schema = read_schema(engine, Lexicon(settings.words), settings.db_schema)
        self._tree = build_tree(schema, settings)
        renderer = Renderer(settings, context.settings.project_dir)
        self._made = _made_by(settings, renderer)
        project = str(context.settings.project_dir)
        with context.database.connection() as connection:
            owner = queries.own_relational_source(connection, name=settings.name, project=project)
            if owner != project:
                raise SettingsError(
                    f"the relational source {settings.name} belongs to the project {owner}",
                    hint="give it another name: both projects share this store",
                )
            space = context.space(connection)
            self._stored = {
                uri: Etag.parse(etag if intact else None)
                for uri, etag, intact in queries.relational_rows(
                    connection, root=root_of(settings), space_id=space.space_id
                )
            }
            queries.align_relational_sources(
                connection,
                root=root_of(settings),
                tags=list(settings.tags),
                readers=list(settings.readers),
            )
        viewer = Viewer(schema, settings.language)
        chunker = Chunker(settings, schema, renderer, context.embedder.count_tokens)
        landing = RowLanding(
            context,
            settings,
            space,
            self._ledger,
            lambda records: chunker.chunks_of([viewer.view(record) for record in records]),
        )
        times = times_tree(self._tree, schema) if settings.trust_updated_at else None
        if times is None:
            for batch in self._batches(engine, self._tree):
                landing.land(self._changed(batch, {}), self._report)
        else:
            with reading(engine, settings.timeout_seconds) as source:
                newest = newest_times(source, self._tree)
            for batch in self._batches(engine, times):
                self._land_by_times(engine, landing, batch, newest)
        self._delete(landing)
        self._land_copies(engine, landing)

    def _batches(self, engine: Engine, tree: Node) -> Iterator[Batch]:
        """Read the root's rows; each batch in a transaction of its own."""
        after = None
        while True:
            with reading(engine, self._settings.timeout_seconds) as source:
                batch = read_batch(source, tree, self._settings.batch_size, after)
            if batch.records:
                self._report.rows += len(batch.records)
                yield batch
                progress.report(PROGRESS_STAGE, len(batch.records))
            if len(batch.records) < self._settings.batch_size:
                return
            after = batch.keys[-1]

    def _land_by_times(
        self, engine: Engine, landing: RowLanding, batch: Batch, newest: dict[str, str]
    ) -> None:
        """Read whole what has other keys or times than stored, and write what has changed."""
        wanted, times = [], {}
        for record, key in zip(batch.records, batch.keys, strict=True):
            uri = uri_of(self._settings, record)
            stored = self._stored.get(uri)
            now = times_hash(record, newest)
            if now and stored is not None and (stored.made_by, stored.times) == (self._made, now):
                self._note_current(uri, key, stored)
            else:
                wanted.append(key)
                times[uri] = now
        if wanted:
            with reading(engine, self._settings.timeout_seconds) as source:
                rows = read_keys(source, self._tree, wanted)
            landing.land(self._changed(rows, times), self._report)

    def _changed(self, batch: Batch, times: dict[str, str]) -> list[ChangedRow]:
        """Return those rows that are new or other than stored; count them all."""
        found, touched = [], {}
        for record, key in zip(batch.records, batch.keys, strict=True):
            uri = uri_of(self._settings, record)
            etag = Etag(self._made, content_hash(record), times.get(uri, ""))
            stored = self._stored.get(uri)
            if stored is not None and stored.parts == etag.parts:
                if stored.times != etag.times:
                    touched[uri] = str(Etag(*etag.parts, etag.times, stored.originals))
                self._note_current(uri, key, stored)
                continue
            self._seen.uris.add(uri)
            self._report.changed += stored is not None
            self._report.new += stored is None
            if stored is not None:
                self._seen.moved.add(hash_of(uri)[:SHORT_HASH])
            found.append(ChangedRow(record, key, uri, etag))
        if touched:
            with self._context.database.connection() as connection:
                queries.set_relational_etags(
                    connection, uris=list(touched), etags=list(touched.values())
                )
        return found

    def _note_current(self, uri: str, key: tuple[Any, ...], stored: Etag) -> None:
        self._seen.uris.add(uri)
        self._report.unchanged += 1
        if stored.originals:
            self._seen.copies[uri] = Copy(key, stored.originals)

    def _delete(self, landing: RowLanding) -> None:
        """Delete rows that are gone, or keep them all where everything is."""
        gone = [uri for uri in self._stored if uri not in self._seen.uris]
        if gone and not self._report.rows and not self._force:
            self._report.kept = len(gone)
            self._report.notes.append(
                f"the table {self._settings.root} is empty: the {len(gone)} rows stored of it "
                "stay; `rag relational sync --force` deletes them"
            )
            return
        self._report.deleted = len(gone)
        if gone:
            hashes = [hash_of(uri) for uri in gone]
            self._seen.moved |= {one[:SHORT_HASH] for one in hashes}
            landing.duplicates.forget(hashes)
            with self._context.database.connection() as connection:
                apply_changes(connection, [], gone)

    def _land_copies(self, engine: Engine, landing: RowLanding) -> None:
        """Write rows again whose chunks were left out for those of a row that moved.

        Rows of this sync among them: their original may have moved after they were written.
        """
        unchanged, written = self._orphaned(self._seen.copies), self._orphaned(landing.copies)
        self._report.unchanged -= len(unchanged)
        self._report.changed += len(unchanged)
        orphaned = unchanged + written
        size = self._settings.batch_size
        for begin in range(0, len(orphaned), size):
            with reading(engine, self._settings.timeout_seconds) as source:
                batch = read_keys(source, self._tree, orphaned[begin : begin + size])
            rows = []
            for record, key in zip(batch.records, batch.keys, strict=True):
                uri = uri_of(self._settings, record)
                times = self._stored[uri].times if uri in self._seen.copies else ""
                etag = Etag(self._made, content_hash(record), times)
                rows.append(ChangedRow(record, key, uri, etag))
            landing.land(rows, self._report)

    def _orphaned(self, copies: Mapping[str, Copy]) -> list[tuple[Any, ...]]:
        moved = self._seen.moved
        return [one.key for one in copies.values() if not moved.isdisjoint(one.originals)]
