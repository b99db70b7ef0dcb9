"""The parser that sends files to Document AI."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from rag_pipeline.errors import NoTextError
from rag_pipeline.parsing.contract import ParsedDocument
from rag_pipeline.parsing.document_ai.convert.replies_to_blocks import CONVERSION_VERSION, to_blocks
from rag_pipeline.parsing.document_ai.service.batch import BatchFetcher
from rag_pipeline.parsing.document_ai.service.cloud_storage import BucketStorage
from rag_pipeline.parsing.document_ai.service.google_clients import (
    create_client,
    create_storage_client,
)
from rag_pipeline.parsing.document_ai.service.online import OnlineFetcher
from rag_pipeline.parsing.document_ai.service.page_fetcher import Fetched
from rag_pipeline.parsing.document_ai.service.process_requests import (
    processing_hash,
    processor_name,
)
from rag_pipeline.parsing.document_ai.service.reply_cache import MemoryReplies, ReplyCache
from rag_pipeline.parsing.document_ai.service.sent_file import SentFile, open_source
from rag_pipeline.parsing.file_limits import check_pages, check_size
from rag_pipeline.parsing.pdf.native.bookmarks import add_level_hints
from rag_pipeline.remote import Limiter, Window
from rag_pipeline.settings import DocumentAiSettings, ParsingSettings
from rag_pipeline.usage import UsageMeter

if TYPE_CHECKING:
    from google.cloud.documentai_v1 import DocumentProcessorServiceClient
    from google.cloud.storage import Client as StorageClient


class DocumentAiParser:
    """Sends PDFs and images to a processor; replies are kept, so that each page is paid for once.

    Cheap to make: the first file loads the libraries and connects. `client` and `storage_client`
    replace those made from the settings. Usage is part of the result; if a document fails, it
    stays in `meter`.

    Raises `SettingsError` if the settings name no processor.
    """

    def __init__(
        self,
        settings: DocumentAiSettings,
        parsing: ParsingSettings | None = None,
        replies: ReplyCache | None = None,
        *,
        meter: UsageMeter | None = None,
        client: DocumentProcessorServiceClient | None = None,
        storage_client: StorageClient | None = None,
    ) -> None:
        processor_name(settings)
        self.settings = settings
        self.meter = meter or UsageMeter()
        self._parsing = parsing or ParsingSettings()
        self._replies = replies or MemoryReplies()
        self._given = client
        self._given_storage = storage_client
        self._lock = threading.Lock()

    @property
    def version(self) -> str:
        """Part of the fingerprint of parsed documents: conversion, processor and options."""
        return f"document_ai-{CONVERSION_VERSION}-{processing_hash(self.settings)[:16]}"

    def parse(self, path: Path, *, document: str | None = None) -> ParsedDocument:
        """Read all pages of a PDF or an image.

        Raises `NoTextError` if no page has text, and the errors of `parse_pages`.
        """
        parsed = self.parse_pages(path, document=document)
        if not parsed.blocks["text"].str.strip().any():
            error = NoTextError(
                f"Document AI found no text on its {parsed.page_count} pages",
                document=document or Path(path).name,
                hint="is it blank, or a picture?",
            )
            for usage in parsed.usage:
                self.meter.add(usage)
            raise error
        return parsed

    def parse_pages(
        self, path: Path, pages: Sequence[int] | None = None, *, document: str | None = None
    ) -> ParsedDocument:
        """Read some pages of a PDF or an image, by default all; blocks keep its page numbers.

        Raises `ParserServiceError` if a part is still missing after all retries, `ProviderError`
        if every request is refused, and `ParseError` or a subclass for an unreadable file.
        """
        path = Path(path)
        name = document or path.name
        check_size(path, self._parsing, name)
        with open_source(path, name) as source:
            check_pages(source.page_count, self._parsing, name)
            wanted = list(pages) if pages is not None else list(range(1, source.page_count + 1))
            fetched = self._fetch(source, wanted)
            blocks, language = to_blocks(fetched.documents, source.page_sizes)
            warnings = list(fetched.warnings)
            if (
                source.outline
                and not self._parsing.ignore_outline
                and blocks["level_hint"].isna().all()
            ):
                least = self._parsing.outline_min_agreement
                blocks, share = add_level_hints(blocks, source.outline, least)
                if pages is None and share < least:
                    warnings.append(
                        f"bookmarks ignored: {share:.0%} of their titles stand in the text"
                    )
            return ParsedDocument(
                blocks, source.page_count, source.title, language, warnings, self.meter.take()
            )

    def _fetch(self, source: SentFile, pages: Sequence[int]) -> Fetched:
        mode = self.settings.mode
        large = len(pages) >= self.settings.batch_min_pages and source.is_pdf
        if mode == "batch" or (mode == "auto" and self.settings.bucket and large):
            return self._batch.fetch(source, pages)
        return self._online.fetch(source, pages)

    @cached_property
    def _limiter(self) -> Limiter:
        return Limiter(
            self.settings.max_concurrent_requests,
            requests=Window(self.settings.requests_per_minute),
        )

    @cached_property
    def _online(self) -> OnlineFetcher:
        return OnlineFetcher(self.settings, self._client, self._replies, self.meter, self._limiter)

    @cached_property
    def _batch(self) -> BatchFetcher:
        storage = BucketStorage(self.settings.bucket or "", self._storage_client)
        return BatchFetcher(
            self.settings, self._client, self._replies, self.meter, self._limiter, storage
        )

    def _client(self) -> DocumentProcessorServiceClient:
        with self._lock:
            if self._given is None:
                self._given = create_client(self.settings)
            return self._given

    def _storage_client(self) -> StorageClient:
        with self._lock:
            if self._given_storage is None:
                self._given_storage = create_storage_client(self.settings)
            return self._given_storage


def choice_version(settings: DocumentAiSettings) -> str:
    """Part of the fingerprint if pages are chosen: the settings that choose them."""
    text = f"{settings.auto_score}/{settings.auto_document_share}"
    return hashlib.sha256(text.encode()).hexdigest()[:8]
