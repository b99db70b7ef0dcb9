"""What online requests and batch jobs share: calls, usage, and checks of replies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from rag_pipeline.errors import ParserServiceError, ProviderError
from rag_pipeline.parsing.document_ai.service.page_ranges import PageRange, describe_pages
from rag_pipeline.parsing.document_ai.service.process_faults import CREDENTIALS_HINT, meaning_of
from rag_pipeline.parsing.document_ai.service.process_requests import add_ons
from rag_pipeline.parsing.document_ai.service.reply_cache import ReplyCache
from rag_pipeline.parsing.document_ai.service.reply_checks import check_reply, pages_without_text
from rag_pipeline.parsing.document_ai.service.sent_file import SentFile
from rag_pipeline.remote import GaveUpFault, GrpcFault, Limiter, Patience, send_with_retries
from rag_pipeline.settings import DocumentAiSettings
from rag_pipeline.usage import Usage, UsageMeter

if TYPE_CHECKING:
    from google.cloud.documentai_v1 import DocumentProcessorServiceClient

Response = TypeVar("Response")
MIN_ATTEMPT = 60.0
"""Seconds; an attempt that hangs may take half of the time left, but at least this much."""


@dataclass
class Fetched:
    """Replies of a document, and warnings for its readers."""

    documents: list[Any] = field(default_factory=list)
    """`Document` messages with the source's page numbers, in page order."""
    warnings: list[str] = field(default_factory=list)


@dataclass
class PageFetcher:
    """Gets pages from the service. `client` connects when it is first needed."""

    settings: DocumentAiSettings
    client: Callable[[], DocumentProcessorServiceClient]
    replies: ReplyCache
    meter: UsageMeter
    limiter: Limiter

    @property
    def _is_layout(self) -> bool:
        return self.settings.processor_type == "layout_parser"

    def _call(
        self, send: Callable[[DocumentProcessorServiceClient, float], Response], document: str
    ) -> Response:
        """Send a request until it is answered; `send` gets the seconds that an attempt may take.

        `timeout_seconds` are the deadline of all attempts and waits together. Raises
        `ParserServiceError` at the deadline, `RefusedFault` if smaller parts may pass,
        `ProviderError` if every document would be refused, and `ParseError` if only this one is.
        """
        from google.api_core.exceptions import GoogleAPICallError
        from google.auth.exceptions import GoogleAuthError

        def attempt(left: float) -> Response:
            try:
                return send(self.client(), min(left, max(left / 2, MIN_ATTEMPT)))
            except GoogleAPICallError as error:
                raise meaning_of(GrpcFault(error), document) from error
            except GoogleAuthError as error:
                raise ProviderError(
                    f"Document AI: the credentials do not work ({error})", hint=CREDENTIALS_HINT
                ) from error

        timeout = self.settings.timeout_seconds
        try:
            return send_with_retries(attempt, Patience(timeout), limiter=self.limiter)
        except GaveUpFault as fault:
            raise ParserServiceError(
                f"Document AI gave no answer within {timeout:g} s"
                f" ({fault.failures} attempts; last {fault.last})",
                document=document,
                hint="the next sync asks again, for the missing pages only; raise"
                " document_ai.timeout_seconds, or lower document_ai.requests_per_minute",
            ) from fault.last

    def _count_pages(self, pages: int) -> None:
        """Count one answered request, and the paid add-ons of its pages."""
        kind = self.settings.processor_type
        self.meter.add(Usage("document_ai", kind, "parse", requests=1, pages=pages))
        if extra := add_ons(self.settings):
            self.meter.add(Usage("document_ai", "ocr_add_on", "parse", pages=extra * pages))

    def _check(self, source: SentFile, document: Any, pages: PageRange, hint: str) -> list[int]:
        """Check a reply; return the pages that are not blank, but have no text in it.

        Raises as `check_reply` does, and `ParserServiceError` with the `hint` if a PDF's own text
        on one of these pages proves the reply wrong.
        """
        check_reply(document, pages, source.name, is_layout=self._is_layout)
        empty = [page for page in pages_without_text(document, pages) if source.has_ink(page)]
        if proven := [page for page in empty if source.has_text_layer(page)]:
            raise incomplete_reply(proven, source.name, hint)
        return empty if source.is_pdf else []


def incomplete_reply(pages: list[int], name: str, hint: str) -> ParserServiceError:
    """The error for a reply without the text of some pages."""
    return ParserServiceError(
        f"Document AI's reply is not whole: page {describe_pages(pages)} has text to be seen, but"
        " none in the reply",
        document=name,
        hint=hint,
    )
