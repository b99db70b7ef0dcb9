"""Pages of a file → checked replies, by online requests, several at once; no page is paid twice."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag_pipeline.errors import ParseError
from rag_pipeline.parsing.document_ai.service.page_fetcher import (
    Fetched,
    PageFetcher,
    incomplete_reply,
)
from rag_pipeline.parsing.document_ai.service.page_ranges import (
    PAGES_ONLINE,
    PageRange,
    describe_pages,
    halves,
    split_pages,
)
from rag_pipeline.parsing.document_ai.service.process_requests import (
    process_request,
    processing_hash,
)
from rag_pipeline.parsing.document_ai.service.reply_cache import pack, reply_key, unpack
from rag_pipeline.parsing.document_ai.service.reply_checks import (
    check_reply,
    pages_without_text,
    renumber,
)
from rag_pipeline.parsing.document_ai.service.sent_file import SentFile
from rag_pipeline.remote import RefusedFault

if TYPE_CHECKING:
    from google.cloud.documentai_v1 import ProcessRequest

MEGABYTE = 1_000_000
HINT = "the next sync asks for these pages again"


@dataclass
class OnlineFetcher(PageFetcher):
    """Requests page ranges."""

    def fetch(self, source: SentFile, pages: Sequence[int]) -> Fetched:
        """Replies for all the pages, from the store or the service.

        Raises the first error of `_call` (except `RefusedFault`) or of the checks; parts answered
        by then are stored.
        """
        ranges = split_pages(
            pages, self.settings.pages_per_request if source.is_pdf else PAGES_ONLINE
        )
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
        if empty := self._check(source, document, pages, HINT):
            self._ask_again(source, empty, found)
        self.replies.put(key, pack(document))
        return [document]

    def _ask(self, source: SentFile, pages: PageRange) -> Any:
        """The service's reply with the source's page numbers, as the library's raw message."""
        request, is_split = self._request(source, pages)
        response = self._call(
            lambda client, seconds: client.process_document(
                request=request, retry=None, timeout=seconds
            ),
            source.name,
        )
        document = type(response).pb(response).document
        # Failed requests are free; an answered one is billed even if its checks fail.
        self._count_pages(len(pages))
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

    def _ask_again(self, source: SentFile, empty: list[int], found: Fetched) -> None:
        """Request pages once more that are not blank but came back empty.

        They may be photographs: a page that comes back empty twice is taken to have no text.
        """
        again = tuple(empty)
        document = self._ask(source, again)
        check_reply(document, again, source.name, is_layout=self._is_layout)
        if pages_without_text(document, again) != empty:
            raise incomplete_reply(empty, source.name, HINT)
        found.warnings.append(
            f"document_ai: page {describe_pages(empty)} shows something, but has no text"
            " (asked twice)"
        )
