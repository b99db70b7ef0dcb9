"""Pages of a file → checked replies, by online requests; several at once, each page paid once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

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

MEGABYTE = 1_000_000


@dataclass
class Fetched:
    """Replies of a document, and what its readers should know."""

    documents: list[Any] = field(default_factory=list)
    """`Document` messages with the source's page numbers, in order of pages."""
    warnings: list[str] = field(default_factory=list)


def count_pages(meter: UsageMeter, settings: DocumentAiSettings, pages: int) -> None:
    """Count one answered request, and the paid add-ons of its pages."""
    meter.add(Usage("document_ai", settings.processor_type, "parse", requests=1, pages=pages))
    if extra := add_ons(settings):
        meter.add(Usage("document_ai", "ocr_add_on", "parse", pages=extra * pages))


@dataclass
class OnlineFetcher:
    """Asks for page ranges. `client` gives the connection when it is first needed."""

    settings: DocumentAiSettings
    client: Callable[[], Any]
    replies: ReplyCache
    meter: UsageMeter
    limiter: Limiter

    @property
    def _is_layout(self) -> bool:
        return self.settings.processor_type == "layout_parser"

    def fetch(self, source: SentFile, pages: Sequence[int]) -> Fetched:
        """Replies for all the pages, from the store or the service.

        Raises the first error met; parts that were answered up to then are stored. Errors are
        those of `call` (but `RefusedFault`) and of the checks.
        """
        ranges = split_pages(pages, self.settings.pages_per_request if source.is_pdf else 15)
        found = Fetched()
        failed = threading.Event()

        def fetch(part: PageRange) -> list[Any]:
            if failed.is_set():
                return []  # the document fails anyway: nothing more is begun
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
                # What runs when one fails is paid for, and goes to the store.
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
        """The service's reply, with the source's page numbers, as the library's raw message."""
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
        # Failed requests are free; this one was answered, whatever the answer is worth.
        count_pages(self.meter, self.settings, len(pages))
        if is_split:
            renumber(document, pages, source.name)
        return document

    def _request(self, source: SentFile, pages: PageRange) -> tuple[Any, bool]:
        """The request, and whether it sends a file of just these pages.

        Raises `RefusedFault` where that file is above the limit.
        """
        limit = self.settings.max_request_megabytes * MEGABYTE
        is_whole = len(pages) == source.page_count
        select = self.settings.page_ranges == "select"
        if self._is_layout:
            select = False  # its limit of 15 pages is the file's, whatever pages are selected
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
        """A page that shows something and came back empty is asked for once more.

        A PDF's own text on it proves the reply wrong. Without, it may be a photograph: what comes
        back empty twice is taken to have no text.
        """
        empty = [page for page in pages_without_text(document, pages) if source.has_ink(page)]
        proven = [page for page in empty if source.has_text_layer(page)]
        if proven:
            raise _empty_pages(proven, source.name)
        if not empty or not source.is_pdf:
            return
        again = tuple(empty)
        second = self._ask(source, again)
        check_reply(second, again, source.name, is_layout=self._is_layout)
        if pages_without_text(second, again) != empty:
            raise _empty_pages(empty, source.name)
        found.warnings.append(
            f"document_ai: page {describe_pages(empty)} shows something, but has no text"
            " (asked twice)"
        )


def _empty_pages(pages: list[int], name: str) -> ParserServiceError:
    return ParserServiceError(
        f"Document AI's reply is not whole: page {describe_pages(pages)} has text to be seen, but"
        " none in the reply",
        document=name,
        hint="the next sync asks for these pages again",
    )
