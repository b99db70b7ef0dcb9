"""Search in which SQL takes part: it narrows to the rows that a question names, and enriches them.

Names and categories in a question ("VIP", "Seoul") are looked up in the data. Chunks of the rows
that they mean are ranked first by words and meaning, among themselves; then come those of the whole
store. What was found of a row gets the row's columns as they are in the database now.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import select, tuple_

from rag_pipeline.embedding import Embedder
from rag_pipeline.errors import RagError
from rag_pipeline.relational.databases import Databases, SourceDatabase
from rag_pipeline.relational.narrowing import NamedRows
from rag_pipeline.relational.rows.row_views import key_text, shown
from rag_pipeline.relational.schema.connecting import reading
from rag_pipeline.relational.schema.table_schema import TableInfo, is_readable
from rag_pipeline.search import (
    MetadataFilter,
    Searcher,
    SearchRequest,
    SearchResponse,
    SearchResult,
)
from rag_pipeline.search.asked_query import AskedQuery
from rag_pipeline.search.search_run import SearchRun
from rag_pipeline.settings import Settings
from rag_pipeline.store.database import Database

ROW = "row"
"""In a result's metadata: the row's columns as they are now; None where it is gone."""


class RowSearcher(Searcher):
    """A `Searcher` that knows the databases of the settings; without any it is a plain one."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        *,
        space: str | None = None,
        embedder: Embedder | None = None,
        databases: Databases | None = None,
    ) -> None:
        super().__init__(database, settings, space=space, embedder=embedder)
        every = databases or Databases(settings.relational)
        self.databases = every.readable_from(self._database)

    def reading_from(self, database: Database) -> RowSearcher:
        """Return a searcher of the same models over a database as others see it."""
        other = super().reading_from(database)
        assert isinstance(other, RowSearcher)
        other.databases = self.databases.readable_from(database.for_readers())
        return other

    def _answer(self, request: SearchRequest, asked: AskedQuery) -> SearchResponse:
        """Search like `Searcher`, but put the rows that the question names first."""
        if not self.databases:
            return super()._answer(request, asked)
        start = time.perf_counter()
        notes = list(asked.notes)
        databases = self.databases.reachable(notes)
        named = [(one, rows) for one in databases for rows in _named(one, asked.text, notes)]
        seconds = {"rows": time.perf_counter() - start}
        scopes = [_chunks_of(database, rows) for database, rows in named]
        if len(named) == 1 and len(named[0][1].keys) == 1:
            scopes.append(_chunks_of(*named[0], prefix="parent."))
        everywhere = self._run(request, asked)
        runs: list[SearchRun] = []
        found = 0
        for conditions in scopes:
            if found < everywhere.settings.limit:
                runs.append(self._run(_within(request, conditions), asked))
                found += len(runs[-1].results)
        runs.append(everywhere)
        results = self._enriched(databases, self._chosen(runs, notes), notes)
        if not results:
            notes.append(self._why_nothing(everywhere))
        feedback = dict.fromkeys(word for run in runs for word in run.feedback.words)
        return SearchResponse(
            request.query,
            results,
            {**everywhere.seconds, **seconds},
            notes,
            everywhere.text.corrections,
            list(feedback),
            1.0 if any(run.results for run in runs[:-1]) else everywhere.certainty,
        )

    def _enriched(
        self, databases: Sequence[SourceDatabase], results: list[SearchResult], notes: list[str]
    ) -> list[SearchResult]:
        """Give results of rows the columns of their root row as they are now."""
        owners = {name: one for one in databases for name in one.names}
        places = [_root_of(result, owners) for result in results]
        wanted: dict[tuple[str, str], dict[str, None]] = {}
        for source, table, key in filter(None, places):
            wanted.setdefault((source, table), {})[key] = None
        current: dict[tuple[str, str, str], dict[str, str] | None] = {}
        for (source, table), keys in wanted.items():
            try:
                rows = _rows(owners[source], owners[source].schema.tables[table], list(keys))
            except RagError as error:
                notes.append(f"relational source {source}: {error}")
            else:
                current |= {(source, table, key): rows.get(key) for key in keys}
        enriched = []
        for result, place in zip(results, places, strict=True):
            if place in current:
                row = current[place]
                if row is None:
                    notes.append(f"{result.title} is gone from the database since the last sync")
                enriched.append(replace(result, metadata={**result.metadata, ROW: row}))
            else:
                enriched.append(result)
        return enriched


def _chunks_of(
    database: SourceDatabase, rows: NamedRows, prefix: str = ""
) -> tuple[MetadataFilter, ...]:
    """Return the conditions on chunks of some rows; the prefix `parent.` means their children's."""
    conditions = [
        MetadataFilter("relational", tuple(database.roots[rows.table])),
        MetadataFilter(f"{prefix}table", (rows.table,)),
    ]
    if rows.keys:
        conditions.append(MetadataFilter(f"{prefix}key", rows.keys))
    conditions += [MetadataFilter(f"values.{name}", v) for name, v in rows.values.items()]
    return tuple(conditions)


def _within(request: SearchRequest, conditions: tuple[MetadataFilter, ...]) -> SearchRequest:
    filters = request.filters
    return replace(request, filters=replace(filters, metadata=(*filters.metadata, *conditions)))


def _named(database: SourceDatabase, query: str, notes: list[str]) -> list[NamedRows]:
    try:
        return database.named_rows(query)
    except RagError as error:
        notes.append(f"relational source {database.names[0]}: {error}")
        return []


def _root_of(
    result: SearchResult, owners: dict[str, SourceDatabase]
) -> tuple[str, str, str] | None:
    """Return source, root table and key of a result of a row."""
    metadata = result.metadata
    source = metadata.get("relational")
    if not isinstance(source, str) or source not in owners:
        return None
    place = metadata.get("parent") or metadata
    table, key = str(place.get("table")), str(place.get("key"))
    return (source, table, key) if table in owners[source].schema.tables else None


def _rows(
    database: SourceDatabase, table: TableInfo, keys: Sequence[str]
) -> dict[str, dict[str, str]]:
    """Read rows by their keys, in one statement. Raises `SourceError`."""
    columns = [column for column in table.table.columns if is_readable(column)]
    own = [table.table.c[name] for name in table.key]
    typed = [one for key in keys if (one := _typed(table, key)) is not None]
    inside = tuple_(*own).in_(typed) if len(own) > 1 else own[0].in_([one[0] for one in typed])
    names = [column.name for column in columns]
    with reading(database.engine, database.timeout_seconds) as connection:
        found = connection.execute(select(*own, *columns).where(inside)).all()
    return {
        key_text(row[: len(own)]): {
            name: shown(value) for name, value in zip(names, row[len(own) :], strict=True)
        }
        for row in found
    }


def _typed(table: TableInfo, text: str) -> tuple[Any, ...] | None:
    """Return a key's parts as its columns hold them."""
    parts = text.split("|") if len(table.key) > 1 else [text]
    if len(parts) != len(table.key):
        return None
    readers: dict[type, Callable[[str], Any]] = {
        int: int,
        datetime.date: datetime.date.fromisoformat,
        datetime.datetime: datetime.datetime.fromisoformat,
    }
    try:
        kinds = [table.column(name).type.python_type for name in table.key]
        return tuple(readers.get(kind, str)(part) for kind, part in zip(kinds, parts, strict=True))
    except (ValueError, NotImplementedError):
        return None
