"""Pages of a file → checked replies, by online requests, several at once; no page is paid twice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rag_pipeline.errors import ParseError, ParserServiceError
from rag_pipeline.parsing.document_ai.service.page_ranges import (
    PageRange,
    describe_pages,
    halves,
    split_pages,
)
from rag_pipeline.parsing.document_ai.service.process_call import call
from rag_pipeline.parsing.document_ai.service.process_requests import (
    add_ons,
    process_request,
    processing_hash,
)
from rag_pipeline.parsing.document_ai.service.reply_cache import ReplyCache, pack, reply_key, unpack
from rag_pipeline.parsing.document_ai.service.reply_checks import (
    check_reply,
    pages_without_text,
    renumber,
)
from rag_pipeline.parsing.document_ai.service.sent_file import SentFile
from rag_pipeline.remote import Limiter, RefusedFault
from rag_pipeline.settings import DocumentAiSettings
from rag_pipeline.usage import Usage, UsageMeter

if TYPE_CHECKING:
    from google.cloud.documentai_v1 import DocumentProcessorServiceClient, ProcessRequest

MEGABYTE = 1_000_000


@dataclass
class Fetched:
    """Replies of a document, and warnings for its readers."""

    documents: list[Any] = field(default_factory=list)
    """`Document` messages with the source's page numbers, in page order."""
    warnings: list[str] = field(default_factory=list)


def count_pages(meter: UsageMeter, settings: DocumentAiSettings, pages: int) -> None:
    """Count one answered request, and the paid add-ons of its pages."""
    meter.add(Usage("document_ai", settings.processor_type, "parse", requests=1, pages=pages))
    if extra := add_ons(settings):
        meter.add(Usage("document_ai", "ocr_add_on", "parse", pages=extra * pages))


@dataclass
class OnlineFetcher:
    """Requests page ranges. `client` connects when it is first needed."""

    settings: DocumentAiSettings
    client: Callable[[], DocumentProcessorServiceClient]
    replies: ReplyCache
    meter: UsageMeter
    limiter: Limiter

    @property
    def _is_layout(self) -> bool:
        return self.settings.processor_type == "layout_parser"

    def fetch(self, source: SentFile, pages: Sequence[int]) -> Fetched:
        """Replies for all the pages, from the store or the service.

        Raises the first error of `call` (except `RefusedFault`) or of the checks; parts answered
        by then are stored.
        """
        ranges = split_pages(pages, self.settings.pages_per_request if source.is_pdf else 15)
        found = Fetched()
        failed = threading.Event()

        def fetch(part: PageRange) -> list[Any]:
            if failed.is_set():
                return []  # the document fails anyway: start nothing more
            try:
                return self._fetch(source, part, found)
            except BaseException:
                failed.set()
                raise

        if len(ranges) == 1:
            parts = [fetch(ranges[0])]
        else:
            with ThreadPoolExecutor(self.settings.max_concurrent_requests) as pool:
                futures = [pool.submit(fetch, part) for part in ranges]
                # Requests that run when one fails are paid for, so they are stored.
                wait(futures)
                parts = [future.result() for future in futures]
        found.documents = [document for part in parts for document in part]
        found.warnings.sort()
        return found

    def _fetch(self, source: SentFile, pages: PageRange, found: Fetched) -> list[Any]:
        key = reply_key(source.source_hash, processing_hash(self.settings), pages)
        if (stored := self.replies.get(key)) is not None:
            return [unpack(stored)]
        try:
            document = self._ask(source, pages)
        except RefusedFault as error:
            if len(pages) == 1:
                raise ParseError(
                    f"the page is too large for Document AI ({error})",
                    document=source.name,
                    page=pages[0],
                    hint="reduce the resolution of its images",
                ) from error
            first, second = halves(pages)
            return self._fetch(source, first, found) + self._fetch(source, second, found)
        check_reply(document, pages, source.name, is_layout=self._is_layout)
        self._check_ink(source, document, pages, found)
        self.replies.put(key, pack(document))
        return [document]

    def _ask(self, source: SentFile, pages: PageRange) -> Any:
        """The service's reply with the source's page numbers, as the library's raw message."""
        request, is_split = self._request(source, pages)
        response = call(
            lambda seconds: self.client().process_document(
                request=request, retry=None, timeout=seconds
            ),
            document=source.name,
            timeout=self.settings.timeout_seconds,
            limiter=self.limiter,
        )
        document = type(response).pb(response).document
        # Failed requests are free; an answered one is billed even if its checks fail.
        count_pages(self.meter, self.settings, len(pages))
        if is_split:
            renumber(document, pages, source.name)
        return document

    def _request(self, source: SentFile, pages: PageRange) -> tuple[ProcessRequest, bool]:
        """The request, and whether it sends a file of only these pages.

        Raises `RefusedFault` if that file is over the limit.
        """
        limit = self.settings.max_request_megabytes * MEGABYTE
        is_whole = len(pages) == source.page_count
        select = self.settings.page_ranges == "select"
        if self._is_layout:
            select = False  # its limit of 15 pages applies to the file, not to the selection
        content = source.content
        if len(content) <= limit and (is_whole or select or not source.is_pdf):
            selected = None if is_whole else pages
            return process_request(self.settings, content, source.mime_type, selected), False
        if source.is_pdf:
            content = source.with_pages(pages)
        if len(content) > limit:
            raise RefusedFault(
                f"{len(content) / MEGABYTE:.1f} MB, limit {limit / MEGABYTE:g} MB", too_long=True
            )
        return process_request(self.settings, content, source.mime_type, None), True

    def _check_ink(self, source: SentFile, document: Any, pages: PageRange, found: Fetched) -> None:
        """Request once more the pages that are not blank but came back empty.

        They may be photographs: a page that comes back empty twice is taken to have no text.
        """
        hint = "the next sync asks for these pages again"
        empty = unread_pages(source, document, pages, hint)
        if not empty or not source.is_pdf:
            return
        again = tuple(empty)
        second = self._ask(source, again)
        check_reply(second, again, source.name, is_layout=self._is_layout)
        if pages_without_text(second, again) != empty:
            raise _not_whole(empty, source.name, hint)
        found.warnings.append(
            f"document_ai: page {describe_pages(empty)} shows something, but has no text"
            " (asked twice)"
        )


def unread_pages(source: SentFile, document: Any, pages: PageRange, hint: str) -> list[int]:
    """Pages that are not blank, but have no text in the reply.

    Raises `ParserServiceError` if a PDF's own text on one of them proves the reply wrong.
    """
    empty = [page for page in pages_without_text(document, pages) if source.has_ink(page)]
    if proven := [page for page in empty if source.has_text_layer(page)]:
        raise _not_whole(proven, source.name, hint)
    return empty


def _not_whole(pages: list[int], name: str, hint: str) -> ParserServiceError:
    return ParserServiceError(
        f"Document AI's reply is not whole: page {describe_pages(pages)} has text to be seen, but"
        " none in the reply",
        document=name,
        hint=hint,
    )
