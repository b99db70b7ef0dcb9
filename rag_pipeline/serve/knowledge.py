"""The knowledge base as one reader may see it: results, answers, outlines, sections, sources.

Everything goes through one `RagSystem`, whose connections show only that reader's rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from psycopg import Connection
from psycopg.rows import TupleRow

from rag_pipeline.answering import Answer, AnswerStream, Turn
from rag_pipeline.search.marking import Marker
from rag_pipeline.serve import reply_models as replies
from rag_pipeline.serve.outlines import (
    ChunkTrail,
    chunks_under,
    outline_entries,
    outline_of_trails,
)
from rag_pipeline.serve.problems import ProblemError
from rag_pipeline.serve.request_models import AskRequest, SearchBody, SourcesQuery
from rag_pipeline.serve.unmet_filters import unmet_filters
from rag_pipeline.settings import Settings
from rag_pipeline.store.artifacts import ArtifactStore
from rag_pipeline.store.documents import DocumentRow, list_documents
from rag_pipeline.store.named_queries import queries, records
from rag_pipeline.store.source_tables import list_roots
from rag_pipeline.structure import headings_of
from rag_pipeline.sync.planning.fingerprints import STRUCTURE
from rag_pipeline.sync.planning.refresh import current_plan
from rag_pipeline.system import RagSystem
from rag_pipeline.text import TRAIL_SEPARATOR

SECTION_CHARACTERS = 20_000
"""Maximum characters of a section in one reply; the reply says where to continue."""


@dataclass(frozen=True)
class StoredDocument:
    """A document in the store, as visible to a reader."""

    source_hash: str
    uris: list[str]
    roots: list[str]
    tags: list[str]
    title: str | None
    page_count: int | None
    language: str | None
    status: str
    chunk_count: int
    fingerprints: dict[str, str]

    @property
    def name(self) -> str:
        """The file's name."""
        return PurePath(self.uris[0]).name

    @property
    def is_pdf(self) -> bool:
        """Whether its pages can probably be rendered; only opening the file can tell."""
        return any(uri.lower().endswith(".pdf") for uri in self.uris)


