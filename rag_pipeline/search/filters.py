"""Filters on documents, pages and metadata, applied before the best chunks are chosen."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.errors import SettingsError
from rag_pipeline.store.named_queries import queries, records
from rag_pipeline.text import storable

_SINGLE = ("first_page", "last_page", "ingested_from", "ingested_before")
SELECTIVE = 20_000
"""If a filter passes at most this many chunks, they are listed first and both legs look only at
them: an exact scan of 20,000 vectors costs about as much as an index scan that skips most of the
graph, and misses nothing."""

Scalar = str | int | float | bool


@dataclass(frozen=True)
class MetadataFilter:
    """A condition on one key of a chunk's metadata: membership, or an inclusive range.

    `key` may be nested: `machine.year`. A list in the metadata passes if any element does.
    """

    key: str
    values: tuple[Scalar, ...] = ()
    low: Scalar | None = None
    high: Scalar | None = None

    @classmethod
    def parse(cls, text: str) -> MetadataFilter:
        """Read `key=value`, `key=a|b`, `key>=5`, `key<=9` or `key=3..7`.

        Raises `SettingsError` for anything else.
        """
        match = re.fullmatch(r"\s*([^=<>]+?)\s*(>=|<=|=)\s*(.+?)\s*", text)
        if not match:
            raise SettingsError(
                f"{text!r} is not a condition", hint="write key=value, key=a|b, key>=5 or key=3..7"
            )
        key, operator, value = match.groups()
        if operator == ">=":
            return cls(key, low=_scalar(value))
        if operator == "<=":
            return cls(key, high=_scalar(value))
        ends = re.fullmatch(r"(.*\S)\s*\.\.\s*(\S.*)", value)
        if ends:
            return cls(key, low=_scalar(ends[1]), high=_scalar(ends[2]))
        return cls(key, tuple(_scalar(one.strip()) for one in value.split("|")))

    @property
    def predicate(self) -> str:
        """The condition as an SQL/JSON path predicate."""
        path = "$." + ".".join(map(_json, self.key.split(".")))
        tests = []
        if self.values:
            forms = [form for value in self.values for form in _forms(value)]
            tests.append("(" + " || ".join(f"{path} == {form}" for form in forms) + ")")
        if self.low is not None or self.high is not None:
            bounds = [("@ >= ", self.low), ("@ <= ", self.high)]
            inner = " && ".join(
                operator + _json(bound) for operator, bound in bounds if bound is not None
            )
            tests.append(f"exists({path} ? ({inner}))")
        return " && ".join(tests) or f"exists({path})"


@dataclass(frozen=True)
class Filters:
    """All fields must match, each with any of its values.

    `documents` are file names, whole paths, or prefixes of a source hash (8 digits or more). Pages
    are 1-based; a chunk passes if any of its pages does. `ingested_from` is inclusive,
    `ingested_before` exclusive.
    """

    source_types: Sequence[str] = ()
    """File name extensions: pdf, docx."""
    tags: Sequence[str] = ()
    documents: Sequence[str] = ()
    languages: Sequence[str] = ()
    first_page: int | None = None
    last_page: int | None = None
    ingested_from: datetime | None = None
    ingested_before: datetime | None = None
    metadata: Sequence[MetadataFilter] = ()

    @classmethod
    def of(cls, given: Filtered | None) -> Filters:
        """Return filters given as a mapping: fields of `Filters`, else keys of the metadata.

        A metadata key's value is one value, or a list of which any matches.
        """
        if isinstance(given, Filters):
            return given
        names = {one.name for one in fields(cls)} - {"metadata"}
        known: dict[str, Any] = {}
        metadata = []
        for key, value in (given or {}).items():
            if key in names:
                known[key] = value if key in _SINGLE else listed(value)
            else:
                metadata.append(MetadataFilter(key, listed(value)))
        return cls(**known, metadata=tuple(metadata))

    @property
    def concern_documents(self) -> bool:
        """Whether whole documents are excluded."""
        return any(value is not None for value in self.document_parameters().values())

    @property
    def is_empty(self) -> bool:
        """Whether everything passes."""
        return not (self.concern_documents or self.concern_chunks)

    @property
    def concern_chunks(self) -> bool:
        """Whether parts of documents are excluded."""
        return bool(self.first_page is not None or self.last_page is not None or self.metadata)

    def document_parameters(self) -> dict[str, object]:
        """Return the parameters of the statement `passing_documents`."""
        return {
            "source_types": _lower(self.source_types),
            "tags": list(map(storable, self.tags)) or None,
            "documents": list(map(storable, self.documents)) or None,
            "languages": _lower(self.languages),
            "ingested_from": self.ingested_from,
            "ingested_before": self.ingested_before,
        }


Filtered = Filters | Mapping[str, Any]
"""`Filters`, or a mapping: its fields by name; any other key is one of the chunks' metadata."""


