"""Pages of a file → checked replies, by batch jobs through Cloud Storage."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag_pipeline.errors import ParseError, ParserServiceError, ProviderError
from rag_pipeline.parsing.document_ai.service.cloud_storage import BucketStorage
from rag_pipeline.parsing.document_ai.service.page_fetcher import Fetched, PageFetcher
from rag_pipeline.parsing.document_ai.service.page_ranges import (
    PAGES_BATCH,
    PageRange,
    describe_pages,
    split_pages,
)
from rag_pipeline.parsing.document_ai.service.process_requests import batch_request, processing_hash
from rag_pipeline.parsing.document_ai.service.reply_cache import (
    job_key,
    pack,
    reply_key,
    unpack,
)
from rag_pipeline.parsing.document_ai.service.reply_checks import renumber
from rag_pipeline.parsing.document_ai.service.sent_file import SentFile
from rag_pipeline.parsing.document_ai.service.shards import merge_shards, read_shard
from rag_pipeline.remote import RefusedFault, grpc_code

if TYPE_CHECKING:
    pass

FIRST_POLL = 2.0
LONGEST_POLL = 60.0
"""Seconds between two polls of a job; the wait doubles from the first to the longest."""


@dataclass
class BatchFetcher(PageFetcher):
    """Runs one job for each range of pages. A job that was started is resumed, not repeated."""

    storage: BucketStorage

    def fetch(self, source: SentFile, pages: Sequence[int]) -> Fetched:
        """Replies for all the pages, from the store or from jobs.

        Raises `ParserServiceError` if a job fails, takes too long, or its files are incomplete;
        `ProviderError` and `ParseError` as online requests do.
        """
        size = PAGES_BATCH[self.settings.processor_type] if source.is_pdf else source.page_count
        found = Fetched()
        for part in split_pages(pages, size):
            found.documents.append(self._fetch(source, part, found))
        return found

    def _fetch(self, source: SentFile, pages: PageRange, found: Fetched) -> Any:
        processing = processing_hash(self.settings)
        key = reply_key(source.source_hash, processing, pages)
        if (stored := self.replies.get(key)) is not None:
            return unpack(stored)
        note = job_key(source.source_hash, processing, pages)
        folder = note.removesuffix(".job")
        operation = self._known_job(note) or self._start(source, pages, folder, note)
        self._wait(operation, source.name, note)
        files = self.storage.read_all(f"{folder}/output")
        try:
            document = self._joined(source, pages, files)
            empty = self._check(source, document, pages, "the next sync starts the job again")
        except ParserServiceError:
            self._forget(note)
            raise
        if empty:
            found.warnings.append(
                f"document_ai: page {describe_pages(empty)} shows something, but has no text"
            )
        self.replies.put(key, pack(document))
        self.storage.remove_all(folder)
        return document

    def _forget(self, note: str) -> None:
        """Let the next sync start another job; after transient faults, the job is kept."""
        self.replies.put(note, b"")

    def _known_job(self, note: str) -> Any | None:
        """The job that an earlier run started, unless it is unknown by now or has failed."""
        name = (self.replies.get(note) or b"").decode()
        if not name:
            return None
        try:
            operation = self._operation(name, name)
        except (ProviderError, ParseError) as error:
            if grpc_code(error.__cause__) not in ("NOT_FOUND", "INVALID_ARGUMENT"):
                raise
            return None
        return None if operation.HasField("error") else operation

    def _start(self, source: SentFile, pages: PageRange, folder: str, note: str) -> Any:
        is_whole = len(pages) == source.page_count
        content = source.content if is_whole else source.with_pages(pages)
        self.storage.remove_all(folder)
        self.storage.write(f"{folder}/input", content, source.mime_type)
        request = batch_request(
            self.settings,
            self.storage.uri(f"{folder}/input"),
            source.mime_type,
            self.storage.uri(f"{folder}/output/"),
        )
        try:
            started = self._call(
                lambda client, seconds: client.batch_process_documents(
                    request=request, retry=None, timeout=seconds
                ),
                source.name,
            )
        except RefusedFault as error:
            raise ParseError(
                f"the document is too large for a batch job ({error})", document=source.name
            ) from error
        self.replies.put(note, started.operation.name.encode())
        self._count_pages(len(pages))
        return started.operation

    def _operation(self, name: str, document: str) -> Any:
        """The current state of a job."""
        return self._call(
            lambda client, seconds: client.get_operation(
                {"name": name}, retry=None, timeout=seconds
            ),
            document,
        )

    def _wait(self, operation: Any, document: str, note: str) -> None:
        """Wait until the job is done. Raises `ParserServiceError` if it fails or takes too long."""
        deadline = time.monotonic() + 60 * self.settings.batch_timeout_minutes
        pause = FIRST_POLL
        while not operation.done:
            if time.monotonic() + pause > deadline:
                raise ParserServiceError(
                    "Document AI's batch job is not done after"
                    f" {self.settings.batch_timeout_minutes:g} minutes",
                    document=document,
                    hint="the next sync looks for its result; nothing is paid twice",
                )
            time.sleep(pause)
            pause = min(LONGEST_POLL, 2 * pause)
            operation = self._operation(operation.name, document)
        if operation.HasField("error"):
            self._forget(note)
            raise ParserServiceError(
                f"Document AI's batch job failed ({operation.error.message})",
                document=document,
                hint="is the file a whole PDF without a password, and may the service's agent"
                " read and write the bucket?",
            )

    def _joined(self, source: SentFile, pages: PageRange, files: dict[str, bytes]) -> Any:
        """The document that the job wrote, joined, with the source's page numbers."""
        shards = []
        for name, content in files.items():
            if name.endswith(".json"):
                try:
                    shards.append(read_shard(content))
                except ValueError as error:
                    raise ParserServiceError(
                        f"a file of Document AI's batch job is cut ({name}: {error})",
                        document=source.name,
                        hint="the next sync starts the job again",
                    ) from error
        if not shards:
            raise ParserServiceError("Document AI's batch job wrote nothing", document=source.name)
        document = merge_shards(shards, source.name)
        if len(pages) != source.page_count:
            renumber(document, pages, source.name)
        return document