class Knowledge:
    """A reader's knowledge base. Safe to share between threads."""

    def __init__(self, system: RagSystem) -> None:
        self.system = system

    @property
    def sees_everything(self) -> bool:
        """Whether no row is hidden, as for the operator or with security switched off."""
        return self.system.database.principals is None

    @property
    def settings(self) -> Settings:
        """The project's settings."""
        return self.system.settings

    def search(self, request: SearchBody) -> replies.SearchReply:
        """Search. Raises what the search raises."""
        response = self.system.searcher.search(request.as_search())
        reply = replies.SearchReply.model_validate(
            {
                **vars(response),
                "is_found": response.is_found,
                "corrections": [one for one in response.corrections if one.is_shown],
            }
        )
        if not reply.results:
            with self.system.database.connection() as connection:
                reply.notes += unmet_filters(connection, request.filters)
        marker = self.marker(
            request.query, [one.found for one in response.corrections if one.is_shown]
        )
        for result in reply.results:
            result.marks = marker.spans(result.content)
        return reply

    def marker(self, query: str, corrections: list[str] | None = None) -> Marker:
        """Return a marker for the words of a query."""
        with self.system.database.connection() as connection:
            languages = [language for (language,) in queries.corpus_languages(connection)]
        return Marker(query, languages, corrections or [])

    def ask(self, request: AskRequest) -> replies.AnswerReply:
        """Answer a question. Raises `ProviderError` and `ChatError`."""
        answer = self.system.ask(
            request.question, filters=request.filters.as_filters(), history=_history(request)
        )
        return self._answer_reply(answer)

    def stream(self, request: AskRequest) -> Iterator[str | replies.AnswerReply]:
        """Yield an answer piece by piece, and the whole answer last."""
        stream: AnswerStream
        with self.system.stream(
            request.question, filters=request.filters.as_filters(), history=_history(request)
        ) as stream:
            yield from stream
            yield self._answer_reply(stream.answer)

    def find(self, wanted: str) -> StoredDocument:
        """Return the document with a name, a path, a hash or a prefix of one (8 digits).

        Raises `ProblemError`: 404 if there is none, 409 if there are several.
        """
        with self.system.database.connection() as connection:
            found = records(connection, StoredDocument, queries.find_documents, wanted=wanted)
        if not found:
            raise ProblemError(404, "no such document", "see the sources for names and hashes")
        if len(found) > 1:
            hashes = ", ".join(one.source_hash[:12] for one in found)
            raise ProblemError(409, "several documents have this name", f"choose one: {hashes}")
        return found[0]

    def outline(self, wanted: str) -> replies.OutlineReply:
        """Return the headings of a document, from its structure or else from its chunks."""
        document = self.find(wanted)
        return replies.OutlineReply(
            document=document.name,
            source_hash=document.source_hash,
            title=document.title,
            pages=document.page_count,
            language=document.language,
            has_page_images=document.is_pdf,
            headings=self._headings(document),
        )

    def read_section(
        self, wanted: str, section: str | None = None, chunk_id: int | None = None
    ) -> replies.SectionReply:
        """Return the chunks of a section, named by trail or heading, or from a chunk onwards.

        Without either, the document from its beginning. Raises `ProblemError`.
        """
        document = self.find(wanted)
        with self.system.database.connection() as connection:
            trails = _trails(connection, document)
            first: int | None = 0
            if chunk_id:
                first = queries.locate_chunk(
                    connection, source_hash=document.source_hash, chunk_id=chunk_id
                )
            indexes = chunks_under(trails, section) if section else [o.chunk_index for o in trails]
            if section and not indexes:
                saying = queries.chunks_saying(
                    connection,
                    source_hash=document.source_hash,
                    words=section.split(TRAIL_SEPARATOR)[-1],
                )
                indexes = [index for (index,) in saying]
        if first is None:
            raise ProblemError(404, "the document has no such chunk", "search for one")
        indexes = [index for index in indexes if index >= first]
        if not indexes:
            raise ProblemError(404, "the document has no such section", "see its outline")
        return self._section(document, indexes, section or document.title or document.name)

    def sources(self, request: SourcesQuery) -> replies.SourcesReply:
        """Return the documents with their status, including failures."""
        with self.system.database.connection() as connection:
            rows = list_documents(connection)
            tags = dict(queries.document_tags(connection))
            folders = [root.root for root in list_roots(connection)]
        counts = Counter(row.status for row in rows)
        part = (request.name or "").lower()
        passing = [
            row
            for row in rows
            if (request.status is None or row.status == request.status)
            and (not part or any(part in PurePath(uri).name.lower() for uri in row.uris))
        ]
        shown = passing[request.offset : request.offset + request.limit]
        return replies.SourcesReply(
            counts=replies.DocumentCounts(
                documents=len(rows),
                ready=counts["ready"],
                failed=counts["failed"],
                pending=counts["pending"],
                pages=sum(row.page_count or 0 for row in rows),
                chunks=sum(row.chunk_count for row in rows),
            ),
            waiting=self._waiting(),
            folders=folders if self.sees_everything else [],
            languages=sorted({row.language for row in rows if row.language}),
            tags=sorted({tag for row in rows for tag in tags.get(row.source_hash, ())}),
            total=len(passing),
            documents=[_document_reply(row, tags.get(row.source_hash, [])) for row in shown],
        )

    def _waiting(self) -> int | None:
        if not self.sees_everything:
            return None
        return len(current_plan(self.settings, self.system.database).stale)

    def _answer_reply(self, answer: Answer) -> replies.AnswerReply:
        return replies.AnswerReply.model_validate(
            {
                **vars(answer),
                "citations": [{**vars(one), "page": one.page} for one in answer.citations],
                "quotes": [
                    {"text": one.text, "score": float(one.score), "number": one.citation.number}
                    for one in answer.quotes
                ],
            }
        )

    def _headings(self, document: StoredDocument) -> list[replies.OutlineEntry]:
        fingerprint = document.fingerprints.get(STRUCTURE)
        if fingerprint:
            artifacts = ArtifactStore(self.settings.artifacts_location)
            kept = artifacts.read(STRUCTURE, document.source_hash, fingerprint)
            if kept is not None:
                return list(outline_entries(headings_of(kept[0])))
        with self.system.database.connection() as connection:
            return outline_of_trails(_trails(connection, document))

    def _section(
        self, document: StoredDocument, indexes: list[int], trail: str
    ) -> replies.SectionReply:
        chunks: list[replies.ChunkReply] = []
        size = 0
        following = None
        for one in self._chunks(document, indexes):
            size += len(one.content)
            if chunks and size > SECTION_CHARACTERS:
                following = one.chunk_id
                break
            chunks.append(one)
        return replies.SectionReply(
            document=document.name,
            source_hash=document.source_hash,
            breadcrumb_trail=trail,
            page_start=min(one.page_start for one in chunks),
            page_end=max(one.page_end for one in chunks),
            chunks=chunks,
            next_chunk_id=following,
        )

    def _chunks(self, document: StoredDocument, indexes: list[int]) -> list[replies.ChunkReply]:
        wanted = set(indexes)
        with self.system.database.connection() as connection:
            chunks = records(
                connection,
                replies.ChunkReply,
                queries.read_chunks,
                source_hash=document.source_hash,
                first=min(indexes),
                last=max(indexes),
            )
        return [chunk for chunk in chunks if chunk.chunk_index in wanted]


def _trails(connection: Connection[TupleRow], document: StoredDocument) -> list[ChunkTrail]:
    return records(connection, ChunkTrail, queries.list_trails, source_hash=document.source_hash)


def _history(request: AskRequest) -> list[Turn]:
    return [(turn.role, turn.content) for turn in request.history]


def _document_reply(row: DocumentRow, tags: list[str]) -> replies.DocumentReply:
    return replies.DocumentReply(
        document=PurePath(row.uris[0]).name,
        source_hash=row.source_hash,
        uris=row.uris,
        title=row.title,
        pages=row.page_count,
        language=row.language,
        status=row.status,
        chunks=row.chunk_count,
        tags=tags,
        warnings=row.warnings,
        failure=row.failure_reason,
        failure_stage=row.failure_stage,
        tries=row.failure_count,
        updated_at=row.updated_at,
    )