def listed(value: object) -> tuple[Any, ...]:
    """Return one value or several as a tuple; None is none."""
    if value is None:
        return ()
    return tuple(value) if isinstance(value, (list, tuple, set, frozenset)) else (value,)


@dataclass(frozen=True)
class Scope:
    """The chunks a search may find, resolved once for both legs."""

    parameters: Mapping[str, object] = field(
        default_factory=lambda: {
            "source_hashes": None,
            "first_page": None,
            "last_page": None,
            "metadata": None,
        }
    )
    """Parameters of the statements that filter chunks."""
    chunk_ids: list[int] | None = None
    """All that pass, ascending, if they are few; None if `parameters` tell."""
    is_everything: bool = True

    @property
    def is_nothing(self) -> bool:
        """Whether no chunk passes."""
        return self.chunk_ids is not None and not self.chunk_ids


EVERYTHING = Scope()


@dataclass(frozen=True)
class PassingDocument:
    """A row of the statement `passing_documents`."""

    source_hash: str
    chunk_count: int


@dataclass(frozen=True)
class PassingChunk:
    """A row of the statements `passing_chunks` and `passing_visible_chunks`."""

    chunk_id: int
    passes: bool


def resolve(
    connection: Connection[TupleRow], filters: Filters, *, is_restricted: bool = False
) -> Scope:
    """Find the documents that pass and, if they are few, the chunks.

    `is_restricted` says that row-level security applies to the connection.
    """
    if filters.is_empty:
        return EVERYTHING
    source_hashes = None
    at_most = SELECTIVE
    if filters.concern_documents:
        documents = records(
            connection,
            PassingDocument,
            queries.passing_documents,
            prepare=False,
            **filters.document_parameters(),
        )
        source_hashes = [one.source_hash for one in documents]
        at_most = sum(one.chunk_count for one in documents)
        if not source_hashes:
            return Scope(chunk_ids=[], is_everything=False)
    parameters = {
        "source_hashes": source_hashes,
        "first_page": filters.first_page,
        "last_page": filters.last_page,
        "metadata": " && ".join(f"({one.predicate})" for one in filters.metadata) or None,
    }
    if at_most > SELECTIVE and not filters.concern_chunks:
        return Scope(parameters, is_everything=False)
    by_metadata = is_restricted and parameters["metadata"] is not None
    statement = queries.passing_visible_chunks if by_metadata else queries.passing_chunks
    rows = records(
        connection, PassingChunk, statement, prepare=False, **parameters, limit=SELECTIVE + 1
    )
    chunk_ids = sorted(row.chunk_id for row in rows if row.passes)
    few = len(rows) <= SELECTIVE
    return Scope(parameters, chunk_ids if few else None, is_everything=False)


def passing(connection: Connection[TupleRow], scope: Scope, chunk_ids: Iterable[int]) -> set[int]:
    """Return the chunks that exist and are in scope."""
    rows = connection.execute(
        queries.passing_of.sql, {**scope.parameters, "chunk_ids": list(chunk_ids)}, prepare=False
    )
    return {chunk_id for (chunk_id,) in rows}


def _lower(values: Sequence[str]) -> list[str] | None:
    return [storable(value).lower().removeprefix(".") for value in values] or None


def _scalar(text: str) -> Scalar:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
        if math.isfinite(number):  # "nan" and "infinity" are words
            return number
    except ValueError:
        pass
    return {"true": True, "false": False}.get(text, text)


def _forms(value: Scalar) -> list[str]:
    """Return how a value may be written in JSON: `7` may be stored as a number or as text."""
    plain = _json(value)
    return [plain] if isinstance(value, str) else [plain, _json(plain.strip('"'))]


def _json(value: Scalar) -> str:
    """Return a value as SQL/JSON paths write it; NaN and infinities are words."""
    if isinstance(value, float) and not math.isfinite(value):
        value = str(value)
    return json.dumps(storable(value) if isinstance(value, str) else value, ensure_ascii=False)
